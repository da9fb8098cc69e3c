// A fit computes the affinities of the points and then treats them like a given graph. The affinities of a new point
// are scaled by the largest of them before they are summed, so they do not all underflow for a distant point. A point
// at distance 0 from a training point gets that point's row. New points are converted to the scalar type of the
// training points and checked again.

#include "coterie/spectral/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "coterie/base/checks.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie {
namespace {

constexpr double kResidual = 1e-6;      // largest residual of eigenvectors that count as found
constexpr double kNoEigenvalue = 1e-9;  // if |1 - lambda| is below this, A suppresses the vector

using internal::at;
using internal::filled;

}  // namespace

const OptionSet& SpectralOptions::described() {
    using Options = SpectralOptions;
    static const OptionSet set =
        OptionSetFor<Options>()
            .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .choice("affinity", &Options::affinity, {"neighbors", "rbf", "precomputed"},
                    "affinity of rows: neighbors (a graph of nearest neighbours), rbf (the rbf kernel of all pairs) or "
                    "precomputed (the data are the n x n affinities)")
            .integer(
                "neighbors", &Options::neighbors, at_least(1),
                "number of nearest neighbours of each row in the graph, without the row itself; at most n - 1 are used")
            .choice("edge_weights", &Options::edge_weights, {"connectivity", "gaussian", "self-tuning"},
                    "weights of the graph's edges: 1 (connectivity), exp(-|x - y|^2 / (2 width^2)) (gaussian), or "
                    "exp(-|x - y|^2 / (s_x s_y)) (self-tuning), with s the distance to a row's 7th neighbour")
            .choice("symmetry", &Options::symmetry, {"mean", "maximum", "mutual"},
                    "affinity of two rows, from the edge weights in both directions (0 where there is no edge): their "
                    "mean, the larger (maximum) or the smaller (mutual)")
            .real(
                "width", &Options::width, above(0),
                "width of the rbf kernel and of gaussian edges; with larger values, more distant rows count as similar",
                "the median distance of a row to its last neighbour")
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs of k-means in the embedding; the best run is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1),
                     "maximum number of iterations per run of k-means");
    return set;
}

// A fit, from the affinity on.
class SpectralFit {
public:
    SpectralFit(const SpectralOptions& options, const Run& run) : run_(run) { model_.options_ = options; }

    SpectralModel from_points(PointsView points) {
        SpectralOptions& used = model_.options_;
        model_.dimensions_ = points.columns();
        const Index n = points.rows();
        SparseMatrix affinity;
        if (used.affinity == Affinity::precomputed) {
            if (n != points.columns())
                throw BadData(
                    Code::wrong_shape, filled("an affinity matrix must be square, not {} x {}", n, points.columns()),
                    "Give the affinity of each row with each row, or use another `affinity`", {.option = "points"});
            affinity = internal::nonzeros_of(points);
        } else {
            model_.points_ = points.with_scalar([&]<class T>() { return Points(to_matrix<T>(points)); });
            const auto possible = static_cast<int>(std::min<Index>(n - 1, std::numeric_limits<int>::max()));
            if (used.affinity == Affinity::neighbors && used.neighbors > possible)
                model_.report_.warnings.push_back(
                    {.code = Code::value_reduced,
                     .problem = filled("{} requested, but each row has only {}, so all of them are used",
                                       counted(used.neighbors, "neighbour"), counted(possible, "other")),
                     .option = "neighbors",
                     .value = std::to_string(used.neighbors),
                     .accepted = "at most " + std::to_string(possible)});
            const int neighbors = std::min(used.neighbors, possible);
            if (neighbors == 0) {
                affinity = SparseMatrix(n, n);  // one point
                if (!used.width) used.width = 1;
                if (used.edge_weights == EdgeWeights::self_tuning) model_.scales_ = {1.0};
            } else if (used.affinity == Affinity::neighbors) {
                used.neighbors = neighbors;
                NeighborGraph graph =
                    neighbor_graph(points, {used.neighbors, used.edge_weights, used.symmetry, used.width}, run_);
                affinity = std::move(graph.affinity);
                if (used.edge_weights == EdgeWeights::gaussian) used.width = graph.width;
                model_.scales_ = std::move(graph.scales);
            } else {
                internal::require_pairs_memory(n);  // before the search for neighbours
                if (!used.width) used.width = width_of(nearest_neighbors(points, neighbors, run_));
                affinity = rbf_affinity(points, *used.width, run_);
            }
        }
        model_.report_.seconds.emplace_back("graph", watch_.restart());
        return from_affinity(affinity);
    }

    SpectralModel from_affinity(const SparseMatrix& affinity) {
        const SpectralOptions& used = model_.options_;
        FitReport& report = model_.report_;
        const Index n = affinity.rows(), k = used.clusters;
        if (model_.dimensions_ == 0) model_.dimensions_ = n;
        AffinityClusters found = cluster_affinity(affinity, {used.clusters, used.restarts, used.max_iterations}, run_);
        double kmeans_seconds = 0;
        for (const auto& stage : found.kmeans.seconds) kmeans_seconds += stage.second;
        report.seconds.emplace_back("eigenvectors", std::max(0.0, watch_.restart() - kmeans_seconds));
        report.seconds.emplace_back("k-means", kmeans_seconds);

        const double largest = found.degrees.maxCoeff();
        model_.vectors_.resize(n, k);
        for (Index i = 0; i < n; ++i) {
            const double root = found.degrees[i] > 0 ? std::sqrt(found.degrees[i] / largest) : 1;
            model_.vectors_.row(i) = found.embedding.row(i) * (found.norms[i] / root);
        }
        model_.eigenvalues_ = found.eigenvalues;
        model_.centroids_ = std::move(found.centroids);
        model_.labels_ = std::move(found.labels);
        const auto& sizes = found.kmeans.sizes;
        model_.unreached_ = static_cast<std::int32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());

        report.objective = found.inertia;
        report.objective_per_iteration = found.kmeans.objective_per_iteration;
        report.iterations = found.kmeans.iterations;
        report.stopped = found.kmeans.stopped;
        report.empty_cluster_policy = found.kmeans.empty_cluster_policy;
        report.empty_clusters_repaired = found.kmeans.empty_clusters_repaired;
        internal::describe_fit(report, n, model_.dimensions_, model_.labels_, used.clusters, run_);

        const std::int64_t connected = found.components - found.isolated;
        const std::string more =
            used.affinity == Affinity::neighbors && used.neighbors < n - 1
                ? filled("Use `neighbors={}` to connect more rows", std::min<Index>(n - 1, 2 * used.neighbors))
                : "";
        if (connected > k)
            report.warnings.push_back(
                {.code = Code::graph_disconnected,
                 .problem = filled("the graph has {} connected components for {}: large components get clusters first, "
                                   "and the {} of components without a cluster are in the largest cluster",
                                   connected, counted(k, "cluster"), counted(found.unreached - found.isolated, "row")),
                 .remedy = more});
        if (found.isolated > 0 && n > 1)
            report.warnings.push_back(
                {.code = Code::graph_disconnected,
                 .problem = filled("{} {} no affinity to any other{}", counted(found.isolated, "row"),
                                   found.isolated == 1 ? "has" : "have",
                                   found.unreached == 0  ? ""
                                   : found.isolated == 1 ? " and is in the largest cluster"
                                                         : " and are in the largest cluster"),
                 .remedy = more});
        if (const int empty = used.clusters - report.clusters_found; empty > 0)
            report.warnings.push_back({.code = Code::fewer_clusters,
                                       .problem = filled("{} of {} {} empty: the embedding has too few distinct rows",
                                                         empty, counted(k, "cluster"), empty == 1 ? "is" : "are"),
                                       .remedy = "Use fewer clusters"});
        if (!(found.eigen_residual < kResidual)) {
            report.warnings.push_back(
                {.code = Code::not_converged,
                 .problem =
                     filled("the eigenvectors did not converge, so the labels may be inaccurate (largest residual {})",
                            to_text(found.eigen_residual))});
            if (report.stopped == StopReason::converged) report.stopped = StopReason::iteration_limit;
        }

        auto& details = report.details;
        details.emplace_back("eigenvalues",
                             std::vector<double>(found.eigenvalues.data(), found.eigenvalues.data() + k));
        details.emplace_back("eigen_residual", found.eigen_residual);
        details.emplace_back("components", found.components);
        details.emplace_back("isolated", found.isolated);
        details.emplace_back("unreached", found.unreached);
        std::int64_t edges = 0;
        for (Index i = 0; i < n; ++i)
            for (SparseMatrix::InnerIterator entry(affinity, i); entry && entry.col() < i; ++entry)
                edges += entry.value() > 0 ? 1 : 0;
        details.emplace_back("edges", edges);
        if (used.affinity == Affinity::neighbors)
            details.emplace_back("neighbors", static_cast<std::int64_t>(used.neighbors));
        if (used.affinity == Affinity::rbf ||
            (used.affinity == Affinity::neighbors && used.edge_weights == EdgeWeights::gaussian))
            details.emplace_back("width", *used.width);
        return std::move(model_);
    }

private:
    SpectralModel model_;
    const Run& run_;
    Stopwatch watch_;
};

SpectralModel SpectralMethod::fit(const Problem& problem, const SpectralOptions& options, const Run& run) {
    if (!problem.graph) {
        check_clustering_input(problem.points, options.clusters, {}, run);
        return SpectralFit(options, run).from_points(problem.points);
    }
    if (options.affinity != Affinity::precomputed)
        throw BadArgument(Code::conflict, "the data are a graph of affinities", "Use `affinity=precomputed`",
                          {.option = "affinity", .accepted = "precomputed"});
    return SpectralFit(options, run).from_affinity(*problem.graph);
}

// Divides by the eigenvalues of A and scales to norm 1; a row of 0 does not change.
void SpectralModel::finish_row(double* row) const {
    Eigen::Map<eigen::Vector<double>> u(row, options_.clusters);
    for (Index p = 0; p < u.size(); ++p) {
        const double eigenvalue = 1 - eigenvalues_[p];
        u[p] = std::abs(eigenvalue) > kNoEigenvalue ? u[p] / eigenvalue : 0;
    }
    const double norm = internal::norm_of(row, u.size());
    if (norm > 0)
        u /= norm;
    else
        u.setZero();
}

Matrix<double> SpectralModel::extended(PointsView given, const Run& run) const {
    const Index k = options_.clusters;
    Matrix<double> out = Matrix<double>::Zero(given.rows(), k);
    const auto for_each_row = [&](FunctionRef<void(Index i, std::vector<double> & exponents)> body) {
        const RowBlocks blocks{given.rows(), 16};
        for_each_block(blocks.count(), run.threads, [&](Index block, int) {
            std::vector<double> exponents;
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) body(i, exponents);
        });
    };
    if (options_.affinity == Affinity::precomputed) {
        given.visit([&](const auto& rows) {
            for_each_row([&](Index i, std::vector<double>&) {
                for (Index j = 0; j < rows.columns; ++j) {
                    const auto affinity = static_cast<double>(rows.row(i)[j]);
                    if (affinity < 0)
                        throw BadData(Code::not_accepted,
                                      to_text(affinity) + " is not accepted: affinities must not be negative", "",
                                      {.option = "points",
                                       .value = to_text(affinity),
                                       .accepted = "at least 0",
                                       .row = i + 1,
                                       .column_number = j + 1});
                    if (affinity > 0) out.row(i) += affinity * vectors_.row(j);
                }
                finish_row(out.data() + i * k);
            });
        });
        return out;
    }
    const Points points = internal::in_scalar(given, points_.scalar(), run);
    // exponents: of the affinities to `count` points, up to a common constant.
    const auto add = [&](Index i, const std::vector<double>& exponents, const std::int32_t* which) {
        const double largest = *std::max_element(exponents.begin(), exponents.end());
        for (std::size_t c = 0; c < exponents.size(); ++c)
            out.row(i) += std::exp(exponents[c] - largest) * vectors_.row(which ? which[c] : static_cast<Index>(c));
        finish_row(out.data() + i * k);
    };
    if (options_.affinity == Affinity::rbf) {
        points.view().visit([&]<class T>(const Rows<T>& rows) {
            const Rows<T> training = points_.view().as<T>();
            const auto squared_distance = internal::kernels<T>().squared_distance;
            for_each_row([&](Index i, std::vector<double>& exponents) {
                exponents.clear();
                for (Index j = 0; j < training.rows; ++j) {
                    const auto squared =
                        static_cast<double>(squared_distance(rows.row(i), training.row(j), training.columns));
                    if (squared == 0) return kept_row(j, out.data() + i * k);
                    const double distance = std::sqrt(squared) / *options_.width;
                    exponents.push_back(-0.5 * distance * distance);
                }
                add(i, exponents, nullptr);
            });
        });
        return out;
    }
    const Index count = std::min<Index>(options_.neighbors, points_.rows());
    const Neighbors found = nearest_neighbors(points_, points, count, run);
    const Index scale_at = std::min<Index>(7, count) - 1;
    for_each_row([&](Index i, std::vector<double>& exponents) {
        const double* const squared = found.squared.data() + i * count;
        const std::int32_t* const which = found.indices.data() + i * count;
        if (squared[0] == 0) return kept_row(which[0], out.data() + i * k);
        const double scale = std::sqrt(squared[scale_at]);
        exponents.clear();
        for (Index c = 0; c < count; ++c) {
            const double distance = std::sqrt(squared[c]);
            exponents.push_back(options_.edge_weights == EdgeWeights::gaussian
                                    ? -0.5 * (distance / *options_.width) * (distance / *options_.width)
                                : options_.edge_weights == EdgeWeights::self_tuning
                                    ? -(distance / scale) * (distance / scales_[at(which[c])])
                                    : 0);
        }
        add(i, exponents, which);
    });
    return out;
}

void SpectralModel::kept_row(Index j, double* to) const {
    const Index k = vectors_.cols();
    const double norm = internal::norm_of(vectors_.data() + j * k, k);
    for (Index p = 0; p < k; ++p) to[p] = norm > 0 ? vectors_(j, p) / norm : vectors_(j, p);
}

Matrix<double> SpectralModel::kept_embedding() const {
    Matrix<double> out(vectors_.rows(), vectors_.cols());
    for (Index j = 0; j < out.rows(); ++j) kept_row(j, out.row(j).data());
    return out;
}

Matrix<double> SpectralModel::output_checked(Output which, PointsView points, const Run& run) const {
    Matrix<double> u = extended(points, run);
    return which == Output::distances ? euclidean_distances(u, centroids_, run.threads) : u;
}

Labels SpectralModel::predict_checked(PointsView points, const Run& run) const {
    const Matrix<double> u = extended(points, run);
    Labels labels = nearest_centroids(u, centroids_, run.threads).labels;
    for (Index i = 0; i < u.rows(); ++i)
        if (u.row(i).isZero(0)) labels[at(i)] = unreached_;
    return labels;
}

void SpectralModel::parts(Parts& parts) {
    const bool precomputed = options_.affinity == Affinity::precomputed;
    const bool neighbors = options_.affinity == Affinity::neighbors;
    parts.add("vectors", vectors_, "n x k", "the eigenvectors divided by the square roots of the degrees");
    const Index n = vectors_.rows();
    if (parts.reading() && n < options_.clusters)
        throw BadData(Code::malformed,
                      filled("the model has {} for {}", counted(n, "row"), counted(options_.clusters, "cluster")), "",
                      {.file = parts.source()});
    parts.add("eigenvalues", eigenvalues_, "k", "the eigenvalues of the normalised Laplacian, ascending");
    parts.add("centroids", centroids_, "k x k", "the centroid of each cluster in the embedding");
    parts.add("unreached", unreached_, "the cluster of rows whose embedding is 0", between(0, options_.clusters - 1));
    if (!precomputed) parts.add("points", points_, "n x d", "the rows of the training data");
    if (neighbors && options_.edge_weights == EdgeWeights::self_tuning)
        parts.add("scales", scales_, "n", "the local scale of each of these rows", above(0));
    if (!parts.reading()) return;
    if (!precomputed && (!neighbors || options_.edge_weights == EdgeWeights::gaussian) && !options_.width)
        throw BadData(Code::malformed, "the model has affinities without a `width`", "", {.file = parts.source()});
    dimensions_ = precomputed ? n : points_.columns();
}

}  // namespace coterie
