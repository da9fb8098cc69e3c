// Ward's linkage by chains of nearest neighbours on the means of clusters. It computes of the order of n^2 distances
// but keeps only the means, not n^2 distances. The merges are those of the greedy algorithm, sorted by height.

#include "coterie/kmeans/ward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

// Each cluster of the chain is the nearest neighbour of the one before, and distances fall along the chain. It ends in
// a pair of mutual nearest neighbours, which are merged. Ward's rise is reducible: a union is no closer to a third
// cluster than the closer of its two parts. The rest of the chain therefore remains a chain, and the merges are those
// of the greedy algorithm in a different order.
class Chain {
public:
    Chain(PointsView points, std::span<const double> weights, const std::vector<Index>& leaves, const Run& run)
        : run_(run), d_(points.columns()), means_(static_cast<Index>(leaves.size()), d_), active_(leaves.size()) {
        points.visit([&](const auto& rows) {
            for (std::size_t i = 0; i < leaves.size(); ++i)
                means_.row(static_cast<Index>(i)) = rows.block(leaves[i], leaves[i] + 1).template cast<double>();
        });
        for (std::size_t i = 0; i < leaves.size(); ++i) weight_[i] = internal::weight_of(weights, leaves[i]);
        std::iota(active_.begin(), active_.end(), Index{0});
        std::iota(cluster_.begin(), cluster_.end(), Index{0});
    }

    /// Returns the merges in the order found; clusters are numbered in that order.
    std::vector<Merge> operator()() {
        const auto leaves = static_cast<Index>(active_.size());
        std::vector<Merge> merges;
        std::vector<Index> chain;
        find_first_neighbours();
        while (active_.size() > 1) {
            if (chain.empty()) chain.push_back(active_.front());
            const Index top = chain.back();
            const Index before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
            const Found next = nearest(top, before);
            if (next.slot != before) {
                chain.push_back(next.slot);
                continue;
            }
            chain.resize(chain.size() - 2);
            merges.push_back(merge(std::min(top, before), std::max(top, before), next.rise,
                                   leaves + static_cast<Index>(merges.size())));
            if (merges.size() % 16 == 0) {
                run_.throw_if_stopped("agglomeration");
                const double left = static_cast<double>(active_.size()) / static_cast<double>(leaves);
                run_.report({.stage = "agglomeration",
                             .fraction = 1 - left * left,
                             .objective = std::numeric_limits<double>::quiet_NaN(),
                             .iteration = static_cast<int>(merges.size())});
            }
        }
        return merges;
    }

private:
    struct Found {
        double rise = std::numeric_limits<double>::infinity();
        Index slot = -1;
    };

    // Finds the nearest other leaf of every leaf, in tiles that stay in the cache. By reducibility, it remains the
    // leaf's nearest cluster until either of them is merged.
    void find_first_neighbours() {
        const auto leaves = static_cast<Index>(active_.size());
        first_.resize(active_.size());
        const Index tile = std::clamp<Index>(16384 / d_, 8, 512);
        const RowBlocks blocks{leaves, 64};
        for_each_block(blocks.count(), run_, {"first neighbours"}, [&](Index block, int) {
            for (Index from = 0; from < leaves; from += tile)
                for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                    Found& best = first_[at(i)];
                    for (Index j = from; j < std::min(from + tile, leaves); ++j) {
                        if (j == i) continue;
                        const double here = rise(i, j);
                        if (here < best.rise) best = {here, j};
                    }
                }
        });
    }

    // The nearest active cluster. Ties go to the previous cluster in the chain, so that the chain ends, then to the
    // lowest.
    Found nearest(Index from, Index before) {
        Found best = first_[at(from)];
        if (size_[at(from)] != 1 || size_[at(best.slot)] != 1) best = scan(from);
        if (before >= 0 && best.slot != before) {
            const double back = rise(from, before);
            if (!(best.rise < back)) best = {back, before};
        }
        return best;
    }

    // Blocks of 32 MiB: a parallel loop over less data costs more than it gains, especially on shared cores.
    Found scan(Index from) {
        const RowBlocks blocks{static_cast<Index>(active_.size()), std::max<Index>(64, (Index{1} << 22) / d_)};
        found_.assign(at(blocks.count()), {});
        for_each_block(blocks.count(), run_.threads, [&](Index block, int) {
            Found best;
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const Index slot = active_[at(i)];
                if (slot == from) continue;
                const double here = rise(from, slot);
                if (here < best.rise) best = {here, slot};
            }
            found_[at(block)] = best;
        });
        Found best;
        for (const Found& each : found_)
            if (each.rise < best.rise) best = each;
        return best;
    }

    // The order of operations does not depend on the order of a and b, so the bits are the same.
    double rise(Index a, Index b) const {
        const double low = std::min(weight_[at(a)], weight_[at(b)]);
        const double high = std::max(weight_[at(a)], weight_[at(b)]);
        return low * (high / (low + high)) * kernels_.squared_distance(means_.row(a).data(), means_.row(b).data(), d_);
    }

    // The union takes the slot of its lowest row.
    Merge merge(Index a, Index b, double rise, Index cluster) {
        Merge out;
        std::tie(out.left, out.right) = std::minmax(cluster_[at(a)], cluster_[at(b)]);
        // In exact arithmetic a union is never lower than its parts. If rounding makes it lower, it takes the height of
        // the higher part, so that sorting keeps parts first.
        out.height = std::max({std::sqrt(2 * rise), height_[at(a)], height_[at(b)]});
        out.size = size_[at(a)] + size_[at(b)];
        const double share = weight_[at(b)] / (weight_[at(a)] + weight_[at(b)]);
        means_.row(a) += share * (means_.row(b) - means_.row(a));  // equal means stay the same, bit for bit
        weight_[at(a)] += weight_[at(b)];
        size_[at(a)] = out.size;
        size_[at(b)] = 0;
        cluster_[at(a)] = cluster;
        height_[at(a)] = out.height;
        active_.erase(std::lower_bound(active_.begin(), active_.end(), b));
        return out;
    }

    const Run& run_;
    const internal::Kernels<double>& kernels_ = internal::kernels<double>();
    Index d_;
    Matrix<double> means_;
    std::vector<Index> active_;  // slots in use, ascending
    std::vector<double> weight_ = std::vector<double>(active_.size());
    std::vector<Index> size_ = std::vector<Index>(active_.size(), 1);  // leaves; 0 after a merge into another cluster
    std::vector<Index> cluster_ = std::vector<Index>(active_.size());  // number in the dendrogram
    std::vector<double> height_ = std::vector<double>(active_.size(), 0.0);  // of the merge that made the cluster
    std::vector<Found> first_;                                               // of each leaf
    std::vector<Found> found_;                                               // of each block of a scan
};

}  // namespace

Index Dendrogram::distinct() const {
    const auto apart = std::count_if(merges.begin(), merges.end(), [](const Merge& merge) { return merge.height > 0; });
    return apart + (leaves.empty() ? 0 : 1);
}

Dendrogram ward_linkage(PointsView points, std::span<const double> weights, const Run& run) {
    check_points(points, points_of_fit(), run);
    if (!weights.empty()) check_weights(weights, points.rows());
    require_memory(static_cast<double>(points.rows()) * (static_cast<double>(points.columns()) * 8 + 160),
                   "Ward's agglomeration");
    Dendrogram out;
    out.points = points.rows();
    for (Index i = 0; i < points.rows(); ++i)
        if (internal::weight_of(weights, i) > 0) out.leaves.push_back(i);
    const std::vector<Merge> found = Chain(points, weights, out.leaves, run)();

    // A stable sort: among equal heights, parts stay before their union.
    std::vector<Index> order(found.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return found[at(a)].height < found[at(b)].height; });
    const auto leaves = static_cast<Index>(out.leaves.size());
    std::vector<Index> number(out.leaves.size() + found.size());
    std::iota(number.begin(), number.end(), Index{0});
    for (std::size_t t = 0; t < order.size(); ++t) number[at(leaves + order[t])] = leaves + static_cast<Index>(t);
    for (const Index t : order) {
        Merge merge = found[at(t)];
        std::tie(merge.left, merge.right) = std::minmax(number[at(merge.left)], number[at(merge.right)]);
        out.merges.push_back(merge);
    }
    return out;
}

Labels cut(const Dendrogram& dendrogram, int clusters) {
    const auto leaves = static_cast<Index>(dendrogram.leaves.size());
    if (clusters < 1 || clusters > leaves)
        throw BadArgument(Code::not_accepted,
                          filled("{} requested from a dendrogram with {} leaves", counted(clusters, "cluster"), leaves),
                          "Use from 1 to " + std::to_string(leaves),
                          {.option = "clusters", .value = std::to_string(clusters)});
    // The lowest leaf represents a cluster; `parent` of any other leaf is a lower leaf of its cluster.
    std::vector<Index> parent(at(leaves));
    std::iota(parent.begin(), parent.end(), Index{0});
    std::vector<Index> lowest(at(2 * leaves - 1));
    std::iota(lowest.begin(), lowest.begin() + leaves, Index{0});
    for (Index t = 0; t < leaves - clusters; ++t) {
        const Merge& merge = dendrogram.merges[at(t)];
        const auto [a, b] = std::minmax(lowest[at(merge.left)], lowest[at(merge.right)]);
        lowest[at(leaves + t)] = parent[at(b)] = a;
    }
    Labels labels(at(dendrogram.points), -1);
    std::int32_t next = 0;
    for (Index i = 0; i < leaves; ++i)
        labels[at(dendrogram.leaves[at(i)])] =
            parent[at(i)] == i ? next++ : labels[at(dendrogram.leaves[at(parent[at(i)])])];
    return labels;
}

Points cluster_means(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                     const Run& run) {
    if (static_cast<Index>(labels.size()) != points.rows())
        throw BadArgument(Code::wrong_shape,
                          counted(static_cast<Index>(labels.size()), "label") + " for " + counted(points.rows(), "row"),
                          "Give one label per row", {.option = "labels"});
    if (!weights.empty()) check_weights(weights, points.rows());
    std::vector<std::vector<Index>> members(at(clusters));
    for (Index i = 0; i < points.rows(); ++i) {
        if (labels[at(i)] < -1 || labels[at(i)] >= clusters)
            throw BadArgument(Code::out_of_range, filled("label {} is not from -1 to {}", labels[at(i)], clusters - 1),
                              "", {.option = "labels", .value = std::to_string(labels[at(i)]), .row = i + 1});
        if (labels[at(i)] >= 0 && internal::weight_of(weights, i) > 0) members[at(labels[at(i)])].push_back(i);
    }
    if (members.empty() || members[0].empty())
        throw BadArgument(Code::empty, "no row with a weight above 0 has label 0", "", {.option = "labels"});
    return points.visit([&]<class T>(const Rows<T>& rows) {
        Matrix<T> means(clusters, rows.columns);
        for_each_block(clusters, run.threads, [&](Index j, int) {
            const auto& own = members[at(j)];
            if (own.empty()) return;
            // Relative to the first member, so that the mean of equal points is exactly their value.
            const Vector<double> origin = rows.block(own[0], own[0] + 1).row(0).template cast<double>().transpose();
            Vector<double> sum = Vector<double>::Zero(rows.columns);
            double total = 0;
            for (const Index i : own) {
                const double w = internal::weight_of(weights, i);
                const T* row = rows.row(i);
                for (Index p = 0; p < rows.columns; ++p) sum[p] += w * (static_cast<double>(row[p]) - origin[p]);
                total += w;
            }
            means.row(j) = (origin + sum / total).template cast<T>().transpose();
        });
        for (Index j = 1; j < clusters; ++j)
            if (members[at(j)].empty()) means.row(j) = means.row(0);
        return Points(std::move(means));
    });
}

const OptionSet& WardOptions::described() {
    using Options = WardOptions;
    static const OptionSet set = OptionSetFor<Options>()
                                     .integer("clusters", &Options::clusters, at_least(1),
                                              "number of clusters k into which the tree of merges is cut")
                                     .letter('k');
    return set;
}

namespace {

// Reports the last merges, for drawings of the tree. Leaves 0..M-1 are the clusters of a cut into M, in the order of
// their lowest rows; merge t makes M + t, as in SciPy's linkage.
void tell_top_of_tree(const Dendrogram& tree, int clusters, FitReport& report) {
    const std::size_t leaves = tree.leaves.size();
    const std::size_t top = std::min(leaves, at(std::max(clusters, 40)));
    if (top < 2) return;
    const Labels of_row = cut(tree, static_cast<int>(top));
    std::vector<double> left, right, heights, sizes(top, 0.0);
    for (const Index row : tree.leaves) ++sizes[at(of_row[at(row)])];
    // One leaf below every node.
    std::vector<std::size_t> some(2 * leaves - 1);
    for (std::size_t node = 0; node < some.size(); ++node)
        some[node] = node < leaves ? node : some[at(tree.merges[node - leaves].left)];
    const std::size_t first = leaves - top;  // number of the first reported merge
    const auto number = [&](Index node) {
        if (at(node) < leaves + first) return static_cast<double>(of_row[at(tree.leaves[some[at(node)]])]);
        return static_cast<double>(top + at(node) - leaves - first);
    };
    for (std::size_t t = first; t < tree.merges.size(); ++t) {
        left.push_back(number(tree.merges[t].left));
        right.push_back(number(tree.merges[t].right));
        heights.push_back(tree.merges[t].height);
    }
    for (auto& [name, values] :
         {std::pair{"tree_sizes", &sizes}, {"tree_left", &left}, {"tree_right", &right}, {"tree_heights", &heights}})
        report.details.emplace_back(name, std::move(*values));
}

}  // namespace

WardModel WardMethod::fit(const Problem& problem, const WardOptions& options, const Run& run) {
    const PointsView points = problem.points;
    check_clustering_input(points, options.clusters, problem.weights, run);
    Stopwatch watch;
    const Dendrogram dendrogram = ward_linkage(points, problem.weights, run);
    const double agglomeration_seconds = watch.restart();
    const Index distinct = dendrogram.distinct();
    const int found = static_cast<int>(std::min<Index>(options.clusters, distinct));
    Labels labels = cut(dendrogram, found);
    Points centroids = cluster_means(points, labels, options.clusters, problem.weights, run);

    FitReport report;
    const internal::Kernels<double>& kernels = internal::kernels<double>();
    points.visit([&]<class T>(const Rows<T>& rows) {
        const Rows<T> means = centroids.view().as<T>();
        if (dendrogram.leaves.size() < labels.size()) {
            const Labels near = nearest_centroids(points, centroids, run.threads).labels;
            for (std::size_t i = 0; i < labels.size(); ++i)
                if (labels[i] < 0) labels[i] = near[i];
        }
        const auto in_double = [](const Rows<T>& from, Index row) {
            return Vector<double>(from.block(row, row + 1).row(0).template cast<double>().transpose());
        };
        const RowBlocks blocks{rows.rows, 1024};
        std::vector<double> partial(at(blocks.count()), 0.0);
        for_each_block(blocks.count(), run.threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const Vector<double> x = in_double(rows, i);
                const Vector<double> mean = in_double(means, labels[at(i)]);
                const double squared = kernels.squared_distance(x.data(), mean.data(), rows.columns);
                partial[at(block)] += internal::weight_of(problem.weights, i) * squared;
            }
        });
        for (const double each : partial) report.objective += each;
    });
    report.stopped = StopReason::exact;
    report.empty_cluster_policy = "equal points always share a cluster; surplus clusters stay empty";
    report.seconds = {{"agglomeration", agglomeration_seconds}, {"labels", watch.seconds()}};
    internal::finish_report(report, points, labels, options.clusters, distinct, run);
    const auto carried_out = dendrogram.leaves.size() - at(found);
    report.details = {{"merge_height", carried_out > 0 ? dendrogram.merges[carried_out - 1].height : 0.0},
                      {"next_height", found > 1 ? dendrogram.merges[carried_out].height : 0.0}};
    tell_top_of_tree(dendrogram, found, report);
    return WardModel(std::move(centroids), std::move(labels), std::move(report), options);
}

}  // namespace coterie
