// Exact: all pairs, in blocks of products of rows about the mean. Points are sorted by cluster: a row meets each
// cluster as one stretch, so that one running sum a row is all that is kept. Blocks of rows add up in their order: the
// same bits at any number of threads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "coterie/base/parallel.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {
constexpr Index kRows = 256;    // points whose silhouette one task computes
constexpr Index kOthers = 512;  // points at the other end of a block of distances

std::vector<Index> drawn_rows(Index rows, Index sample, const Run& run) {
    std::vector<Index> chosen(static_cast<std::size_t>(rows));
    std::iota(chosen.begin(), chosen.end(), Index{0});
    if (sample == 0 || sample >= rows) return chosen;
    RandomStream random = run.random("metrics.silhouette");
    for (Index i = 0; i < sample; ++i) {
        const auto other = i + static_cast<Index>(random.below(static_cast<std::uint64_t>(rows - i)));
        std::swap(chosen[static_cast<std::size_t>(i)], chosen[static_cast<std::size_t>(other)]);
    }
    chosen.resize(static_cast<std::size_t>(sample));
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

// Rows in double about `center`, with their squared norms.
struct Block {
    Matrix<double> rows;
    std::vector<double> squared_norms;

    template <class Scalar>
    void load(const Rows<Scalar>& points, std::span<const Index> chosen, const Vector<double>& center) {
        const auto count = static_cast<Index>(chosen.size());
        if (rows.rows() < count) rows.resize(count, points.columns);
        squared_norms.resize(chosen.size());
        for (Index i = 0; i < count; ++i) {
            const Scalar* const from = points.row(chosen[static_cast<std::size_t>(i)]);
            double* const to = rows.data() + i * points.columns;
            double squared = 0.0;
            for (Index p = 0; p < points.columns; ++p) {
                to[p] = static_cast<double>(from[p]) - center[p];
                squared += to[p] * to[p];
            }
            squared_norms[static_cast<std::size_t>(i)] = squared;
        }
    }
    const double* row(Index i) const { return rows.data() + i * rows.cols(); }
};

double squared_difference(const double* a, const double* b, Index columns) {
    double sum = 0.0;
    for (Index p = 0; p < columns; ++p) sum += (a[p] - b[p]) * (a[p] - b[p]);
    return sum;
}

template <class Scalar>
double mean_silhouette(const Rows<Scalar>& points, const std::vector<Index>& order, const std::vector<Index>& cluster,
                       const std::vector<Index>& sizes, const Vector<double>& center, const Run& run) {
    const auto n = static_cast<Index>(order.size());
    const RowBlocks blocks{n, kRows};
    const RowBlocks others{n, kOthers};
    struct Scratch {
        Block own;
        Block other;
        std::vector<double> products;
    };
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(1, run.threads)));
    std::vector<double> partial(static_cast<std::size_t>(blocks.count()), 0.0);
    const auto body = [&](Index block, int worker) {
        Scratch& mine = scratch[static_cast<std::size_t>(worker)];
        const Index begin = blocks.begin(block);
        const Index count = blocks.end(block) - begin;
        mine.own.load(
            points, std::span(order).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)), center);
        mine.products.resize(static_cast<std::size_t>(kRows * kOthers));
        const auto rows = static_cast<std::size_t>(count);
        std::vector<double> within(rows, 0.0);  // a: mean distance to the point's own cluster
        std::vector<double> nearest(rows,
                                    std::numeric_limits<double>::infinity());  // b: smallest mean distance to another
        std::vector<double> sum(rows, 0.0);  // of distances to the cluster being passed
        const auto close_cluster = [&](std::size_t i, Index passed) {
            const auto size = static_cast<double>(sizes[static_cast<std::size_t>(passed)]);
            if (passed == cluster[static_cast<std::size_t>(begin) + i])
                within[i] = size > 1.0 ? sum[i] / (size - 1.0) : 0.0;
            else
                nearest[i] = std::min(nearest[i], sum[i] / size);
            sum[i] = 0.0;
        };
        for (Index j = 0; j < others.count(); ++j) {
            const Index other_begin = others.begin(j);
            const Index other_count = others.end(j) - other_begin;
            mine.other.load(
                points,
                std::span(order).subspan(static_cast<std::size_t>(other_begin), static_cast<std::size_t>(other_count)),
                center);
            internal::products().float64.rows_by_rows(mine.own.rows.data(), count, points.columns,
                                                      mine.other.rows.data(), other_count, points.columns,
                                                      points.columns, mine.products.data(), kOthers);
            for (Index i = 0; i < count; ++i) {
                const auto at = static_cast<std::size_t>(i);
                const double norm = mine.own.squared_norms[at];
                double* const product = mine.products.data() + i * kOthers;
                // The product form loses digits where points are near to each other beside their norms: those pairs are
                // done directly.
                for (Index q = 0; q < other_count; ++q) {
                    const double norms = norm + mine.other.squared_norms[static_cast<std::size_t>(q)];
                    double squared = norms - 2.0 * product[q];
                    if (squared < 1e-2 * norms)
                        squared = squared_difference(mine.own.row(i), mine.other.row(q), points.columns);
                    product[q] = std::sqrt(squared);
                }
                for (Index q = 0; q < other_count; ++q) {
                    const Index position = other_begin + q;
                    if (position != begin + i) sum[at] += product[q];
                    const Index passed = cluster[static_cast<std::size_t>(position)];
                    if (position + 1 == n || cluster[static_cast<std::size_t>(position + 1)] != passed)
                        close_cluster(at, passed);
                }
            }
        }
        double total = 0.0;
        for (std::size_t i = 0; i < rows; ++i) {
            const double larger = std::max(within[i], nearest[i]);
            const bool alone = sizes[static_cast<std::size_t>(cluster[static_cast<std::size_t>(begin) + i])] == 1;
            if (!alone && larger > 0.0) total += (nearest[i] - within[i]) / larger;
        }
        partial[static_cast<std::size_t>(block)] = total;
    };
    // In waves, so that the caller is asked now and then whether to go on.
    const Index wave = 64;
    for (Index first = 0; first < blocks.count(); first += wave) {
        run.throw_if_stopped("silhouette");
        for_each_block(std::min(wave, blocks.count() - first), run.threads,
                       [&](Index block, int worker) { body(first + block, worker); });
        run.report({.stage = "silhouette",
                    .fraction = static_cast<double>(std::min(blocks.count(), first + wave)) /
                                static_cast<double>(blocks.count()),
                    .objective = std::numeric_limits<double>::quiet_NaN()});
    }
    double total = 0.0;
    for (const double part : partial) total += part;
    return total / static_cast<double>(n);
}
}  // namespace

double silhouette(PointsView points, LabelSpan labels, const Run& run, Index sample) {
    const Index n = points.rows();
    if (static_cast<Index>(labels.size()) != n)
        throw BadArgument("silhouette: labels and points must be equally many: " + std::to_string(labels.size()) +
                          " labels, " + std::to_string(n) + " points");
    if (sample < 0)
        throw BadArgument("silhouette: sample must be at least 0 (0: every point), given " + std::to_string(sample));
    std::vector<Index> order = drawn_rows(n, sample, run);
    std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) {
        return labels[static_cast<std::size_t>(i)] < labels[static_cast<std::size_t>(j)];
    });
    std::vector<Index> cluster(order.size());
    std::vector<Index> sizes;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || labels[static_cast<std::size_t>(order[i])] != labels[static_cast<std::size_t>(order[i - 1])])
            sizes.push_back(0);
        cluster[i] = static_cast<Index>(sizes.size()) - 1;
        ++sizes.back();
    }
    if (sizes.size() < 2 || sizes.size() >= order.size())
        throw BadArgument("silhouette: there must be 2 to " + std::to_string(static_cast<Index>(order.size()) - 1) +
                          " clusters among the " + std::to_string(order.size()) + " points, there are " +
                          std::to_string(sizes.size()));
    const Vector<double> center = mean(points, run);
    return points.visit([&](auto rows) { return mean_silhouette(rows, order, cluster, sizes, center, run); });
}

}  // namespace coterie
