// The label solvers of entropy clustering on predictions softmax(DEVIATION * normal): label_benchmark N K LAMBDA
// DEVIATION THREADS. Prints, as JSON, what each took and how far its labels were from the optimum (the largest
// difference of a label); fails when the dual solver does not prove its own.

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "coterie/base/random.hpp"
#include "coterie/base/run.hpp"
#include "coterie/entropy/label_solver.hpp"

using coterie::Index;
using coterie::LabelSolver;

namespace {

coterie::Matrix<double> predictions(Index n, Index k, double deviation) {
    coterie::RandomStream random(0, "benchmark.predictions");
    coterie::Matrix<double> out(n, k);
    for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < k; ++c) out(i, c) = deviation * random.normal();
        out.row(i) = (out.row(i).array() - out.row(i).maxCoeff()).exp();
        out.row(i) /= out.row(i).sum();
    }
    return out;
}

// Seconds a round: of 100 rounds less one of 1, the fastest of five.
template <class T>
double round_seconds(const coterie::Matrix<T>& sigma, coterie::LabelSettings settings, int threads) {
    double fastest = 1e300;
    for (int repeat = 0; repeat < 5; ++repeat) {
        double seconds[2];
        for (const int many : {0, 1}) {
            settings.rounds = many ? 101 : 1;
            const coterie::Stopwatch watch;
            coterie::solve_labels(sigma, settings, threads);
            seconds[many] = watch.seconds();
        }
        fastest = std::min(fastest, (seconds[1] - seconds[0]) / 100);
    }
    return fastest;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "usage: label_benchmark N K LAMBDA DEVIATION THREADS\n");
        return 2;
    }
    const Index n = std::atol(argv[1]);
    const Index k = std::atol(argv[2]);
    const int threads = std::atoi(argv[5]);
    const coterie::Matrix<double> sigma = predictions(n, k, std::atof(argv[4]));
    const coterie::Matrix<float> narrow = sigma.cast<float>();
    coterie::LabelSettings settings;
    settings.lambda = std::atof(argv[3]);

    settings.solver = LabelSolver::dual;
    coterie::Stopwatch watch;
    const auto dual = coterie::solve_labels(sigma, settings, threads);
    std::printf("{\"n\": %td, \"k\": %td, \"lambda\": %g, \"deviation\": %s, \"threads\": %d,\n", n, k, settings.lambda,
                argv[4], threads);
    std::printf(" \"dual\": {\"seconds\": %.3g, \"steps\": %d, \"gradient\": %.2g},\n", watch.seconds(), dual.rounds,
                dual.gradient);

    if (n * k <= 1000000) {
        settings.solver = LabelSolver::newton;
        watch.restart();
        const auto newton = coterie::solve_labels(sigma, settings, threads);
        std::printf(" \"newton\": {\"seconds\": %.3g, \"steps\": %d, \"distance\": %.2g},\n", watch.seconds(),
                    newton.rounds, (newton.labels - dual.labels).cwiseAbs().maxCoeff());
    }

    settings.solver = LabelSolver::em;
    std::printf(" \"em_round_seconds\": {\"float32\": %.3g, \"float64\": %.3g},\n \"em\": [",
                round_seconds(narrow, settings, threads), round_seconds(sigma, settings, threads));
    for (settings.rounds = 1; settings.rounds <= 4096; settings.rounds *= 2) {
        watch.restart();
        const auto em = coterie::solve_labels(sigma, settings, threads);
        const double seconds = watch.seconds();
        std::printf("%s{\"rounds\": %d, \"seconds\": %.3g, \"distance\": %.2g}", settings.rounds > 1 ? ",\n  " : "",
                    settings.rounds, seconds, (em.labels - dual.labels).cwiseAbs().maxCoeff());
        if (seconds > 1) break;
    }
    std::printf("]}\n");
    return dual.gradient <= 1e-10 ? 0 : 1;
}
