// Exact: computes the distances of all pairs, in blocks, by products of rows minus the mean. Points are sorted by
// cluster, so the distances of a row to one cluster come one after another and need only one running sum. Sums of
// blocks are added in order, so the bits are the same for any number of threads. Points that are not resident, and
// points of several processes, are first gathered in memory (only the sample). Then each process computes the same.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

constexpr Index kRows = 256;    // points per task
constexpr Index kOthers = 512;  // points on the other side of a block of distances

// Rows in double relative to `center`, with their squared norms.
struct Block {
    Matrix<double> rows;
    std::vector<double> squared_norms;

    template <class Scalar>
    void load(const Rows<Scalar>& points, std::span<const Index> chosen, const Vector<double>& center) {
        const auto count = static_cast<Index>(chosen.size());
        if (rows.rows() < count) rows.resize(count, points.columns);
        squared_norms.resize(chosen.size());
        for (Index i = 0; i < count; ++i) {
            const Scalar* const from = points.row(chosen[at(i)]);
            double* const to = rows.data() + i * points.columns;
            double squared = 0.0;
            for (Index p = 0; p < points.columns; ++p) {
                to[p] = static_cast<double>(from[p]) - center[p];
                squared += to[p] * to[p];
            }
            squared_norms[at(i)] = squared;
        }
    }
    const double* row(Index i) const { return rows.data() + i * rows.cols(); }
};

double squared_difference(const double* a, const double* b, Index columns) {
    double sum = 0.0;
    for (Index p = 0; p < columns; ++p) sum += (a[p] - b[p]) * (a[p] - b[p]);
    return sum;
}

// Returns the sum of the silhouettes and writes each of them to `of_place`, in the order of `order`.
template <class Scalar>
double silhouette_sum(const Rows<Scalar>& points, const std::vector<Index>& order, const std::vector<Index>& cluster,
                      const std::vector<Index>& sizes, const Vector<double>& center, const Run& run,
                      std::vector<double>& of_place) {
    const auto n = static_cast<Index>(order.size());
    const RowBlocks blocks{n, kRows};
    const RowBlocks others{n, kOthers};
    struct Scratch {
        Block own;
        Block other;
        std::vector<double> products;
    };
    std::vector<Scratch> scratch(at(std::max(1, run.threads)));
    std::vector<double> partial(at(blocks.count()), 0.0);
    const auto body = [&](Index block, int worker) {
        Scratch& mine = scratch[at(worker)];
        const Index begin = blocks.begin(block);
        const Index count = blocks.end(block) - begin;
        mine.own.load(points, std::span(order).subspan(at(begin), at(count)), center);
        mine.products.resize(at(kRows * kOthers));
        const auto rows = at(count);
        std::vector<double> within(rows, 0.0);  // a: mean distance to the other points of the own cluster
        std::vector<double> nearest(rows,
                                    std::numeric_limits<double>::infinity());  // b: smallest mean distance to another
        std::vector<double> sum(rows, 0.0);  // sum of distances to the current cluster
        const auto close_cluster = [&](std::size_t i, Index passed) {
            const auto size = static_cast<double>(sizes[at(passed)]);
            if (passed == cluster[at(begin) + i])
                within[i] = size > 1.0 ? sum[i] / (size - 1.0) : 0.0;
            else
                nearest[i] = std::min(nearest[i], sum[i] / size);
            sum[i] = 0.0;
        };
        for (Index j = 0; j < others.count(); ++j) {
            const Index other_begin = others.begin(j);
            const Index other_count = others.end(j) - other_begin;
            mine.other.load(points, std::span(order).subspan(at(other_begin), at(other_count)), center);
            internal::products().float64.rows_by_rows(mine.own.rows.data(), count, points.columns,
                                                      mine.other.rows.data(), other_count, points.columns,
                                                      points.columns, mine.products.data(), kOthers);
            for (Index i = 0; i < count; ++i) {
                const auto r = at(i);
                const double norm = mine.own.squared_norms[r];
                double* const product = mine.products.data() + i * kOthers;
                // The product form of a distance that is small compared with the norms has lost digits.
                for (Index q = 0; q < other_count; ++q) {
                    const double norms = norm + mine.other.squared_norms[at(q)];
                    double squared = norms - 2.0 * product[q];
                    if (squared < 1e-2 * norms)
                        squared = squared_difference(mine.own.row(i), mine.other.row(q), points.columns);
                    product[q] = std::sqrt(squared);
                }
                for (Index q = 0; q < other_count; ++q) {
                    const Index position = other_begin + q;
                    if (position != begin + i) sum[r] += product[q];
                    const Index passed = cluster[at(position)];
                    if (position + 1 == n || cluster[at(position + 1)] != passed) close_cluster(r, passed);
                }
            }
        }
        double total = 0.0;
        for (std::size_t i = 0; i < rows; ++i) {
            const double larger = std::max(within[i], nearest[i]);
            const bool alone = sizes[at(cluster[at(begin) + i])] == 1;
            double& own = of_place[at(begin) + i];
            if (!alone && larger > 0.0) own = (nearest[i] - within[i]) / larger;
            total += own;
        }
        partial[at(block)] = total;
    };
    // In groups of tasks, to ask the run in between whether to stop.
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
    return total;
}

// The silhouettes of the sampled points, and their sum.
struct Silhouettes {
    double sum = 0;
    std::vector<double> values;
};

Silhouettes silhouettes_of(PointsView points, LabelSpan labels, const Run& run, Index sample) {
    const Index n = points.rows();
    const internal::Range own = internal::own_rows(points, run);
    if (static_cast<Index>(labels.size()) != own.count())
        throw BadArgument(Code::wrong_shape,
                          "silhouette: " + counted(static_cast<Index>(labels.size()), "label") + " for " +
                              counted(own.count(), "row"),
                          "Give one label per row");
    if (sample < 0)
        throw BadArgument(Code::not_accepted, filled("silhouette: a sample of {} rows is not accepted", sample),
                          "Use a positive number, or 0 for all rows",
                          {.value = std::to_string(sample), .accepted = "at least 0"});
    RandomStream random = run.random("metrics.silhouette");
    std::vector<Index> order = sample_rows(n, sample == 0 ? n : sample, random);
    Labels drawn;  // the labels of all processes for `order`, one process after another
    for (const Index i : order)
        if (own.has(i)) drawn.push_back(labels[at(i - own.begin)]);
    drawn = internal::gather(run.communicator(), drawn);
    const bool gathers = !points.resident() || run.communicator().size() > 1;
    if (gathers)
        require_memory(static_cast<double>(order.size()) * static_cast<double>(points.columns()) *
                           static_cast<double>(size_of(points.scalar())),
                       filled("the silhouette of {} rows, all in memory,", order.size()));
    const Vector<double> center = mean(points, run);
    Points gathered;
    if (gathers) {
        gathered = internal::gather_rows(points, order, run);
        points = gathered;
    }
    // From here on `place` holds positions in `order`, sorted by label.
    std::vector<Index> place(order.size());
    std::iota(place.begin(), place.end(), Index{0});
    std::stable_sort(place.begin(), place.end(), [&](Index i, Index j) { return drawn[at(i)] < drawn[at(j)]; });
    std::vector<Index> cluster(order.size());
    std::vector<Index> sizes;
    for (std::size_t i = 0; i < place.size(); ++i) {
        const auto label = [&](std::size_t r) { return drawn[at(place[r])]; };
        if (i == 0 || label(i) != label(i - 1)) sizes.push_back(0);
        cluster[i] = static_cast<Index>(sizes.size()) - 1;
        ++sizes.back();
    }
    if (sizes.size() < 2 || sizes.size() >= order.size())
        throw BadArgument(Code::not_accepted,
                          "silhouette needs at least 2 clusters and fewer clusters than rows: there are " +
                              counted(static_cast<Index>(sizes.size()), "cluster") + " in " +
                              counted(static_cast<Index>(order.size()), "row"),
                          "",
                          {.value = std::to_string(sizes.size()),
                           .accepted = filled("from 2 to {}", static_cast<Index>(order.size()) - 1)});
    std::vector<std::size_t> place_of_value(place.begin(), place.end());
    if (!gathers)
        for (Index& i : place) i = order[at(i)];
    Silhouettes out;
    std::vector<double> of_place(place.size(), 0.0);
    internal::together(run.communicator(), [&] {
        out.sum = points.visit(
            [&](auto rows) { return silhouette_sum(rows, place, cluster, sizes, center, run.alone(), of_place); });
    });
    out.values.resize(place.size());
    for (std::size_t i = 0; i < place.size(); ++i) out.values[place_of_value[i]] = of_place[i];
    return out;
}
}  // namespace

double silhouette(PointsView points, LabelSpan labels, const Run& run, Index sample) {
    const Silhouettes all = silhouettes_of(points, labels, run, sample);
    return all.sum / static_cast<double>(all.values.size());
}

std::vector<double> silhouettes(PointsView points, LabelSpan labels, const Run& run) {
    return silhouettes_of(points, labels, run, 0).values;
}

}  // namespace coterie
