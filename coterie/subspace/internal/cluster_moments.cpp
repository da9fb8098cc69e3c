// Upper triangles in the tiles of outer_products.hpp, one cluster behind the other. Norms and weighted sums are made
// from the tiles as they lie: a whole matrix only where one is asked for.

#include "coterie/subspace/internal/cluster_moments.hpp"

#include <algorithm>
#include <string>

#include "coterie/base/memory.hpp"

namespace coterie::internal {

ClusterMoments::ClusterMoments(int clusters, Vector<double> origin)
    : clusters_(clusters), origin_(std::move(origin)), float64_(origin_.size()), float32_(origin_.size()) {
    if (clusters < 1) throw BadArgument("cluster moments: there must be at least 1 cluster");
    const double numbers = static_cast<double>(clusters) * static_cast<double>(float64_.numbers());
    require_memory(sizeof(double) * numbers, "the second moments of " + std::to_string(clusters) + " clusters of " +
                                                 std::to_string(origin_.size()) + " dimensions");
    moments_.assign(static_cast<std::size_t>(clusters * float64_.numbers()), 0.0);
}

void ClusterMoments::add(PointsView points, std::span<const Entry> entries, int threads) {
    if (points.columns() != origin_.size())
        throw BadArgument("cluster moments: points have " + std::to_string(points.columns()) +
                          " columns, the origin has " + std::to_string(origin_.size()));
    for (std::size_t e = 0; e < entries.size(); ++e)
        if (entries[e].cluster < (e == 0 ? 0 : entries[e - 1].cluster) || entries[e].cluster >= clusters_ ||
            entries[e].row < 0 || entries[e].row >= points.rows())
            throw BadArgument(
                "cluster moments: entries must be sorted by cluster and name clusters and rows that "
                "exist, number " +
                std::to_string(e) + " does not");
    const auto count = static_cast<Index>(entries.size());
    const auto sum = [&](Index cluster) { return moment_of(cluster); };
    const auto add_rows = [&](const auto& rows, const auto& products) {
        using Scalar = std::remove_cvref_t<decltype(*rows.data)>;
        products.template add<Scalar>(
            count,
            [&](Index e) {
                const Entry& entry = entries[static_cast<std::size_t>(e)];
                return OuterProduct<Scalar>{rows.row(entry.row), origin_.data(), entry.weight, entry.cluster};
            },
            sum, threads);
    };
    if (points.scalar() == ScalarType::float32)
        add_rows(points.as<float>(), float32_);
    else
        add_rows(points.as<double>(), float64_);
}

void ClusterMoments::clear(int cluster) { std::fill_n(moment_of(cluster), float64_.numbers(), 0.0); }

Matrix<double> ClusterMoments::moment(int cluster) const { return float64_.matrix(moment_of(cluster)); }

Matrix<double> ClusterMoments::sum(std::span<const double> factors) const {
    if (static_cast<int>(factors.size()) != clusters_)
        throw BadArgument("cluster moments: there must be one factor per cluster");
    const Index d = origin_.size();
    Matrix<double> total = Matrix<double>::Zero(d, d);
    float64_.for_each_row([&](Index i, Index first, Index last, Index position) {
        double* const to = total.data() + i * d + first;
        for (int j = 0; j < clusters_; ++j) {
            const double factor = factors[static_cast<std::size_t>(j)];
            if (factor == 0.0) continue;
            const double* const from = moment_of(j) + position;
            for (Index p = 0; p < last - first; ++p) to[p] += factor * from[p];
        }
    });
    mirror(total);
    return total;
}

ClusterMoments::Norms ClusterMoments::scatter_norms(int cluster, const Vector<double>& centroid, double mass) const {
    Norms norms;
    const double* const moment = moment_of(cluster);
    float64_.for_each_row([&](Index i, Index first, Index last, Index position) {
        const double scale = mass * centroid[i];
        const auto scatter = [&](Index j) { return moment[position + j - first] - scale * centroid[j]; };
        Index j = first;
        if (i == first) {
            norms.trace += scatter(j);
            norms.squared_frobenius += scatter(j) * scatter(j);
            ++j;
        }
        double squares[4] = {0.0, 0.0, 0.0, 0.0};
        for (; j + 4 <= last; j += 4)
            for (Index lane = 0; lane < 4; ++lane) squares[lane] += scatter(j + lane) * scatter(j + lane);
        for (; j < last; ++j) squares[0] += scatter(j) * scatter(j);
        norms.squared_frobenius += 2.0 * ((squares[0] + squares[1]) + (squares[2] + squares[3]));
    });
    return norms;
}

}  // namespace coterie::internal
