// entropy-em: rounds and time of the label solvers. The table depends on what counts as converged: here a solver has
// converged when every label is close to the optimum, which its gradient proves. Short times are the least of five.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/entropy/label_solver.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

constexpr std::array<Index, 3> cluster_numbers = {2, 20, 200};
constexpr std::array<double, 3> lambdas = {1, 10, 100};
constexpr std::array<double, 3> distances = {1e-2, 1e-4, 1e-8};
constexpr std::array<LabelSolver, 3> solvers = {LabelSolver::em, LabelSolver::newton, LabelSolver::dual};
constexpr std::array<const char*, 3> solver_names = {"em", "newton", "dual"};
// Table 1 of the paper: iterations and milliseconds for K = 2, 20, 200. The paper states neither N, nor lambda, nor the
// stopping rule. It has no dual solver.
struct Printed {
    int iterations;
    double milliseconds;
};
constexpr std::array<std::array<Printed, 3>, 2> printed = {
    {{{{2, 0.99}, {2, 2.0}, {2, 4.0}}}, {{{3, 28}, {3, 33}, {4, 170}}}}};

struct EmRequest {
    int points = 5000;
    double deviation = 3;
    double seconds = 10;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<EmRequest>()
                .integer("points", &EmRequest::points, at_least(1), "N")
                .real("deviation", &EmRequest::deviation, between(0, 100),
                      "standard deviation of the normal logits; the predictions are their "
                      "softmax")
                .real("seconds", &EmRequest::seconds, above(0), "time limit of EM and Newton for each distance");
        return set;
    }
};

Matrix<double> predictions(Index n, Index k, double deviation, const Run& run) {
    RandomStream random = run.random("reproduce.entropy-em");
    Matrix<double> out(n, k);
    for (Index i = 0; i < n; ++i) {
        for (Index c = 0; c < k; ++c) out(i, c) = deviation * random.normal();
        out.row(i) = (out.row(i).array() - out.row(i).maxCoeff()).exp();
        out.row(i) /= out.row(i).sum();
    }
    return out;
}

// Number of rounds after which no label is further than `distance` from the optimum. It is at most 1/32 above the
// smallest such number.
struct Reached {
    int rounds = 0;
    double seconds = 0;
};

class Measuring {
public:
    Measuring(const Matrix<double>& sigma, const Matrix<double>& optimum, LabelSettings settings, double budget,
              const Run& run)
        : sigma_(sigma), optimum_(optimum), settings_(settings), budget_(budget), run_(run) {
        settings_.tolerance = 0;
    }

    // Doubles the rounds until the distance is reached. Then bisects to within 1/32 of the rounds: an exact bisection
    // would repeat the rounds about six more times. Returns nothing if the budget was too small.
    std::optional<Reached> reach(double distance) {
        int enough = 1;
        while (!near(enough, distance)) {
            if (last_seconds_ > budget_ || last_rounds_ < enough) return std::nullopt;  // or it stopped earlier
            enough *= 2;
        }
        int few = enough / 2;
        while (enough - few > std::max(1, enough / 32)) {
            const int middle = few + (enough - few) / 2;
            (near(middle, distance) ? enough : few) = middle;
        }
        Reached out{enough, 1e300};
        for (int repeat = 0; repeat < (last_seconds_ < 0.5 ? 5 : 1); ++repeat) {
            near(enough, distance);
            out.seconds = std::min(out.seconds, last_seconds_);
        }
        return out;
    }

private:
    bool near(int rounds, double distance) {
        run_.throw_if_stopped("label solvers");
        settings_.rounds = settings_.steps = rounds;
        const Stopwatch watch;
        const LabelSolution<double> found = solve_labels(sigma_, settings_, run_.threads);
        last_seconds_ = watch.seconds();
        last_rounds_ = found.rounds;
        return (found.labels - optimum_).cwiseAbs().maxCoeff() <= distance;
    }

    const Matrix<double>& sigma_;
    const Matrix<double>& optimum_;
    LabelSettings settings_;
    double budget_;
    const Run& run_;
    double last_seconds_ = 0;
    int last_rounds_ = 0;
};

// Seconds per round of EM in single precision, from 100 rounds without the start.
double round_seconds(const Matrix<float>& sigma, LabelSettings settings, const Run& run) {
    settings.solver = LabelSolver::em;
    settings.tolerance = 0;
    double fastest = 1e300;
    for (int repeat = 0; repeat < 5; ++repeat) {
        std::array<double, 2> seconds{};
        for (const std::size_t many : {0, 1}) {
            settings.rounds = many ? 101 : 1;
            const Stopwatch watch;
            solve_labels(sigma, settings, run.threads);
            seconds[many] = watch.seconds();
        }
        fastest = std::min(fastest, (seconds[1] - seconds[0]) / 100);
    }
    return fastest;
}

int reproduce(const EmRequest& request) {
    Run run = request.running->run();
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "entropy-em";
    out["options"] = json_of(EmRequest::described(), EmRequest::described().values(&request));
    out["seed"] = request.running->seed;
    out["threads"] = run.threads;
    std::vector<std::string> header = {"K", "lambda", "solver"};
    for (const double distance : distances) header.push_back("to " + number_text(distance));
    header.emplace_back("dual faster, at 1e-08");
    std::vector<std::vector<std::string>> rows;
    std::vector<std::vector<std::string>> round_rows;
    for (const Index k : cluster_numbers) {
        const Matrix<double> sigma = predictions(request.points, k, request.deviation, run);
        for (const double lambda : lambdas) {
            LabelSettings settings;
            settings.lambda = lambda;
            settings.solver = LabelSolver::dual;
            const LabelSolution<double> optimum = solve_labels(sigma, settings, run.threads);
            if (!(optimum.gradient <= 1e-10))
                throw InternalError("the dual solver did not reach the optimum: gradient " +
                                    number_text(optimum.gradient));
            Json one = {{"clusters", k}, {"lambda", lambda}, {"gradient", optimum.gradient}};
            std::array<std::optional<Reached>, solvers.size()> last;
            for (std::size_t s = 0; s < solvers.size(); ++s) {
                settings.solver = solvers[s];
                const double budget = solvers[s] == LabelSolver::dual ? 1e300 : request.seconds;
                Measuring measuring(sigma, optimum.labels, settings, budget, run);
                rows.push_back({std::to_string(k), number_text(lambda), solver_names[s]});
                Json solver = {{"name", solver_names[s]}};
                for (const double distance : distances) {
                    last[s] = measuring.reach(distance);
                    rows.back().push_back(
                        last[s] ? filled("{}, {} ms", last[s]->rounds, number_text(1e3 * last[s]->seconds))
                                : filled("not in {} s", number_text(request.seconds)));
                    Json entry = {{"distance", distance}, {"reached", last[s].has_value()}};
                    if (last[s]) entry.update({{"rounds", last[s]->rounds}, {"seconds", last[s]->seconds}});
                    solver["reached"].push_back(std::move(entry));
                }
                one["solvers"].push_back(std::move(solver));
            }
            const auto& dual = last[2];
            for (std::size_t s = 0; s < solvers.size(); ++s) {
                auto& row = rows[rows.size() - solvers.size() + s];
                if (s == 2 || !dual)
                    row.emplace_back("");
                else if (last[s])
                    row.push_back(fixed_text(last[s]->seconds / dual->seconds, 1) + " times");
                else
                    row.push_back("more than " + fixed_text(request.seconds / dual->seconds, 0) + " times");
            }
            out["problems"].push_back(std::move(one));
        }
        LabelSettings settings;
        const double round = round_seconds(sigma.cast<float>(), settings, run);
        out["em_round_seconds"].push_back({{"clusters", k}, {"float32", round}});
        const auto index = round_rows.size();
        const auto published = [&](std::size_t solver) {
            return filled("{}, {} ms", printed[solver][index].iterations,
                          number_text(printed[solver][index].milliseconds));
        };
        round_rows.push_back({std::to_string(k), number_text(1e3 * round) + " ms", published(0), published(1)});
    }
    if (request.running->json) {
        print(document(out));
        return Exit::done;
    }
    print(filled("Rounds and time until no label is further than this from the optimum; N = {}, {} threads\n",
                 count_text(request.points), run.threads) +
          table(header, rows, {0, 1, 3, 4, 5, 6}) + "\n" +
          table({"K", "one round of EM, float32", "published: all of EM", "published: all of Newton"}, round_rows,
                {0, 1, 2, 3}));
    return Exit::done;
}

}  // namespace

Command reproduce_entropy_em_command() {
    const auto request = std::make_shared<EmRequest>();
    Command command;
    command.name = "entropy-em";
    command.summary = "the label solvers: rounds and time to a given distance from the optimum, Table 1";
    command.details =
        "The paper gives iterations and times to convergence. It does not state the number of rows, lambda or the "
        "stopping rule, on which they depend. Here the dual solver computes the optimum, and its gradient proves it. "
        "A solver has converged when every label is within the given distance of the optimum.";
    command.flags = flags_of(EmRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--json"}));
    command.examples = {{"coterie-reproduce entropy-em --threads 1 --seconds 2", "a quick look"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
