#include "coterie/linalg/distances.hpp"

#include <cmath>
#include <string>

#include "coterie/base/parallel.hpp"
#include "coterie/linalg/panels.hpp"

namespace coterie {
namespace {

template <class T>
Nearest nearest(const Rows<T>& points, const Rows<T>& centroids, const Run& run, NearestWants wants,
                std::span<const double> weights) {
    const Index n = points.rows;
    const Index d = points.columns;
    internal::CentroidPanels<T> panels;
    panels.pack(centroids, internal::CentroidPanels<T>::mean_of(centroids));
    Nearest out;
    out.labels.resize(static_cast<std::size_t>(n));
    if (wants == NearestWants::distances) out.squared.resize(static_cast<std::size_t>(n));
    const RowBlocks blocks{n, internal::rows_in_cache(d, sizeof(T))};
    Run lent = run;
    lent.threads = threads_for(2.0 * static_cast<double>(n) * static_cast<double>(d * centroids.rows), run.threads);
    std::vector<double> inertia(static_cast<std::size_t>(blocks.count()), 0.0);
    std::vector<internal::BestScore<T>> scratch(static_cast<std::size_t>(std::max(lent.threads, 1)),
                                                internal::BestScore<T>(blocks.size));
    for_each_block(blocks.count(), lent, {"distances"}, [&](Index block, int worker) {
        auto& best = scratch[static_cast<std::size_t>(worker)];
        const Index begin = blocks.begin(block);
        const Index end = blocks.end(block);
        best(panels, points, begin, end);
        double sum = 0;
        for (Index i = begin; i < end; ++i) {
            const std::int32_t label = best.centroid[static_cast<std::size_t>(i - begin)];
            out.labels[static_cast<std::size_t>(i)] = label;
            if (wants == NearestWants::labels) continue;
            const double squared =
                static_cast<double>(panels.kernels().squared_distance(points.row(i), centroids.row(label), d));
            if (wants == NearestWants::distances) out.squared[static_cast<std::size_t>(i)] = squared;
            sum += weights.empty() ? squared : weights[static_cast<std::size_t>(i)] * squared;
        }
        inertia[static_cast<std::size_t>(block)] = sum;
    });
    for (const double sum : inertia) out.inertia += sum;
    return out;
}

}  // namespace

Nearest nearest_centroids(PointsView points, PointsView centroids, int threads, NearestWants wants,
                          std::span<const double> weights) {
    return nearest_centroids(points, centroids, Run(0, threads), wants, weights);
}

Nearest nearest_centroids(PointsView points, PointsView centroids, const Run& run, NearestWants wants,
                          std::span<const double> weights) {
    if (points.scalar() != centroids.scalar() || points.columns() != centroids.columns() || centroids.rows() < 1)
        throw BadArgument(
            "nearest centroids: points and centroids must have the same scalar type and number of columns, and there "
            "must be "
            "at least one centroid");
    if (points.empty()) return {};
    return points.visit(
        [&]<class T>(const Rows<T>& rows) { return nearest(rows, centroids.as<T>(), run, wants, weights); });
}

Matrix<double> euclidean_distances(PointsView points, PointsView centroids, int threads) {
    if (points.columns() != centroids.columns())
        throw BadArgument("distances: points of " + std::to_string(points.columns()) + " columns, centroids of " +
                          std::to_string(centroids.columns()));
    const Matrix<double> fixed = to_matrix<double>(centroids);
    Matrix<double> out(points.rows(), fixed.rows());
    const RowBlocks blocks{points.rows(), 256};
    points.visit([&](const auto& rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                for (Index j = 0; j < fixed.rows(); ++j) {
                    double squared = 0;
                    for (Index p = 0; p < fixed.cols(); ++p) {
                        const double difference = static_cast<double>(rows.row(i)[p]) - fixed(j, p);
                        squared += difference * difference;
                    }
                    out(i, j) = std::sqrt(squared);
                }
        });
    });
    return out;
}

}  // namespace coterie
