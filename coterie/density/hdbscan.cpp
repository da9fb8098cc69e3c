// The fit: spanning tree, condensed tree, selection. The model stores the tree as distances, never as densities, which
// may be infinite. After load, labels, exemplars and least distances are computed from the tree again, so a file cannot
// contradict itself. The ratio of the densities 1/a and 1/b is b / a, or 1 if both distances are 0.

#include "coterie/density/hdbscan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "coterie/base/checks.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/density/internal/condensed_tree.hpp"
#include "coterie/density/internal/row_tree.hpp"
#include "coterie/density/internal/spanning_tree.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/centred_rows.hpp"
#include "coterie/linalg/neighbors.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

constexpr double infinity = std::numeric_limits<double>::infinity();

// (1 / over) / (1 / under): under / over, at most 1.
double share(double under, double over) { return over > under ? under / over : 1; }

}  // namespace

const OptionSet& HdbscanOptions::described() {
    using Options = HdbscanOptions;
    static const OptionSet set =
        OptionSetFor<Options>()
            .integer("min_cluster_size", &Options::min_cluster_size, at_least(2),
                     "smallest number of rows in a cluster; smaller sets of rows are noise")
            .integer<int>("min_samples", &Options::min_samples, at_least(1),
                          "number of neighbours that defines density; larger values give more noise",
                          "`min_cluster_size`")
            .choice("cluster_selection_method", &Options::cluster_selection_method, {"eom", "leaf"},
                    "which clusters of the tree are selected: the most persistent ones (eom, excess of mass), or those "
                    "that split no further (leaf), which are more and smaller")
            .real("cluster_selection_epsilon", &Options::cluster_selection_epsilon, at_least(0),
                  "clusters that separate only below this distance stay one cluster; larger values give fewer clusters")
            .flag("allow_single_cluster", &Options::allow_single_cluster,
                  "allow one cluster of all rows as the result");
    return set;
}

void HdbscanModel::derive(const Run& run) {
    const density::internal::CondensedTree tree{
        .parent = parent_, .birth = birth_, .row_cluster = row_cluster_, .row_distance = row_distance_};
    const density::internal::Selection selection{.leaves = options_.cluster_selection_method == ClusterSelection::leaf,
                                                 .least_birth = options_.cluster_selection_epsilon,
                                                 .root = options_.allow_single_cluster};
    std::vector<std::int32_t> number = density::internal::select_clusters(tree, selection);
    Labels found = density::internal::labels_of(tree, number, selection);
    // Numbers clusters by their lowest row.
    std::vector<std::int32_t> renumbered(at(*std::max_element(number.begin(), number.end()) + 1), -1);
    clusters_ = 0;
    for (auto& label : found) {
        if (label < 0) continue;
        std::int32_t& to = renumbered[at(label)];
        if (to < 0) to = clusters_++;
        label = to;
    }
    row_labels_ = std::move(found);
    label_.assign(number.size(), -1);
    selected_.assign(at(clusters_), -1);
    for (std::size_t c = 0; c < number.size(); ++c) {
        if (number[c] >= 0)
            label_[c] = renumbered[at(number[c])];
        else if (c > 0)
            label_[c] = label_[at(parent_[c])];
        if (number[c] >= 0 && label_[c] >= 0) selected_[at(label_[c])] = static_cast<std::int32_t>(c);
    }
    least_ = tree.least_distances();
    least_below_ = tree.least_distances_below();
    root_stays_ = selection.least_birth > 0 ? selection.least_birth : least_[0];
    std::vector<std::uint8_t> parted(parent_.size(), 0);
    for (std::size_t c = 1; c < parent_.size(); ++c) parted[at(parent_[c])] = 1;
    exemplars_.assign(at(clusters_), {});
    for (std::size_t i = 0; i < row_cluster_.size(); ++i) {
        const std::size_t c = at(row_cluster_[i]);
        if (label_[c] >= 0 && parted[c] == 0 && !(row_distance_[i] > least_[c]))
            exemplars_[at(label_[c])].push_back(static_cast<Index>(i));
    }
    if (points_.columns() <= density::internal::columns_for_boxes)
        rows_ = std::make_shared<const density::internal::RowTree>(points_, 16, run);
}

std::vector<HdbscanModel::Place> HdbscanModel::places_of(PointsView points, const Run& run) const {
    const Index n = points_.rows();
    const Index count = std::min<Index>(n, 2 * Index{*options_.min_samples});
    const Index core = std::min<Index>(*options_.min_samples, n) - 1;
    std::vector<Place> out(at(points.rows()));
    const auto place = [&](const auto& near) {  // near(j): the j-th nearest row and its squared distance
        const auto [nearest, squared_to_nearest] = near(0);
        if (!(squared_to_nearest > 0)) return Place{row_cluster_[at(nearest)], row_distance_[at(nearest)], nearest};
        const double own = std::sqrt(near(core).second);
        double least = infinity;
        Index best = nearest;
        for (Index j = 0; j < count; ++j) {
            const auto [row, squared] = near(j);
            const double reached = std::max({own, core_distances_[at(row)], std::sqrt(squared)});
            if (reached < least) {
                least = reached;
                best = row;
            }
        }
        Place found{row_cluster_[at(best)], std::max(least, row_distance_[at(best)]), -1};
        while (found.cluster > 0 && birth_[at(found.cluster)] <= least) found.cluster = parent_[at(found.cluster)];
        return found;
    };
    if (rows_) {
        const RowBlocks blocks{points.rows(), 256};
        for_each_block(blocks.count(), run, {"nearest neighbours"}, [&](Index block, int) {
            std::vector<double> x(at(points.columns()));
            std::vector<density::internal::RowTree::Near> found;
            points.visit([&](const auto& rows) {
                for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                    std::copy_n(rows.row(i), rows.columns, x.data());
                    rows_->nearest(x.data(), count, -1, found);
                    for (auto& each : found) each.place = rows_->order()[at(each.place)];
                    std::sort(found.begin(), found.end());  // ties by row
                    out[at(i)] = place([&](Index j) { return std::pair(found[at(j)].place, found[at(j)].squared); });
                }
            });
        });
        return out;
    }
    const Neighbors found = nearest_neighbors(points_, points, count, run);
    for (Index i = 0; i < points.rows(); ++i)
        out[at(i)] = place([&](Index j) {
            return std::pair(Index{found.indices[at(i * count + j)]}, found.squared[at(i * count + j)]);
        });
    return out;
}

Labels HdbscanModel::predict_checked(PointsView points, const Run& run) const {
    Labels out;
    const bool root = !selected_.empty() && selected_[0] == 0;
    for (const Place& place : places_of(points, run))
        out.push_back(place.row >= 0                         ? row_labels_[at(place.row)]
                      : root && place.distance > root_stays_ ? -1
                                                             : label_[at(place.cluster)]);
    return out;
}

void HdbscanModel::memberships_of(const double* x, const Place& place, double* to) const {
    const std::size_t own = at(place.cluster);
    const auto k = at(clusters_);
    std::vector<double> nearest(k, infinity);
    points_.view().visit([&](const auto& rows) {
        for (std::size_t j = 0; j < k; ++j)
            for (const Index i : exemplars_[j])
                nearest[j] = std::min(nearest[j], internal::squared_distance(x, rows.row(i), rows.columns));
    });
    const bool on_exemplar = std::any_of(nearest.begin(), nearest.end(), [](double squared) { return squared == 0; });
    std::vector<double> parting(k);
    double largest = 0;
    for (std::size_t j = 0; j < k; ++j) {
        // The distance at which the row's cluster and cluster j separate; if one contains the other, that at which the
        // row leaves.
        std::int32_t left = place.cluster;
        std::int32_t right = selected_[j];
        std::int32_t last = -1;
        bool moved_left = false, moved_right = false;
        while (left != right) {
            std::int32_t& later = left > right ? left : right;
            (left > right ? moved_left : moved_right) = true;
            last = later;
            later = parent_[at(later)];
        }
        parting[j] = moved_left && moved_right ? birth_[at(last)] : place.distance;
        to[j] = parting[j] > 0 || least_[own] > 0 ? std::exp(-parting[j] / least_[own]) : std::exp(-1.0);
        largest = std::max(largest, to[j]);
    }
    double sum = 0;
    std::size_t closest = 0;  // the last to separate from the row; ties: the largest membership
    for (std::size_t j = 0; j < k; ++j) {
        to[j] = std::exp(to[j] - largest) * (on_exemplar ? (nearest[j] == 0 ? 1.0 : 0.0) : 1 / std::sqrt(nearest[j]));
        sum += to[j];
        if (parting[j] < parting[closest] || (parting[j] == parting[closest] && to[j] > to[closest])) closest = j;
    }
    const double in_any = share(std::min(least_[at(selected_[closest])], place.distance), parting[closest]);
    for (std::size_t j = 0; j < k; ++j) to[j] *= in_any / sum;
}

Matrix<double> HdbscanModel::output_checked(Output which, PointsView points, const Run& run) const {
    const std::vector<Place> places = places_of(points, run);
    if (which == Output::outlier_score) {
        Matrix<double> out(points.rows(), 1);
        for (Index i = 0; i < points.rows(); ++i)
            out(i, 0) = 1 - share(least_below_[at(places[at(i)].cluster)], places[at(i)].distance);
        return out;
    }
    Matrix<double> out(points.rows(), clusters_);
    const RowBlocks blocks{points.rows(), 64};
    for_each_block(blocks.count(), run, {"memberships"}, [&](Index block, int) {
        std::vector<double> x(at(points.columns()));
        points.visit([&](const auto& rows) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                std::copy_n(rows.row(i), rows.columns, x.data());
                memberships_of(x.data(), places[at(i)], out.data() + i * out.cols());
            }
        });
    });
    return out;
}

void HdbscanModel::parts(Parts& parts) {
    parts.add("points", points_, "n x d", "the rows of the training data");
    parts.add("core_distances", core_distances_, "n",
              "the distance from each row to its min_samples-th nearest neighbour", at_least(0));
    parts.add("row_cluster", row_cluster_, "n", "the last cluster of the condensed tree that contains each row",
              at_least(0));
    parts.add("row_distance", row_distance_, "n", "the distance at which each row leaves that cluster", at_least(0));
    parts.add("tree_parent", parent_, "c",
              "the parent of each cluster of the condensed tree; -1 for the first, which contains all rows",
              at_least(-1));
    parts.add("tree_birth", birth_, "c",
              "the distance at which each cluster separates from its parent; 0 for the first", at_least(0));
    parts.add("probabilities", probabilities_, "n", "the probability of each row in its cluster; 0 for noise",
              between(0, 1));
    parts.add("outlier_scores", outlier_scores_, "n", "the outlier score (GLOSH) of each row", between(0, 1));
}

HdbscanModel HdbscanModel::from(const Archive& archive) {
    const auto refuse = [&](std::string problem) {
        throw BadData(Code::malformed, std::move(problem), "", {.file = archive.source()});
    };
    HdbscanModel out;
    out.options_ = archive.options_as<HdbscanOptions>();
    if (!out.options_.min_samples) refuse("the model has no value of `min_samples`");
    out.load(archive, 0);
    const auto clusters = static_cast<std::int32_t>(out.parent_.size());
    if (out.parent_[0] != -1) refuse("part 'tree_parent' does not begin with -1, the cluster of all rows");
    for (std::int32_t c = 1; c < clusters; ++c)
        if (out.parent_[at(c)] < 0 || out.parent_[at(c)] >= c)
            refuse(filled("part 'tree_parent' is {} for cluster {}; it must be from 0 to {}", out.parent_[at(c)], c,
                          c - 1));
    for (const std::int32_t c : out.row_cluster_)
        if (c >= clusters)
            refuse(filled("part 'row_cluster' holds {}; there are {} clusters in the tree", c, clusters));
    out.derive(Run(0, 1));
    for (std::size_t j = 0; j < out.exemplars_.size(); ++j)
        if (out.exemplars_[j].empty()) refuse(filled("part 'row_cluster' leaves cluster {} without rows", j));
    return out;
}

HdbscanModel HdbscanMethod::fit(const Problem& problem, const HdbscanOptions& options, const Run& run) {
    const PointsView points = problem.points;
    internal::require_squares(check_points(points, points_of_fit(), run), 1e-100, "");
    const Index n = points.rows();
    HdbscanModel model;
    FitReport& report = model.report_;
    model.options_ = options;
    const int asked = options.min_samples.value_or(options.min_cluster_size);
    const Index used = std::max<Index>(1, std::min<Index>(asked, n - 1));
    if (options.min_samples && used < asked)
        report.warnings.push_back(
            {.code = Code::value_reduced,
             .problem = filled("{} neighbours requested, but each row has only {}, so all of them are used", asked,
                               counted(n - 1, "other")),
             .option = "min_samples",
             .value = std::to_string(asked),
             .accepted = "at most " + std::to_string(n - 1)});
    model.options_.min_samples = static_cast<int>(used);
    Stopwatch watch;
    density::internal::SpanningTree spanning;
    if (n > 1)
        spanning = density::internal::spanning_tree(points, used, run);
    else
        spanning.core = {0.0};
    report.seconds.emplace_back("spanning tree", watch.restart());
    density::internal::CondensedTree tree = density::internal::condensed_tree(spanning.edges, options.min_cluster_size);
    model.points_ = points.with_scalar([&]<class Scalar>() { return Points(to_matrix<Scalar>(points)); });
    model.core_distances_ = std::move(spanning.core);
    model.row_cluster_ = std::move(tree.row_cluster);
    model.row_distance_ = std::move(tree.row_distance);
    model.parent_ = std::move(tree.parent);
    model.birth_ = std::move(tree.birth);
    model.derive(run);
    model.labels_ = model.row_labels_;
    for (Index i = 0; i < n; ++i) {
        const double distance = model.row_distance_[at(i)];
        const std::int32_t label = model.row_labels_[at(i)];
        model.probabilities_.push_back(label < 0 ? 0 : share(model.least_[at(model.selected_[at(label)])], distance));
        model.outlier_scores_.push_back(1 - share(model.least_below_[at(model.row_cluster_[at(i)])], distance));
    }
    report.seconds.emplace_back("clusters", watch.restart());
    for (const auto& edge : spanning.edges) report.objective += edge.length;
    report.stopped = StopReason::exact;
    internal::describe_fit(report, n, points.columns(), model.labels_, model.clusters_, run);
    if (model.clusters_ == 0)
        report.warnings.push_back(
            {.code = Code::all_noise,
             .problem =
                 filled("no cluster was found, all rows are noise: there are no two separate sets of at least {} rows",
                        options.min_cluster_size),
             .remedy =
                 std::string("Lower `min_cluster_size`") +
                 (options.allow_single_cluster ? ""
                                               : ", or set `allow_single_cluster` if the rows may form one cluster")});
    return model;
}

}  // namespace coterie
