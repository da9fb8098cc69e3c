// The scatter ratio is summed about the mean of all points, in two passes over blocks of rows. The cut counts halves of
// edges in whole numbers, so that nothing is rounded before the quotient.

#include <algorithm>
#include <limits>
#include <string>

#include "coterie/base/internal/blocks.hpp"
#include "coterie/base/internal/together.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {

struct Clusters {
    std::vector<std::size_t> of;  // 0.. in the order of the labels' values, of this process' points
    std::size_t count = 0;        // on all processes
};

Clusters numbered(LabelSpan labels, Communicator& communicator) {
    std::vector<std::int32_t> distinct(labels.begin(), labels.end());
    const auto keep_distinct = [&] {
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    };
    keep_distinct();
    distinct = internal::gather(communicator, distinct);
    keep_distinct();
    Clusters out{{}, distinct.size()};
    out.of.reserve(labels.size());
    for (const auto label : labels)
        out.of.push_back(
            static_cast<std::size_t>(std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin()));
    return out;
}

void require_as_many(std::string_view what, std::size_t labels, Index points) {
    if (static_cast<Index>(labels) != points || labels == 0)
        throw BadArgument(std::string(what) + ": labels and points must be equally many, at least one: " +
                          std::to_string(labels) + " labels, " + std::to_string(points) + " points");
}

}  // namespace

double scatter_ratio(PointsView points, LabelSpan labels, const Run& run) {
    const internal::Range own = internal::own_rows(internal::grid_of(points), run.communicator());
    if (points.rows() == 0 || static_cast<Index>(labels.size()) != own.count())
        throw BadArgument("scatter ratio: labels and points must be equally many, at least one: " +
                          std::to_string(labels.size()) + " labels, " + std::to_string(own.count()) + " points");
    const Clusters clusters = numbered(labels, run.communicator());
    const auto cluster_of = [&](Index i) { return clusters.of[static_cast<std::size_t>(i - own.begin)]; };
    const Vector<double> middle = mean(points, run);
    const auto k = static_cast<Index>(clusters.count);
    const Index d = points.columns();
    const Stage stage{.name = "scatter", .operations = 3.0 * static_cast<double>(points.rows() * d)};
    return points.with_scalar([&]<class Scalar>() {
        // About the mean of all, so that points far from 0 lose no digits: k x d, then k sizes.
        std::vector<double> means = internal::sum_blocks<Scalar>(
            points, k * (d + 1), run, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                for (Index i = 0; i < block.rows.rows; ++i) {
                    const auto cluster = static_cast<Index>(cluster_of(block.first + i));
                    sum[k * d + cluster] += 1.0;
                    for (Index j = 0; j < d; ++j)
                        sum[cluster * d + j] += static_cast<double>(block.rows.row(i)[j]) - middle[j];
                }
            });
        for (Index c = 0; c < k; ++c)
            for (Index j = 0; j < d; ++j)
                means[static_cast<std::size_t>(c * d + j)] /= means[static_cast<std::size_t>(k * d + c)];
        const std::vector<double> scatter = internal::sum_blocks<Scalar>(
            points, 2, run, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                for (Index i = 0; i < block.rows.rows; ++i) {
                    const double* const its = means.data() + static_cast<Index>(cluster_of(block.first + i)) * d;
                    for (Index j = 0; j < d; ++j) {
                        const double x = static_cast<double>(block.rows.row(i)[j]) - middle[j];
                        sum[0] += (x - its[j]) * (x - its[j]);
                        sum[1] += x * x;
                    }
                }
            });
        return scatter[1] > 0.0 ? scatter[0] / scatter[1] : std::numeric_limits<double>::quiet_NaN();
    });
}

double normalized_cut(const Neighbors& neighbors, LabelSpan labels) {
    const auto count = static_cast<std::size_t>(neighbors.count);
    if (count == 0) throw BadArgument("normalised cut: there must be at least one neighbour a point");
    require_as_many("normalised cut", labels.size(), static_cast<Index>(neighbors.indices.size() / count));
    Communicator alone;
    const Clusters clusters = numbered(labels, alone);
    if (clusters.count < 2) throw BadArgument("normalised cut: there must be at least 2 clusters, there is 1");
    // An entry of A is half an edge of W at either end; the halves cancel in the quotient.
    std::vector<double> cut(clusters.count, 0.0);
    std::vector<double> volume(clusters.count, 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::size_t from = clusters.of[i];
        for (std::size_t q = 0; q < count; ++q) {
            const std::size_t to = clusters.of.at(static_cast<std::size_t>(neighbors.indices[i * count + q]));
            volume[from] += 1.0;
            volume[to] += 1.0;
            if (from == to) continue;
            cut[from] += 1.0;
            cut[to] += 1.0;
        }
    }
    double sum = 0.0;
    for (std::size_t c = 0; c < clusters.count; ++c) sum += cut[c] / volume[c];
    return sum;
}

}  // namespace coterie
