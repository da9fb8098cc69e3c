// The scatter ratio is summed about the mean of all points, row after row on one thread. The cut counts halves of edges
// in whole numbers, so that nothing is rounded before the quotient.

#include <algorithm>
#include <limits>
#include <string>

#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {

struct Clusters {
    std::vector<std::size_t> of;  // 0.. in the order of the labels' values
    std::size_t count = 0;
};

Clusters numbered(LabelSpan labels) {
    std::vector<std::int32_t> distinct(labels.begin(), labels.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
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
    require_as_many("scatter ratio", labels.size(), points.rows());
    const Clusters clusters = numbered(labels);
    const Vector<double> middle = mean(points, run);
    return points.visit([&](auto rows) {
        // About the mean of all, so that points far from 0 lose no digits.
        Matrix<double> means = Matrix<double>::Zero(static_cast<Index>(clusters.count), rows.columns);
        std::vector<double> sizes(clusters.count, 0.0);
        for (Index i = 0; i < rows.rows; ++i) {
            const auto cluster = clusters.of[static_cast<std::size_t>(i)];
            sizes[cluster] += 1.0;
            double* const sum = means.data() + static_cast<Index>(cluster) * rows.columns;
            for (Index j = 0; j < rows.columns; ++j) sum[j] += static_cast<double>(rows.row(i)[j]) - middle[j];
        }
        for (std::size_t c = 0; c < clusters.count; ++c) means.row(static_cast<Index>(c)) /= sizes[c];
        double within = 0.0;
        double total = 0.0;
        for (Index i = 0; i < rows.rows; ++i) {
            const double* const own =
                means.data() + static_cast<Index>(clusters.of[static_cast<std::size_t>(i)]) * rows.columns;
            for (Index j = 0; j < rows.columns; ++j) {
                const double x = static_cast<double>(rows.row(i)[j]) - middle[j];
                within += (x - own[j]) * (x - own[j]);
                total += x * x;
            }
        }
        return total > 0.0 ? within / total : std::numeric_limits<double>::quiet_NaN();
    });
}

double normalized_cut(const Neighbors& neighbors, LabelSpan labels) {
    const auto count = static_cast<std::size_t>(neighbors.count);
    if (count == 0) throw BadArgument("normalised cut: there must be at least one neighbour a point");
    require_as_many("normalised cut", labels.size(), static_cast<Index>(neighbors.indices.size() / count));
    const Clusters clusters = numbered(labels);
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
