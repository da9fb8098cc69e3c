// Affinity, clusters, report, and the data for new points: the training points (the columns of their representations)
// and the embedding. Training points that the embedding does not reach join the cluster of the nearest reached point.
// Shares are summed in the order of a row's entries.

#include "coterie/manifold/manifold_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/neighbors.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/spectral/affinity_clusters.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

// V_jm / sqrt(D_j) from U, whose rows were scaled to norm 1.
Matrix<double> extension_of(const AffinityClusters& found) {
    Matrix<double> out = Matrix<double>::Zero(found.embedding.rows(), found.embedding.cols());
    for (Index j = 0; j < out.rows(); ++j)
        if (found.degrees[j] > 0) out.row(j) = found.embedding.row(j) * (found.norms[j] / std::sqrt(found.degrees[j]));
    return out;
}

std::int32_t largest_cluster(const Labels& labels, Index clusters) {
    std::vector<Index> sizes(at(clusters), 0);
    for (const auto label : labels) ++sizes[static_cast<std::size_t>(label)];
    return static_cast<std::int32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
}

// Gives points without a row in the embedding the label of the nearest point that has one.
void place_unreached(const Matrix<double>& embedding, PointsView points, const Run& run, Labels& labels) {
    std::vector<Index> reached, unreached;
    for (Index i = 0; i < embedding.rows(); ++i) (embedding.row(i).isZero(0) ? unreached : reached).push_back(i);
    if (unreached.empty() || reached.empty()) return;
    const Neighbors nearest = nearest_neighbors(rows_of(points, reached), rows_of(points, unreached), 1, run);
    for (std::size_t i = 0; i < unreached.size(); ++i)
        labels[static_cast<std::size_t>(unreached[i])] =
            labels[static_cast<std::size_t>(reached[static_cast<std::size_t>(nearest.indices[i])])];
}

}  // namespace

namespace internal {

void check_manifold(PointsView points, const ManifoldOptions& options, std::string_view method, const Run& run) {
    if (points.rows() < 2)
        throw BadArgument(Code::too_few_rows,
                          filled("{}, but {} needs at least 2", counted(points.rows(), "row"), method), "",
                          {.option = "points"});
    check_clustering_input(points, options.clusters, {}, run);
}

std::vector<std::string> represented_by_options(const OptionSet& set) {
    static constexpr std::array after = {"clusters", "affinity", "keep", "restarts", "max_iterations", "new_points"};
    std::vector<std::string> out;
    for (const Option& option : set.options())
        if (std::find(after.begin(), after.end(), option.name) == after.end()) out.push_back(option.name);
    return out;
}

Points normalized_rows(PointsView points, bool unit) {
    require_memory(static_cast<double>(points.rows()) * static_cast<double>(points.columns()) *
                       static_cast<double>(size_of(points.scalar())),
                   "a copy of the data, which the model keeps");
    return points.visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        Matrix<Scalar> out = rows.matrix();
        for (Index i = 0; unit && i < out.rows(); ++i) {
            const double largest = static_cast<double>(out.row(i).cwiseAbs().maxCoeff());
            if (largest == 0) continue;
            double sum = 0;
            for (Index p = 0; p < out.cols(); ++p) {
                const double value = static_cast<double>(out(i, p)) / largest;
                sum += value * value;
            }
            const double norm = std::sqrt(sum);
            for (Index p = 0; p < out.cols(); ++p)
                out(i, p) = static_cast<Scalar>(static_cast<double>(out(i, p)) / largest / norm);
        }
        return Points(std::move(out));
    });
}

void warn_of_origin(PointsView points, const Run& run, FitReport& report) {
    constexpr double far = 3;
    const ColumnMoments moments = column_moments(points, run.unstopped());
    const double spread = std::sqrt(moments.variance.sum());
    if (moments.mean.norm() <= far * spread || spread == 0) return;
    report.warnings.push_back(
        {.code = Code::far_from_origin,
         .problem = filled("the data are far from the origin, so all rows have similar representations: the mean is "
                           "{} times as far from the origin as the rows are from the mean",
                           to_text(moments.mean.norm() / spread)),
         .remedy = "Use `center` to subtract the mean"});
}

}  // namespace internal

void ManifoldModel::finish(Points points, const Represented& represented, const Run& run, Stopwatch& watch) {
    const ManifoldOptions& options = this->options();
    FitReport& report = report_;
    const Index k = options.clusters;
    points_ = std::move(points);
    const Index n = points_.rows();
    const SymmetricAffinity affinity = affinity_of(represented.coefficients, options.affinity, options.keep);
    report.seconds.emplace_back("affinity", watch.restart());
    const AffinityClusters found = cluster_affinity(affinity.matrix,
                                                    {.clusters = options.clusters,
                                                     .restarts = options.restarts,
                                                     .max_iterations = options.max_iterations,
                                                     .outliers = true},  // with few entries per point, small groups may
                                                                         // be connected only among themselves
                                                    run);
    report.seconds.emplace_back("spectral clustering", watch.restart());
    labels_ = found.labels;
    place_unreached(found.embedding, points_, run, labels_);
    members_ = labels_;
    embedding_ = found.embedding;
    centroids_ = found.centroids;
    eigenvalues_ = found.eigenvalues;
    extension_ = extension_of(found);

    report.points = n;
    report.dimensions = points_.columns();
    count_clusters(report, labels_, options.clusters);
    report.objective = found.inertia;
    report.objective_per_iteration = {found.inertia};
    report.iterations = represented.rounds;
    report.stopped = represented.converged ? StopReason::converged : StopReason::iteration_limit;
    report.empty_cluster_policy = "an empty cluster gets the row that adds most to the inertia";
    report.seed = run.seed;
    report.threads = run.threads;
    report.warnings.insert(report.warnings.end(), represented.warnings.begin(), represented.warnings.end());
    if (found.components > k || found.unreached > 0)
        report.warnings.push_back(
            {.code = Code::graph_disconnected,
             .problem = filled("the affinity graph has {} separate parts ({} are single rows) for {}; larger parts get "
                               "the clusters, and {} in other parts {} the cluster of the nearest row",
                               found.components, found.isolated, counted(k, "cluster"), counted(found.unreached, "row"),
                               found.unreached == 1 ? "joins" : "join"),
             .remedy = "To connect the parts, raise " + remedy() +
                       (affinity_strategies()[static_cast<std::size_t>(options.affinity)].find('K') != std::string::npos
                            ? filled(", or `keep` ({})", options.keep)
                            : "")});
    if (report.clusters_found < k)
        report.warnings.push_back({.code = Code::fewer_clusters,
                                   .problem = filled("{} of {} clusters are empty", k - report.clusters_found, k),
                                   .remedy = "Use fewer clusters"});
    auto& details = report.details;
    details.insert(details.end(), represented.details.begin(), represented.details.end());
    details.emplace_back("nonzeros_per_point",
                         static_cast<double>(represented.coefficients.nonZeros()) / static_cast<double>(n));
    details.emplace_back("affinity_entries_per_point",
                         static_cast<double>(affinity.matrix.nonZeros()) / static_cast<double>(n));
    details.emplace_back("symmetrised", std::string(affinity.symmetrised ? "yes" : "no"));
    details.emplace_back("components", found.components);
    details.emplace_back("isolated", found.isolated);
    details.emplace_back("eigenvalues",
                         std::vector<double>(eigenvalues_.data(), eigenvalues_.data() + eigenvalues_.size()));
    details.emplace_back("eigen_residual", found.eigen_residual);
}

Matrix<double> ManifoldModel::extend(const SparseMatrix& coefficients) const {
    const ManifoldOptions& options = this->options();
    SparseMatrix rows = coefficients.cwiseAbs();
    const std::string& steps = affinity_strategies()[static_cast<std::size_t>(options.affinity)];
    if (steps.find('K') != std::string::npos) rows = internal::keep_largest(rows, options.keep);
    Matrix<double> out = rows * extension_;
    for (Index m = 0; m < out.cols(); ++m) {
        const double shrinkage = 1 - eigenvalues_[m];
        // The extension is undefined for an eigenvector that the affinity maps to 0.
        if (std::abs(shrinkage) > 1e-8)
            out.col(m) /= shrinkage;
        else
            out.col(m).setZero();
    }
    for (Index i = 0; i < out.rows(); ++i) {
        const double norm = out.row(i).norm();
        if (norm > 0) out.row(i) /= norm;
    }
    return out;
}

Matrix<double> ManifoldModel::output_checked(Output, PointsView points, const Run& run) const {
    const Points queries = internal::normalized_rows(points, options().normalize == RowNorms::unit);
    return extend(represent_new(queries, run).coefficients);
}

Labels ManifoldModel::predict_checked(PointsView points, const Run& run) const {
    const Points queries = internal::normalized_rows(points, options().normalize == RowNorms::unit);
    const Represented represented = represent_new(queries, run);
    const Index k = clusters();
    const std::int32_t fallback = largest_cluster(members_, k);
    Labels out(at(points.rows()), fallback);
    if (options().new_points == NewPoints::embedding) {
        const Matrix<double> rows = extend(represented.coefficients);
        const Labels nearest = nearest_centroids(rows, centroids_, run.threads).labels;
        for (Index i = 0; i < rows.rows(); ++i)
            if (!rows.row(i).isZero(0)) out[at(i)] = nearest[at(i)];
        return out;
    }
    Vector<double> shares(k);
    Index entry = 0;
    for (Index i = 0; i < points.rows(); ++i) {
        shares.setZero();
        for (SparseMatrix::InnerIterator it(represented.coefficients, i); it; ++it, ++entry) {
            const double weight = represented.weights.empty() ? 1.0 : represented.weights[at(entry)];
            shares[members_[at(it.col())]] += weight * std::abs(it.value());
        }
        Index best = 0;
        if (shares.maxCoeff(&best) > 0) out[at(i)] = static_cast<std::int32_t>(best);
    }
    return out;
}

void ManifoldModel::parts(Parts& parts) {
    const Index k = options().clusters;
    if (parts.reading() && options().normalize == RowNorms::automatic)
        throw BadData(Code::malformed, "the model has `normalize=auto` instead of the value that was used");
    parts.add("points", points_, "n x d", "the rows of the training data, normalised");
    parts.add("members", members_, "n", "the cluster of each training row", between(0, static_cast<double>(k - 1)));
    parts.add("embedding", embedding_, "n x k", "the embedding of the training rows");
    parts.add("extension", extension_, "n x k", "the eigenvectors divided by the square roots of the degrees");
    parts.add("centroids", centroids_, "k x k", "the centroid of each cluster in the embedding");
    parts.add("eigenvalues", eigenvalues_, "k", "the eigenvalues of the normalised Laplacian, ascending");
    if (!parts.reading()) return;
    const Index n = points_.rows();
    if (n < 2 || k > n)
        throw BadData(Code::malformed, filled("the model has {} of {}", counted(k, "cluster"), counted(n, "row")));
}

}  // namespace coterie
