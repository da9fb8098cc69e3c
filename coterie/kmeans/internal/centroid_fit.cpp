#include "coterie/kmeans/internal/centroid_fit.hpp"

#include <algorithm>

#include "coterie/linalg/kernels.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/model/model.hpp"

namespace coterie::internal {
namespace {}  // namespace

void check_initial_centroids(PointsView centroids, PointsView points, int clusters, int restarts, int threads) {
    if (centroids.empty()) return;
    if (centroids.rows() != clusters || centroids.columns() != points.columns())
        throw BadArgument("initial centroids: " + std::to_string(centroids.rows()) + " x " +
                              std::to_string(centroids.columns()) + " given, " + std::to_string(clusters) + " x " +
                              std::to_string(points.columns()) + " needed (clusters x columns of the points)",
                          {.option = "initial_centroids"});
    if (restarts != 1)
        throw BadArgument(
            "option `restarts`: with initial centroids every restart would be the same; it must be 1, not " +
                std::to_string(restarts),
            {.option = "restarts", .value = std::to_string(restarts), .accepted = "1"});
    check_points(centroids, "initial centroids", threads);
}

Spread spread_of(PointsView points, std::span<const double> weights, const Run& run) {
    const ColumnMoments moments = column_moments(points, run, weights);
    const double total =
        weights.empty() ? static_cast<double>(points.rows()) : std::accumulate(weights.begin(), weights.end(), 0.0);
    return {moments.mean, moments.variance.mean(), total};
}

RowBlocks sum_chunks(Index rows, Index clusters) {
    const Index chunks = std::clamp<Index>(rows / (32 * clusters), 1, 64);
    return {rows, (rows + chunks - 1) / chunks};
}

ClusterSums cluster_sums(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                         int threads, RowBlocks chunks) {
    return points.visit([&]<class T>(const Rows<T>& rows) {
        std::vector<ClusterSums> partial(at(chunks.count()));
        const Kernels<T>& kernel = kernels<T>();
        for_each_block(chunks.count(), threads, [&](Index chunk, int) {
            ClusterSums& own = partial[at(chunk)];
            own.sums = Matrix<double>::Zero(clusters, rows.columns);
            own.mass.assign(at(clusters), 0.0);
            for (Index i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
                const double w = weights.empty() ? 1.0 : weights[at(i)];
                const auto label = labels[at(i)];
                kernel.add_scaled(own.sums.data() + label * rows.columns, rows.row(i), w, rows.columns);
                own.mass[at(label)] += w;
            }
        });
        ClusterSums out = std::move(partial.front());
        for (std::size_t c = 1; c < partial.size(); ++c) {
            out.sums += partial[c].sums;
            for (std::size_t j = 0; j < out.mass.size(); ++j) out.mass[j] += partial[c].mass[j];
        }
        return out;
    });
}

Matrix<double> means_of(const Matrix<double>& points, const Labels& labels, const Matrix<double>& before, int threads) {
    const int k = static_cast<int>(before.rows());
    const ClusterSums found = cluster_sums(points, labels, k, {}, threads, sum_chunks(points.rows(), k));
    Matrix<double> out = before;
    for (Index j = 0; j < k; ++j)
        if (found.mass[at(j)] > 0) out.row(j) = found.sums.row(j) / found.mass[at(j)];
    return out;
}

void finish_report(FitReport& report, PointsView points, const Labels& labels, int clusters, Index distinct,
                   const Run& run) {
    report.points = points.rows();
    report.dimensions = points.columns();
    count_clusters(report, labels, clusters);
    report.seed = run.seed;
    report.threads = run.threads;
    std::string warning;
    if (distinct < clusters) warning = "the points have only " + std::to_string(distinct) + " distinct rows";
    if (report.clusters_found < clusters)
        warning += (warning.empty() ? "" : ": ") + std::to_string(clusters - report.clusters_found) + " of " +
                   std::to_string(clusters) + " clusters are empty";
    if (!warning.empty()) report.warnings.push_back(std::move(warning));
}

}  // namespace coterie::internal
