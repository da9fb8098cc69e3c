// The first pass over blocks of rows finds the mean of all points, and sums are taken about it, so points far from 0
// lose no digits. Two more passes give the clusters' means and then the scatter about them. Davies-Bouldin distances
// and the mixture's densities take another pass. The cut counts half edges, so nothing is rounded before the division.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/criteria.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

struct Clusters {
    std::vector<std::size_t> of;  // 0, 1, ... in the order of the labels' values, for this process's points
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
        out.of.push_back(at(std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin()));
    return out;
}

void require_as_many(std::string_view what, std::size_t labels, Index points) {
    if (static_cast<Index>(labels) != points || labels == 0)
        throw BadArgument(
            labels == 0 && points == 0 ? Code::empty : Code::wrong_shape,
            filled("{}: {} for {}", what, counted(static_cast<Index>(labels), "label"), counted(points, "row")),
            "Give one label per row and at least one row");
}

}  // namespace

namespace {

// The clusters' means relative to the mean of all points, and the scatter about both. Sums are over all processes.
struct Partition {
    internal::Range own;  // this process's rows
    Clusters clusters;
    Vector<double> middle;     // d
    std::vector<double> mean;  // k x d, minus the overall mean
    std::vector<double> size;  // k
    double within = 0;         // sum_i || x_i - m_{a_i} ||^2
    double total = 0;          // sum_i || x_i - m ||^2

    Partition(std::string_view what, PointsView points, LabelSpan labels, const Run& run)
        : own(internal::own_rows(points, run)) {
        // A process may have no rows.
        if (points.rows() == 0 || own.count() > 0 || !labels.empty()) require_as_many(what, labels.size(), own.count());
        clusters = numbered(labels, run.communicator());
        middle = coterie::mean(points, run);
        const Index k = count();
        const Index d = points.columns();
        points.with_scalar([&]<class Scalar>() {
            mean = internal::sum_blocks<Scalar>(  // k x d, then k sizes
                points, k * (d + 1), run, stage(points, 2),
                [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                    for (Index i = 0; i < block.rows.rows; ++i) {
                        const Index cluster = of(block.first + i);
                        sum[k * d + cluster] += 1.0;
                        for (Index j = 0; j < d; ++j)
                            sum[cluster * d + j] += static_cast<double>(block.rows.row(i)[j]) - middle[j];
                    }
                });
            size.assign(mean.end() - k, mean.end());
            mean.resize(at(k * d));
            for (Index c = 0; c < k; ++c)
                for (Index j = 0; j < d; ++j) mean[at(c * d + j)] /= size[at(c)];
            const std::vector<double> scatter = internal::sum_blocks<Scalar>(
                points, 2, run, stage(points, 3), [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                    for (Index i = 0; i < block.rows.rows; ++i) {
                        const double* const its = mean_of(of(block.first + i));
                        for (Index j = 0; j < d; ++j) {
                            const double x = static_cast<double>(block.rows.row(i)[j]) - middle[j];
                            sum[0] += (x - its[j]) * (x - its[j]);
                            sum[1] += x * x;
                        }
                    }
                });
            within = scatter[0];
            total = scatter[1];
        });
    }

    Index count() const { return static_cast<Index>(clusters.count); }
    Index of(Index row) const { return static_cast<Index>(clusters.of[at(row - own.begin)]); }
    const double* mean_of(Index cluster) const { return mean.data() + cluster * middle.size(); }
    double squared_distance(Index a, Index b) const {
        double sum = 0.0;
        for (Index j = 0; j < middle.size(); ++j)
            sum += (mean_of(a)[j] - mean_of(b)[j]) * (mean_of(a)[j] - mean_of(b)[j]);
        return sum;
    }
    // The distance from a stored row of points to a mean.
    template <class Scalar>
    double squared_distance(const Scalar* row, Index cluster) const {
        const double* const its = mean_of(cluster);
        double sum = 0.0;
        for (Index j = 0; j < middle.size(); ++j) {
            const double x = static_cast<double>(row[j]) - middle[j] - its[j];
            sum += x * x;
        }
        return sum;
    }
    static Stage stage(PointsView points, Index factor) {
        return {.name = "scatter", .operations = static_cast<double>(factor * points.rows() * points.columns())};
    }
};

void require_clusters(std::string_view what, Index clusters, Index points) {
    if (clusters < 2 || clusters >= points)
        throw BadArgument(Code::not_accepted,
                          filled("{} needs at least 2 clusters and fewer clusters than rows: there are {} in {}", what,
                                 counted(clusters, "cluster"), counted(points, "row")),
                          "", {.value = std::to_string(clusters), .accepted = filled("from 2 to {}", points - 1)});
}

}  // namespace

double scatter_ratio(PointsView points, LabelSpan labels, const Run& run) {
    const Partition partition("scatter ratio", points, labels, run);
    return partition.total > 0.0 ? partition.within / partition.total : std::numeric_limits<double>::quiet_NaN();
}

double within_scatter(PointsView points, LabelSpan labels, const Run& run) {
    return Partition("scatter", points, labels, run).within;
}

double calinski_harabasz(PointsView points, LabelSpan labels, const Run& run) {
    const Partition partition("Calinski-Harabasz", points, labels, run);
    const Index k = partition.count();
    require_clusters("Calinski-Harabasz", k, points.rows());
    double between = 0.0;
    for (Index c = 0; c < k; ++c)
        for (Index j = 0; j < points.columns(); ++j)
            between += partition.size[at(c)] * partition.mean_of(c)[j] * partition.mean_of(c)[j];
    return between / static_cast<double>(k - 1) / (partition.within / static_cast<double>(points.rows() - k));
}

double davies_bouldin(PointsView points, LabelSpan labels, const Run& run) {
    const Partition partition("Davies-Bouldin", points, labels, run);
    const Index k = partition.count();
    require_clusters("Davies-Bouldin", k, points.rows());
    std::vector<double> spread = points.with_scalar([&]<class Scalar>() {
        return internal::sum_blocks<Scalar>(
            points, k, run, Partition::stage(points, 2),
            [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                for (Index i = 0; i < block.rows.rows; ++i) {
                    const Index cluster = partition.of(block.first + i);
                    sum[cluster] += std::sqrt(partition.squared_distance(block.rows.row(i), cluster));
                }
            });
    });
    for (std::size_t c = 0; c < spread.size(); ++c) spread[c] /= partition.size[c];
    double sum = 0.0;
    for (Index a = 0; a < k; ++a) {
        double worst = 0.0;
        for (Index b = 0; b < k; ++b) {
            const double both = spread[at(a)] + spread[at(b)];
            // If both clusters consist of equal points, the ratio counts as 0, also instead of 0 / 0.
            if (b != a && both > 0.0) worst = std::max(worst, both / std::sqrt(partition.squared_distance(a, b)));
        }
        sum += worst;
    }
    return sum / static_cast<double>(k);
}

double spherical_mixture_bic(PointsView points, LabelSpan labels, const Run& run) {
    const Partition partition("BIC", points, labels, run);
    const Index k = partition.count();
    const auto n = static_cast<double>(points.rows());
    const auto d = static_cast<double>(points.columns());
    const double variance = partition.within / (n * d);
    std::vector<double> log_share;
    for (const double size : partition.size) log_share.push_back(std::log(size / n));
    const double constant = -0.5 * d * std::log(2.0 * std::numbers::pi * variance);
    const std::vector<double> sum = points.with_scalar([&]<class Scalar>() {
        return internal::sum_blocks<Scalar>(points, 1, run, Partition::stage(points, 3 * k),
                                            [&](const internal::RowBlock<Scalar>& block, int, double* total) {
                                                std::vector<double> term(at(k));
                                                for (Index i = 0; i < block.rows.rows; ++i) {
                                                    for (Index c = 0; c < k; ++c)
                                                        term[at(c)] = log_share[at(c)] + constant -
                                                                      partition.squared_distance(block.rows.row(i), c) /
                                                                          (2.0 * variance);
                                                    const double largest = *std::max_element(term.begin(), term.end());
                                                    double scaled = 0.0;
                                                    for (const double each : term) scaled += std::exp(each - largest);
                                                    total[0] += largest + std::log(scaled);
                                                }
                                            });
    });
    if (!(partition.within > 0.0)) return -std::numeric_limits<double>::infinity();
    const double parameters = static_cast<double>(k - 1) + static_cast<double>(k) * d + 1.0;
    return parameters * std::log(n) - 2.0 * sum[0];
}

double prediction_strength(LabelSpan labels, LabelSpan predicted) {
    const ContingencyTable table = contingency_table(predicted, labels);  // rows: predicted, columns: labels
    double least = 1.0;
    for (Index cluster = 0; cluster < table.counts.cols(); ++cluster) {
        double together = 0.0;
        double size = 0.0;
        for (Index other = 0; other < table.counts.rows(); ++other) {
            const auto count = static_cast<double>(table.counts(other, cluster));
            together += count * (count - 1.0);
            size += count;
        }
        if (size > 1.0) least = std::min(least, together / (size * (size - 1.0)));
    }
    return least;
}

double normalized_cut(const Neighbors& neighbors, LabelSpan labels) {
    const auto count = at(neighbors.count);
    if (count == 0)
        throw BadArgument(Code::not_accepted,
                          "normalised cut: the rows have no neighbours; at least 1 per row is needed");
    require_as_many("normalised cut", labels.size(), static_cast<Index>(neighbors.indices.size() / count));
    Communicator alone;
    const Clusters clusters = numbered(labels, alone);
    if (clusters.count < 2)
        throw BadArgument(Code::not_accepted, "normalised cut: there is 1 cluster; at least 2 are needed");
    // An entry of A adds 1/2 to an edge of W and to the degrees of both ends. The factor 1/2 cancels in the quotient.
    std::vector<double> cut(clusters.count, 0.0);
    std::vector<double> volume(clusters.count, 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::size_t from = clusters.of[i];
        for (std::size_t q = 0; q < count; ++q) {
            const std::size_t to = clusters.of.at(at(neighbors.indices[i * count + q]));
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
