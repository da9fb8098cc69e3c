// One pass gives means and variances inside and outside of every cluster, from sums of values and squares per cluster.
// Outside is all minus inside. Values are taken relative to the first row, so that an offset costs no digits. Two more
// passes in the method's space compute the means, and then the distances to them, from differences. To find the nearest
// other mean, the triangle inequality often leaves only the neighbours of the row's own mean. Otherwise, the kernels
// score all means.
//
// Invariants: the result is the same for any number of threads and processes, and for rows in memory and rows read in
// blocks. A row of weight w counts as w copies. No reported number is NaN.

#include "coterie/pipeline/description.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/cluster_sums.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/base/text_format.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/internal/quartiles.hpp"
#include "coterie/pipeline/left_out.hpp"

namespace coterie {

using internal::at;
using internal::filled;
using internal::weight_of;

namespace {

constexpr double kTelling = 0.2;       // Cohen's small effect
constexpr std::size_t kColumns = 5;    // shown per cluster
constexpr std::size_t kRows = 3;       // typical and doubtful rows shown per cluster
constexpr std::size_t kOutliers = 10;  // rows shown
constexpr Index kMostForExact = 5000;  // rows; with more, silhouettes are simplified instead of over all pairs
constexpr double kRounding = 1e-12;    // of a column's variance; smaller values count as 0
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(PointsView rows, const std::vector<std::string>& names, std::span<const std::int32_t> labels, int clusters,
           std::span<const double> weights, const Run& run) {
    const Index own = internal::own_rows(rows, run).count();
    const auto shape = [](std::string problem, std::string option) {
        return BadArgument(Code::wrong_shape, std::move(problem), "", {.option = std::move(option)});
    };
    const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    if (rows.rows() == 0) throw BadArgument(Code::empty, "there are no rows to describe", "", {.option = "points"});
    if (count(labels) != own) throw shape(counted(count(labels), "label") + " for " + counted(own, "row"), "points");
    for (const std::int32_t label : labels)
        if (label < 0 || label >= clusters)
            throw BadArgument(Code::out_of_range, filled("label {} is not from 0 to {}", label, clusters - 1), "",
                              {.option = "points"});
    if (!names.empty() && count(names) != rows.columns())
        throw shape(counted(count(names), "column name") + " for " + counted(rows.columns(), "column"), "points");
    if (weights.empty()) return;
    if (count(weights) != rows.rows())
        throw shape(counted(count(weights), "weight") + " for " + counted(rows.rows(), "row"), "weights");
    double total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] >= 0) || !std::isfinite(weights[i]))
            throw BadArgument(
                Code::not_accepted, to_text(weights[i]) + " is not accepted", "Use finite numbers, at least 0",
                {.option = "weights", .value = to_text(weights[i]), .row = static_cast<std::int64_t>(i) + 1});
        total += weights[i];
    }
    if (!(total > 0))
        throw BadArgument(Code::not_accepted, "all weights are 0", "Give at least one row a weight above 0",
                          {.option = "weights"});
}

// Per cluster: the weight, the number of rows, and for each column the sum and the sum of squares relative to `origin`.
struct ClusterMoments {
    Vector<double> origin;          // d
    std::vector<double> weight;     // k
    std::vector<Index> rows;        // k, of weight above 0
    Matrix<double> sum, squares;    // k x d
    Matrix<double> means() const {  // k x d; an empty cluster has the origin
        Matrix<double> out(sum.rows(), sum.cols());
        for (Index j = 0; j < out.rows(); ++j)
            for (Index p = 0; p < out.cols(); ++p)
                out(j, p) = origin[p] + (weight[at(j)] > 0 ? sum(j, p) / weight[at(j)] : 0);
        return out;
    }
};

ClusterMoments cluster_moments(PointsView points, std::span<const std::int32_t> labels, Index clusters,
                               std::span<const double> weights, const Run& run) {
    const Index d = points.columns();
    const internal::Range own = internal::own_rows(points, run);
    const Index first = 0;
    const Points origin_row = internal::gather_rows(points, std::span(&first, 1), run);
    ClusterMoments out{.origin = Vector<double>(d),
                       .weight = std::vector<double>(at(clusters), 0.0),
                       .rows = std::vector<Index>(at(clusters), 0),
                       .sum = Matrix<double>::Zero(clusters, d),
                       .squares = Matrix<double>::Zero(clusters, d)};
    for (Index p = 0; p < d; ++p) out.origin[p] = origin_row.view().at(0, p);
    // Per cluster: the sums, the sums of squares, the number of rows.
    const internal::ClusterSumLayout layout(clusters, 2 * d + 1);
    internal::BlockSums sums = layout.block_sums();
    const Stage stage{.name = "moments", .operations = 4.0 * static_cast<double>(points.rows() * d)};
    const auto total = points.with_scalar([&]<class Scalar>() {
        const auto& kernels = internal::kernels<Scalar>();
        return sums.over<Scalar>(points, run, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
            for (Index i = 0; i < block.rows.rows; ++i) {
                const Index row = block.first + i;
                const double weight = weight_of(weights, row);
                if (!(weight > 0)) continue;
                const Index j = labels[at(row - own.begin)];
                double* const to = layout.touch(sum, j);
                layout.weight(sum, j) += weight;
                to[2 * d] += 1;
                kernels.add_moments(to, to + d, block.rows.row(i), out.origin.data(), weight, d);
            }
        });
    });
    for (Index j = 0; j < clusters; ++j) {
        if (!layout.touched(total.data(), j)) continue;
        const double* const from = layout.sum(total.data(), j);
        out.weight[at(j)] = layout.weight(total.data(), j);
        out.rows[at(j)] = static_cast<Index>(from[2 * d]);
        std::copy_n(from, d, out.sum.row(j).data());
        std::copy_n(from + d, d, out.squares.row(j).data());
    }
    if (!out.sum.allFinite() || !out.squares.allFinite()) check_points(points, given_points(), run);
    return out;
}

// Presents rows that only this process holds (an embedding) as a part of all rows.
class OwnRows : public RowSource {
public:
    OwnRows(Matrix<double> own, Index first, Index rows) : own_(std::move(own)), first_(first), rows_(rows) {}
    Index rows() const override { return rows_; }
    Index columns() const override { return own_.cols(); }
    ScalarType scalar() const override { return ScalarType::float64; }
    void read(Index begin, Index end, void* to) const override {
        std::copy_n(own_.data() + (begin - first_) * own_.cols(), (end - begin) * own_.cols(),
                    static_cast<double*>(to));
    }
    const void* in_memory(Index begin, Index) const override { return own_.data() + (begin - first_) * own_.cols(); }

private:
    Matrix<double> own_;
    Index first_, rows_;
};

// The model's results for this process's rows that are not left out.
struct Seen {
    Labels labels;
    std::vector<double> membership;      // in the row's own cluster; empty: the method has none
    std::vector<double> lead;            // of the own membership over the next largest
    std::vector<double> outlier_scores;  // empty: the pipeline has none
    std::optional<Points> embedding;
};

Seen seen_by(const Pipeline& pipeline, PreparedRows prepared, const Labels* labels, const Run& run) {
    prepared.left_out.clear();
    const PointsView points = prepared.points;
    const internal::Range own = internal::own_rows(points, run);
    Wanted wanted{.labels = labels == nullptr, .outputs = {}};
    const auto want = [&](Output which) {
        if (pipeline.has(which)) wanted.outputs.push_back(which);
        return pipeline.has(which);
    };
    const bool memberships = want(Output::memberships);
    const bool embeds = want(Output::embedding);
    const bool scores = want(Output::outlier_score);
    Seen out;
    if (labels != nullptr) out.labels = *labels;
    if (!wanted.labels && wanted.outputs.empty()) return out;
    Matrix<double> embedding;
    if (embeds) {
        const Index columns = pipeline.model().output_columns(Output::embedding);
        require_memory(internal::double_product(8, own.count(), columns), "the rows' embedding");
        embedding.resize(own.count(), columns);
    }
    pipeline.apply(prepared, wanted, run, [&](const RowResults& results) {
        if (wanted.labels) out.labels.insert(out.labels.end(), results.labels.begin(), results.labels.end());
        if (memberships) {
            const Matrix<double>& of = results.outputs.front();
            for (Index i = 0; i < of.rows(); ++i) {
                const std::int32_t label = out.labels[out.membership.size()];
                double other = 0;
                for (Index j = 0; j < of.cols(); ++j)
                    if (j != label) other = std::max(other, of(i, j));
                const double own_share = label < 0 ? 0 : of(i, label);
                out.membership.push_back(own_share);
                out.lead.push_back(own_share - other);
            }
        }
        if (scores) {
            const Matrix<double>& of = results.outputs.back();
            out.outlier_scores.insert(out.outlier_scores.end(), of.data(), of.data() + of.size());
        }
        if (embeds) {
            const Matrix<double>& of = results.outputs[memberships ? 1 : 0];
            std::copy_n(of.data(), of.size(), embedding.data() + (results.first - own.begin) * embedding.cols());
        }
    });
    if (embeds)
        out.embedding = run.communicator().size() == 1
                            ? Points(std::move(embedding))
                            : Points(std::make_shared<const OwnRows>(std::move(embedding), own.begin, points.rows()));
    return out;
}

// Distances of this process's rows to the mean of their cluster, and s_i. A row of weight 0 has distance 0 and s_i = 1.
struct Closeness {
    std::vector<double> own;
    std::vector<double> silhouette;
    std::vector<Index> nearest;  // for each cluster with rows, the nearest other one; empty: there is only one
};

// For each mean, its nearest other means and their distances, nearest first.
std::vector<std::vector<std::pair<double, Index>>> neighbours_of(const Matrix<double>& means, std::size_t most) {
    const auto& kernels = internal::kernels<double>();
    std::vector<std::vector<std::pair<double, Index>>> out;
    for (Index a = 0; a < means.rows(); ++a) {
        std::vector<std::pair<double, Index>> all;
        for (Index b = 0; b < means.rows(); ++b)
            if (a != b)
                all.emplace_back(kernels.squared_distance(means.row(a).data(), means.row(b).data(), means.cols()), b);
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
        std::partial_sort(all.begin(), end, all.end());
        for (auto& each : out.emplace_back(all.begin(), end)) each.first = std::sqrt(each.first);
    }
    return out;
}

template <class Scalar>
Closeness closeness_of(PointsView space, const Matrix<double>& means, const std::vector<Index>& there,
                       std::span<const std::int32_t> labels, std::span<const double> weights, const Run& run) {
    constexpr Index step = 256;
    const Index d = space.columns();
    const internal::Range own = internal::own_rows(space, run);
    // Only clusters with rows have a mean.
    Matrix<double> of_rows(static_cast<Index>(there.size()), d);
    std::vector<Index> place_of(at(means.rows()), -1);
    for (Index c = 0; c < of_rows.rows(); ++c) {
        of_rows.row(c) = means.row(there[at(c)]);
        place_of[at(there[at(c)])] = c;
    }
    // Distances to more means than this are as slow as the scores of all means.
    const std::size_t few = std::min<std::size_t>(2 + there.size() / 8, 64);
    const auto neighbours = neighbours_of(of_rows, few + 1);
    const Matrix<Scalar> rounded = of_rows.template cast<Scalar>();
    const Rows<Scalar> centroids{rounded.data(), rounded.rows(), d, d};
    internal::CentroidPanels<Scalar> panels;
    panels.pack(centroids, internal::CentroidPanels<Scalar>::amid(centroids));

    struct Scratch {
        std::vector<Index> undecided;  // rows of a step
        std::vector<const Scalar*> rows;
        std::vector<Scalar> scores;
        std::vector<Scalar> least;
        std::vector<Index> other;
    };
    std::vector<Scratch> scratch(at(std::max(run.threads, 1)));
    Closeness out{std::vector<double>(at(own.count()), 0.0), std::vector<double>(at(own.count()), 1.0), {}};
    for (const auto& near : neighbours)
        if (!near.empty()) out.nearest.push_back(near[0].second);
    const auto distance = [&](const Scalar* x, Index c) {
        return std::sqrt(panels.kernels().squared_deviation(x, of_rows.row(c).data(), d));
    };
    const auto silhouette = [](double a, double b) { return std::max(a, b) > 0 ? (b - a) / std::max(a, b) : 0; };
    const Stage stage{.name = "distances",
                      .operations = static_cast<double>(space.rows()) * static_cast<double>(d * of_rows.rows())};
    internal::for_each_row_block<Scalar>(space, run, stage, [&](const internal::RowBlock<Scalar>& block, int worker) {
        Scratch& mine = scratch[at(worker)];
        for (Index begin = 0; begin < block.rows.rows; begin += step) {
            const Index first = block.first + begin - own.begin;
            const auto label = [&](Index i) { return place_of[at(labels[at(first + i)])]; };
            mine.undecided.clear();
            for (Index i = 0; i < std::min(step, block.rows.rows - begin); ++i) {
                if (!(weight_of(weights, block.first + begin + i) > 0)) continue;
                const Scalar* const x = block.rows.row(begin + i);
                const double a = out.own[at(first + i)] = distance(x, label(i));
                const auto& near = neighbours[at(label(i))];
                if (near.empty()) continue;
                double b = distance(x, near[0].second);
                if (near.size() > few && near[few].first - a < b) {
                    mine.undecided.push_back(i);
                    continue;
                }
                for (std::size_t c = 1; c < near.size() && near[c].first - a < b; ++c)
                    b = std::min(b, distance(x, near[c].second));
                out.silhouette[at(first + i)] = silhouette(a, b);
            }
            const auto count = static_cast<Index>(mine.undecided.size());
            if (count == 0) continue;
            mine.rows.clear();
            mine.other.clear();
            for (const Index i : mine.undecided) {
                mine.rows.push_back(block.rows.row(begin + i));
                mine.other.push_back(neighbours[at(label(i))][0].second);
            }
            mine.least.assign(at(count), std::numeric_limits<Scalar>::infinity());
            for (const auto& panel : panels.panels()) {
                const Index width = panels.width(panel);
                mine.scores.resize(at(count * width));
                panels.scores(panel, mine.rows.data(), count, mine.scores.data());
                for (Index r = 0; r < count; ++r) {
                    Scalar* const score = mine.scores.data() + r * width;
                    const Index same = label(mine.undecided[at(r)]) - panel.first;
                    if (same >= 0 && same < width) score[same] = std::numeric_limits<Scalar>::infinity();
                    Scalar least = mine.least[at(r)];
                    Index other = mine.other[at(r)];
                    for (Index c = 0; c < panel.centroids; ++c)
                        if (score[c] < least) {
                            least = score[c];
                            other = panel.first + c;
                        }
                    mine.least[at(r)] = least;
                    mine.other[at(r)] = other;
                }
            }
            for (Index r = 0; r < count; ++r) {
                const std::size_t to = at(first + mine.undecided[at(r)]);
                out.silhouette[to] = silhouette(out.own[to], distance(mine.rows[at(r)], mine.other[at(r)]));
            }
        }
    });
    return out;
}

// The first rows of each cluster, ordered by (key, tie, row).
struct Candidate {
    double key = 0, tie = 0;
    Index row = 0;
    Index cluster = 0;
    bool operator<(const Candidate& other) const {
        return std::tie(key, tie, row) < std::tie(other.key, other.tie, other.row);
    }
};

class FirstRows {
public:
    explicit FirstRows(Index clusters) : of_cluster_(at(clusters)) {}
    void add(const Candidate& each) {
        auto& mine = of_cluster_[at(each.cluster)];
        if (mine.size() == kRows && !(each < mine.back())) return;
        mine.insert(std::upper_bound(mine.begin(), mine.end(), each), each);
        if (mine.size() > kRows) mine.pop_back();
    }
    const std::vector<std::vector<Candidate>>& of_cluster() const { return of_cluster_; }

private:
    std::vector<std::vector<Candidate>> of_cluster_;
};

// Considers the rows of all processes; key and tie are those of this process's rows.
std::vector<std::vector<Index>> first_rows(Index clusters, const internal::Range& own,
                                           std::span<const std::int32_t> labels, std::span<const double> weights,
                                           const std::vector<double>& key, const std::vector<double>& tie,
                                           const Run& run) {
    FirstRows here(clusters);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const Index row = own.begin + static_cast<Index>(i);
        if (weight_of(weights, row) > 0) here.add({key[i], tie[i], row, labels[i]});
    }
    std::vector<Candidate> some;
    for (const auto& mine : here.of_cluster()) some.insert(some.end(), mine.begin(), mine.end());
    FirstRows everywhere(clusters);
    for (const Candidate& each : internal::gather(run.communicator(), some)) everywhere.add(each);
    std::vector<std::vector<Index>> out(at(clusters));
    for (std::size_t j = 0; j < out.size(); ++j)
        for (const Candidate& each : everywhere.of_cluster()[j]) out[j].push_back(each.row);
    return out;
}

void add_silhouettes(Description& out, PointsView space, const Labels& labels, std::span<const double> weights,
                     const ClusterMoments& moments, const std::vector<Index>& there,
                     const std::vector<double>& simplified, const Run& run) {
    if (there.size() < 2) return;
    const auto k = static_cast<Index>(out.clusters.size());
    std::vector<double> sum(at(k), 0.0);
    const Index n = space.rows();
    if (weights.empty() && n <= kMostForExact && static_cast<Index>(there.size()) < n) {
        out.silhouettes = "exact";
        const Labels all = internal::gather(run.communicator(), labels);
        std::vector<Index> rows(at(n));
        std::iota(rows.begin(), rows.end(), Index{0});
        const Points here = internal::gather_rows(space, rows, run);
        std::vector<double> values;
        internal::together(run.communicator(), [&] { values = silhouettes(here, all, run.alone()); });
        for (std::size_t i = 0; i < values.size(); ++i) sum[at(all[i])] += values[i];
    } else {
        out.silhouettes = "simplified";
        const RowBlocks grid = internal::grid_of(space);
        const internal::Range own = internal::own_rows(grid, run.communicator());
        internal::BlockSums sums(k);
        const auto total = sums(grid, run, {.name = "silhouettes"}, [&](Index block, int, double* to) {
            for (Index i = grid.begin(block); i < grid.end(block); ++i)
                to[labels[at(i - own.begin)]] += weight_of(weights, i) * simplified[at(i - own.begin)];
        });
        sum.assign(total.begin(), total.end());
    }
    for (const Index j : there) out.clusters[at(j)].silhouette = sum[at(j)] / moments.weight[at(j)];
    out.silhouette = std::accumulate(sum.begin(), sum.end(), 0.0) /
                     std::accumulate(moments.weight.begin(), moments.weight.end(), 0.0);
}

void add_nearest(Description& out, const Matrix<double>& means, const std::vector<Index>& there,
                 const std::vector<Index>& nearest) {
    double closest = kInfinity;
    for (std::size_t c = 0; c < nearest.size(); ++c) {
        const Index a = there[c], b = there[at(nearest[c])];
        out.clusters[at(a)].nearest = static_cast<int>(b);
        const double squared = (means.row(a) - means.row(b)).squaredNorm();
        if (squared >= closest) continue;
        closest = squared;
        out.closest = std::minmax(static_cast<int>(a), static_cast<int>(b));
    }
}

// The rows with the largest scores, over all processes. Of equal scores, the first row comes first.
std::vector<OutlierRow> largest(const std::vector<double>& own_scores, const internal::Range& own, const Run& run) {
    const auto before = [](const OutlierRow& a, const OutlierRow& b) {
        return std::pair(-a.score, a.row) < std::pair(-b.score, b.row);
    };
    const auto cut = [&](std::vector<OutlierRow>& rows) {
        const auto count = std::min(rows.size(), kOutliers);
        std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(), before);
        rows.resize(count);
    };
    std::vector<OutlierRow> out;
    for (std::size_t i = 0; i < own_scores.size(); ++i)
        out.push_back({own.begin + static_cast<Index>(i), own_scores[i]});
    cut(out);
    out = internal::gather(run.communicator(), out);
    cut(out);
    return out;
}

std::vector<ClusterProfile> profiles_of(const ClusterMoments& moments, const std::vector<std::string>& names,
                                        const Model& model) {
    const Index k = moments.sum.rows();
    const Index d = moments.sum.cols();
    const double weight = std::accumulate(moments.weight.begin(), moments.weight.end(), 0.0);
    const eigen::Vector<double> all_sum = moments.sum.colwise().sum().transpose();
    const eigen::Vector<double> all_squares = moments.squares.colwise().sum().transpose();
    std::vector<ClusterProfile> out(at(k));
    for (Index j = 0; j < k; ++j) {
        ClusterProfile& cluster = out[at(j)];
        const auto number = static_cast<int>(j);
        cluster.name = model.cluster_labels().empty() ? std::to_string(j) : model.cluster_labels().name_of(number);
        cluster.rows = moments.rows[at(j)];
        const double in = moments.weight[at(j)];
        cluster.share = in / weight;
        const double elsewhere = weight - in;
        if (cluster.rows == 0) continue;
        const bool has_all = std::accumulate(moments.rows.begin(), moments.rows.end(), Index{0}) == cluster.rows;
        std::vector<ColumnProfile> columns;
        for (Index p = 0; p < (has_all ? std::min(d, static_cast<Index>(kColumns)) : d); ++p) {
            const double mean_in = moments.sum(j, p) / in;
            ColumnProfile column;
            column.column = p;
            column.name = names.empty() || names[at(p)].empty() ? filled("column {}", p + 1) : names[at(p)];
            column.mean = moments.origin[p] + mean_in;
            if (has_all) {
                columns.push_back(std::move(column));
                continue;
            }
            const double mean_out = (all_sum[p] - moments.sum(j, p)) / elsewhere;
            const double all = all_squares[p] - all_sum[p] * all_sum[p] / weight;
            const double within = moments.squares(j, p) - in * mean_in * mean_in + all_squares[p] -
                                  moments.squares(j, p) - elsewhere * mean_out * mean_out;
            if (!(all > kRounding * all_squares[p])) continue;  // the column is constant
            column.elsewhere = moments.origin[p] + mean_out;
            column.difference = within > kRounding * all_squares[p] ? (mean_in - mean_out) / std::sqrt(within / weight)
                                                                    : std::copysign(kInfinity, mean_in - mean_out);
            if (std::abs(column.difference) >= kTelling) columns.push_back(std::move(column));
        }
        std::stable_sort(columns.begin(), columns.end(), [](const ColumnProfile& a, const ColumnProfile& b) {
            return std::abs(a.difference) > std::abs(b.difference);
        });
        if (columns.size() > kColumns) columns.resize(kColumns);
        cluster.columns = std::move(columns);
    }
    return out;
}

// The weights of the rows that are not left out.
std::vector<double> kept_of(std::span<const double> all, const PreparedRows& rows) {
    std::vector<double> out(all.begin(), all.end());
    internal::erase_rows(out, rows.left_out);
    return out;
}

// Columns that stand for a word have 1 / sqrt(2) in the rows with the word. Replaces their means by the share of these
// rows, without rounding errors.
void tell_shares(std::vector<ClusterProfile>& clusters, const ColumnCoding& coding) {
    const std::vector<ColumnKind> kinds = coding.kinds_out();
    const auto share = [](double& value) {
        value = std::round(std::clamp(value * std::numbers::sqrt2, 0.0, 1.0) * 1e12) / 1e12;
    };
    for (ClusterProfile& cluster : clusters)
        for (ColumnProfile& column : cluster.columns) {
            const ColumnKind kind = kinds.empty() ? ColumnKind::number : kinds[at(column.column)];
            column.is_date = kind == ColumnKind::date;
            if (kind != ColumnKind::category) continue;
            share(column.mean);
            if (column.elsewhere) share(*column.elsewhere);
            if (column.quartiles)
                for (double& each : *column.quartiles) share(each);
        }
}

// The number of noise rows of all processes.
Index noise_in(const Labels& labels, const Run& run) {
    return internal::add_up(run.communicator(), {std::ranges::count(labels, -1)}).front();
}

// Treats noise (label -1) as absent: its weight and label become 0, and the label has no meaning. Returns false if all
// rows are noise.
bool set_noise_aside(Labels& labels, std::vector<double>& weights, PointsView rows, const Run& run) {
    const internal::Range own = internal::own_rows(rows, run);
    const Index all = noise_in(labels, run);
    if (all == 0 || static_cast<Index>(labels.size()) != own.count()) return true;
    if (weights.empty()) weights.assign(at(rows.rows()), 1.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] >= 0) continue;
        labels[i] = 0;
        weights[at(own.begin) + i] = 0;
    }
    return all < rows.rows();
}

}  // namespace

// Names the column in which most rows are far.
std::optional<Message> far_rows_warning(const Pipeline& pipeline, const PreparedRows& rows_to_see, const Run& run) {
    const PointsView prepared = rows_to_see.points;
    const std::vector<std::string> names = pipeline.prepared_names();
    const Matrix<double>& range = pipeline.column_range();
    const Index d = prepared.columns();
    if (range.size() == 0) return std::nullopt;
    const std::vector<double> far = prepared.with_scalar([&]<class Scalar>() {
        std::vector<Scalar> low(at(d)), high(at(d));
        for (Index p = 0; p < d; ++p) {
            const double width = range(1, p) > range(0, p) ? range(1, p) - range(0, p) : kInfinity;
            low[at(p)] = static_cast<Scalar>(range(0, p) - width);
            high[at(p)] = static_cast<Scalar>(range(1, p) + width);
        }
        return internal::sum_blocks<Scalar>(
            prepared, d + 1, run, {.name = "far rows"}, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                for (Index i = 0; i < block.rows.rows; ++i) {
                    const Scalar* const x = block.rows.row(i);
                    int any = 0;
                    for (Index p = 0; p < d; ++p) any |= static_cast<int>((x[p] < low[at(p)]) | (x[p] > high[at(p)]));
                    if (any == 0) continue;
                    sum[d] += 1;
                    for (Index p = 0; p < d; ++p) sum[p] += x[p] < low[at(p)] || x[p] > high[at(p)] ? 1 : 0;
                }
            });
    });
    const double rows = far[at(d)];
    if (rows == 0) return std::nullopt;
    const auto most = static_cast<std::size_t>(std::max_element(far.begin(), far.begin() + d) - far.begin());
    const auto counted = [](double count) { return internal::count_text(static_cast<long long>(count)); };
    return Message{.code = Code::far_from_training,
                   .problem = counted(rows) + " of " + internal::count_text(prepared.rows()) +
                              (prepared.rows() == 1 ? " row lies"
                               : rows == 1          ? " rows lies"
                                                    : " rows lie") +
                              " outside the training data by more than the width of its range, most often in " +
                              (names.empty() ? filled("column {}", most + 1) : formats::shown(names[most])) + " (" +
                              counted(far[most]) + ")",
                   .remedy = rows == 1 ? "Do not trust its label" : "Do not trust their labels"};
}

std::vector<ClusterProfile> profile(const Pipeline& pipeline, const PreparedRows& rows, const Run& run,
                                    std::span<const double> weights) {
    Labels labels = pipeline.labels_of_prepared();
    const Model& model = pipeline.model();
    const std::vector<std::string> names = pipeline.prepared_names();
    std::vector<double> kept = kept_of(weights, rows);
    if (!set_noise_aside(labels, kept, rows.coded, run)) return {};
    check(rows.coded, names, labels, model.clusters(), kept, run);
    auto out = profiles_of(cluster_moments(rows.coded, labels, model.clusters(), kept, run), names, model);
    tell_shares(out, pipeline.coding());
    return out;
}

Description describe(const Pipeline& pipeline, const PreparedRows& prepared, const Run& run,
                     std::span<const double> all_weights, const Labels* labels) {
    const Model& model = pipeline.model();
    const int k = model.clusters();
    const Points& rows = prepared.coded;
    const std::vector<std::string> column_names = pipeline.prepared_names();
    std::vector<double> weights = kept_of(all_weights, prepared);
    Seen seen = seen_by(pipeline, prepared, labels, run);
    Labels with_noise = seen.labels;
    Description out;
    out.noise = noise_in(with_noise, run);
    const internal::Range own = internal::own_rows(rows, run);
    out.outliers = largest(seen.outlier_scores, own, run);
    for (OutlierRow& each : out.outliers) each.row = internal::number_among_all(each.row, prepared.left_out);
    out.row_outlier_scores = std::move(seen.outlier_scores);
    if (!set_noise_aside(seen.labels, weights, rows, run)) {
        out.row_silhouettes.assign(with_noise.size(), 0.0);
        out.row_labels = std::move(with_noise);
        out.warnings.push_back({.code = Code::all_noise, .problem = "all rows are noise"});
        return out;
    }
    check(rows, column_names, seen.labels, k, weights, run);
    const ClusterMoments moments = cluster_moments(rows, seen.labels, k, weights, run);
    out.clusters = profiles_of(moments, column_names, model);

    std::vector<pipeline::internal::ColumnOfCluster> wanted;
    for (Index j = 0; j < k; ++j)
        for (const auto& column : out.clusters[at(j)].columns) {
            const double weight = moments.weight[at(j)];
            const double offset = moments.sum(j, column.column) / weight;
            const double variance = moments.squares(j, column.column) / weight - offset * offset;
            wanted.push_back({j, column.column, column.mean, std::sqrt(std::max(variance, 0.0)), weight});
        }
    const auto quartiles = pipeline::internal::quartiles(rows, seen.labels, k, weights, wanted, run);
    auto next = quartiles.begin();
    for (auto& cluster : out.clusters)
        for (auto& column : cluster.columns) column.quartiles = *next++;
    tell_shares(out.clusters, pipeline.coding());

    out.space = seen.embedding                      ? "the method's own space"
                : pipeline.preparation().identity() ? "the columns as they are"
                                                    : "the columns as prepared: " + pipeline.preparation().text();
    const PointsView space = seen.embedding ? seen.embedding->view() : prepared.points.view();
    const bool same = !seen.embedding && pipeline.preparation().identity() && rows.columns() == space.columns() &&
                      rows.view().source() == space.source() && rows.view().data() == space.data();
    const Matrix<double> means = (same ? moments : cluster_moments(space, seen.labels, k, weights, run)).means();
    std::vector<Index> there;
    for (Index j = 0; j < k; ++j)
        if (moments.rows[at(j)] > 0) there.push_back(j);
    Closeness closeness = space.with_scalar(
        [&]<class Scalar>() { return closeness_of<Scalar>(space, means, there, seen.labels, weights, run); });
    std::vector<double> away = seen.membership;
    for (double& each : away) each = -each;
    const auto typical =
        first_rows(k, own, seen.labels, weights, away.empty() ? closeness.own : away, closeness.own, run);
    const auto doubtful = first_rows(k, own, seen.labels, weights, seen.lead.empty() ? closeness.silhouette : seen.lead,
                                     closeness.silhouette, run);
    for (const Index j : there) {
        out.clusters[at(j)].typical = typical[at(j)];
        if (there.size() > 1) out.clusters[at(j)].doubtful = doubtful[at(j)];
    }
    add_silhouettes(out, space, seen.labels, weights, moments, there, closeness.silhouette, run);
    add_nearest(out, means, there, closeness.nearest);
    for (auto& cluster : out.clusters)
        for (auto* const numbers : {&cluster.typical, &cluster.doubtful})
            for (Index& row : *numbers) row = internal::number_among_all(row, prepared.left_out);
    out.row_silhouettes = std::move(closeness.silhouette);
    for (std::size_t i = 0; i < with_noise.size(); ++i)
        if (with_noise[i] < 0) out.row_silhouettes[i] = 0;
    out.row_labels = std::move(with_noise);

    if (there.size() == 1 && k > 1 && rows.rows() > 1)
        out.warnings.push_back(
            {.code = Code::unbalanced_clusters,
             .problem = filled("all rows are in cluster {}, one of {}", out.clusters[at(there.front())].name, k)});
    if (auto far = far_rows_warning(pipeline, prepared, run)) out.warnings.push_back(std::move(*far));
    return out;
}

std::string ColumnProfile::text(double value) const {
    if (is_date && std::abs(value) < 1e7) {
        const std::chrono::year_month_day date{
            std::chrono::sys_days(std::chrono::days(static_cast<int>(std::floor(value))))};
        char text[32];
        std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
        return text;
    }
    if (!(std::abs(value) >= 1000 && std::abs(value) < 1e9)) return internal::formatted("%.4g", value);
    std::string out = internal::formatted("%.1f", value);
    if (out.ends_with(".0")) out.resize(out.size() - 2);
    return out;
}

std::string columns_text(const ClusterProfile& cluster, std::size_t most) {
    std::string out;
    for (std::size_t c = 0; c < std::min(most, cluster.columns.size()); ++c) {
        const ColumnProfile& column = cluster.columns[c];
        if (!column.elsewhere) break;
        out += filled("{}{}{} ({}, elsewhere {})", c == 0 ? "" : "; ", column.difference > 0 ? "high " : "low ",
                      formats::shown(column.name), column.text(column.mean), column.text(*column.elsewhere));
    }
    return out;
}

}  // namespace coterie
