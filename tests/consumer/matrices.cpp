// Calls each public function that returns a matrix. This program is built with other flags than the library (plain,
// -march=native, AddressSanitizer). It reads, copies, moves, enlarges and frees what the library allocated, and passes
// its own matrices to the library. Prints one line per function, which must be the same for all flags.
#include <coterie/coterie.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using coterie::Index;
using coterie::Matrix;
using coterie::Vector;

namespace {

// Does with a returned matrix what a program may do, as its owner.
template <class Dense>
void use(const std::string& name, Dense given) {
    Dense copy = given;
    const Dense moved = std::move(given);
    given.resize(moved.rows() + 3, moved.cols());
    given.setZero();
    given.topRows(moved.rows()) = moved;
    copy = given;
    given = 2 * copy.topRows(moved.rows());
    copy.conservativeResize(moved.rows() + 1, moved.cols());
    const auto product = (moved.transpose() * moved).eval();
    double sum = 0;
    for (Index i = 0; i < moved.size(); ++i) sum += std::abs(static_cast<double>(moved.data()[i]));
    if (given != 2 * moved || product.rows() != moved.cols()) {
        std::cerr << name << ": the copy differs from the original\n";
        std::exit(1);
    }
    std::printf("%s: %td x %td, %.6g\n", name.c_str(), moved.rows(), moved.cols(), sum);
}

void use(const std::string& name, coterie::SparseMatrix given) {
    coterie::SparseMatrix copy = given;
    const coterie::SparseMatrix moved = std::move(given);
    given = copy;
    copy = moved.transpose();
    double sum = 0;
    for (Index i = 0; i < moved.rows(); ++i)
        for (coterie::SparseMatrix::InnerIterator entry(moved, i); entry; ++entry) sum += std::abs(entry.value());
    std::printf("%s: %td x %td, %td entries, %.6g\n", name.c_str(), moved.rows(), moved.cols(), moved.nonZeros(), sum);
}

Matrix<double> blobs(Index n, Index d) {
    Matrix<double> out(n, d);
    coterie::RandomStream stream = coterie::Run(3).random("consumer.blobs");
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < d; ++j) out(i, j) = 4.0 * static_cast<double>((i + j) % 3) + stream.uniform();
    return out;
}

void models(const Matrix<double>& x) {
    const coterie::Run run(1, 2);
    coterie::Problem problem{.points = coterie::Points(x)};
    for (const coterie::Method& method : coterie::methods()) {
        // Models with networks return matrices by the same functions, but need a library that may be missing.
        if (method.takes.device) continue;
        coterie::Problem known = problem;
        if (method.takes.labels) {
            known.partial_labels.assign(static_cast<std::size_t>(x.rows()), -1);
            for (std::size_t i = 0; i < 3; ++i) known.partial_labels[i] = static_cast<std::int32_t>(i);
        }
        coterie::OptionValues options;
        if (method.options->find("clusters") != nullptr) options["clusters"] = std::int64_t(3);
        const auto pipeline = coterie::Pipeline::fit(known, {method, options}, {}, run);
        const coterie::PreparedRows rows = pipeline.prepare(coterie::Points(x));
        for (int each = 0; each < coterie::output_count; ++each) {
            const auto output = static_cast<coterie::Output>(each);
            if (!pipeline.model().outputs().has(output)) continue;
            use(method.name + " " + std::string(coterie::name(output)), pipeline.output(output, rows));
            use(method.name + " " + std::string(coterie::name(output)), pipeline.model().output(output, rows.points));
        }
    }
    const coterie::SubspaceModel subspace = coterie::fit_subspace(x, {.clusters = 3}, run);
    use("prototypes", Matrix<double>(subspace.prototypes()));
    use("directions", Matrix<double>(subspace.directions()));
    const coterie::FmeModel fme = coterie::fit_fme(problem, {}, run);
    use("fme directions", Matrix<double>(fme.directions()));
    use("fme centroids", Matrix<double>(fme.centroids()));
    use("fme embedding", Matrix<double>(fme.embedding()));
    const coterie::WmcModel wmc = coterie::fit_wmc(problem, {}, run);
    use("wmc eigenvalues", Vector<double>(wmc.eigenvalues()));
    use("wmc embedding", Matrix<double>(wmc.embedding()));
    coterie::SpaceOptions options;
    const coterie::PointSpace space(x, options, coterie::PointSpace::Origin::mean, "consumer", run);
    use("space of the fit", space.fitted(x));
    use("space", space.transform(x, run));
    const coterie::KernelPca kernel(x, 3.0, 4, 0, run);
    use("kernel scores", Matrix<double>(kernel.scores()));
    use("kernel transform", kernel.transform(x, run));
}

void graphs(const Matrix<double>& x) {
    const coterie::Run run(1, 2);
    const coterie::NeighborGraph graph = coterie::neighbor_graph(x, {.neighbors = 5}, run);
    use("neighbour graph", graph.affinity);
    use("rbf", coterie::rbf_affinity(x, 2.0, run));
    const coterie::AffinityClusters found = coterie::cluster_affinity(graph.affinity, {.clusters = 3}, run);
    use("embedding", found.embedding);
    use("eigenvalues", found.eigenvalues);
    use("degrees", found.degrees);
    use("centroids", found.centroids);
    use("norms", found.norms);
    const Matrix<double> edges{{0, 1, 0.5}, {1, 2, 1}, {0, 2, 0.25}};
    use("edges", coterie::formats::graph_of_edges(edges, "edges"));

    const coterie::Representation representation = coterie::represent(x, coterie::RepresentationOptions(), run);
    use("representation", representation.coefficients);
    use("of queries", coterie::represent(x, x, coterie::RepresentationOptions(), run).coefficients);
    use("pursuit", coterie::match(x, coterie::MatchingPursuitOptions(), run).coefficients);
    use("smce", coterie::smce_represent(x, 1.0, 5, run).coefficients);
    use("affinity", coterie::affinity_of(representation.coefficients, coterie::AffinityStrategy::NS, 5).matrix);
    const Vector<double> y = x.row(0).transpose();
    const Vector<double> weights = coterie::representation_weights(x, y, 0, coterie::RepresentationWeights::linear);
    Vector<double> finite = weights;
    finite[0] = 1;
    use("weights", finite);
    const coterie::PointRepresentation point = coterie::represent_point(x, y, weights, 100.0, 0.0);
    use("coefficients", point.coefficients);
    use("dual", point.dual);
    coterie::Labels labels(static_cast<std::size_t>(x.rows()));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 3);
    use("geometry", coterie::point_geometry(x, labels, Index(0), coterie::GeometryOptions()).dual);
    std::printf("inradius %.6g\n", coterie::symmetric_inradius(Matrix<double>(x.topRows(4))));
}

template <class T>
void softmaxes(const Matrix<T>& x) {
    const coterie::Run run(1, 2);
    std::vector<const T*> pointers;
    for (Index i = 0; i < x.rows(); ++i) pointers.push_back(x.data() + i * x.cols());
    const coterie::Vector<double> mean = x.template cast<double>().colwise().mean().transpose();
    const coterie::LinearSoftmax<T> linear = coterie::random_linear_softmax<T>(pointers, mean, 3, 1.0, run);
    use("weights", linear.weights);
    use("bias", linear.bias);
    const coterie::Rows<T> rows{x.data(), x.rows(), x.cols(), x.cols()};
    const Matrix<T> scores = coterie::logits(rows, linear, 2);
    use("logits", scores);
    use("logits of rows", coterie::logits(pointers, linear, 2));
    const coterie::Softmax<T> sigma = coterie::softmax(scores, 2);
    use("probability", sigma.probability);
    use("logarithm", sigma.logarithm);
    Matrix<T> gradient = Matrix<T>::Zero(x.rows(), 3);
    coterie::add_decisiveness(sigma, 1.0, 1.0, gradient, 2);
    use("gradient", gradient);
    use("gradient of weights", coterie::weight_gradient(pointers, gradient, x.cols(), 2));
    use("at an origin", coterie::at_origin(linear.weights, Vector<double>(Vector<double>::Ones(x.cols()))));
    const coterie::LabelSolution<T> solved =
        coterie::solve_labels(sigma.probability, {.solver = coterie::LabelSolver::dual}, 2);
    use("labels", solved.labels);
    use("multipliers", solved.multipliers);
    coterie::Labels labels(static_cast<std::size_t>(x.rows()));
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 3);
    const Matrix<double> targets = coterie::smoothed_targets(labels, 3, 0.1);
    use("targets", targets);
    coterie::SoftTargetOptions options;
    options.epochs = 3;
    const auto fitted = coterie::fit_soft_targets<T>(rows, targets, options, run);
    use("soft targets", fitted.linear.weights);
}

}  // namespace

int main() {
    const Matrix<double> x = blobs(60, 5);
    models(x);
    graphs(x);
    softmaxes<double>(x);
    softmaxes<float>(x.cast<float>());
    use("to_matrix", coterie::to_matrix<float>(coterie::PointsView(x)));
    // The library uses the program's own Eigen matrix without a copy.
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> mine = x;
    std::printf("%zu labels\n", coterie::fit_kmeans(mine, {.clusters = 3}).labels().size());
    return 0;
}
