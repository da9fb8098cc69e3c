// Boruvka's algorithm (1926): every component of the forest finds its shortest edge to another one, and all these edges
// join the forest, in at most log2 n rounds.
// Each row first uses the list of its nearest rows, which also gives its core distance. Rows outside the list are no
// closer than the last row in it. A component therefore needs no search if its best edge is no longer than the least
// distance to the last row of a list.
// For other components, the search visits the leaves of a k-d tree that may hold a row of another component closer than
// the best edge so far. With few columns the leaves' boxes decide. With many columns matrix products of whole leaves
// decide; their rounding is bounded, and all candidates are measured directly.
// Prim's algorithm on all pairs is not used, because it is sequential and computes n^2 distances even if a few
// neighbours of each row suffice.
//
// Invariants: the edges are exact, because all compared distances are measured in the same way. Many edges have the
// same length, the core distance of a shared row. Among them, edges between closer rows come first, as in the hdbscan
// package. If no two distances are equal, the tree therefore does not depend on the order of the rows. The search never
// skips an edge as short as the best edge of a component, so the result is the same for any number of threads. Edges
// are added by ascending length and omitted if they close a cycle, so ties cannot make the result wrong.

#include "coterie/density/internal/spanning_tree.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/density/internal/row_tree.hpp"
#include "coterie/linalg/centred_rows.hpp"
#include "coterie/linalg/neighbors.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie::density::internal {
namespace {

constexpr Index kLeafForBoxes = 16;
constexpr Index kLeafForProducts = 256;
constexpr Index kListed = 16;          // least number of neighbours in a row's list
constexpr Index kRowsForProducts = 8;  // if fewer rows of a leaf search, they are measured one by one
constexpr std::string_view stage_name = "spanning tree";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The nearest other rows of every position in the tree's order, nearest first.
Neighbors lists_of(const RowTree& tree, Index count, const Run& run) {
    const PointsView rows = tree.rows();
    const Index n = rows.rows();
    if (rows.columns() > columns_for_boxes) return nearest_neighbors(rows, count, run);
    Neighbors out;
    out.count = count;
    out.indices.resize(at(n * count));
    out.squared.resize(at(n * count));
    const RowBlocks blocks{n, 256};
    for_each_block(blocks.count(), run, {"nearest neighbours"}, [&](Index block, int) {
        std::vector<RowTree::Near> found;
        std::vector<double> x(at(rows.columns()));
        rows.visit([&](const auto& from) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                std::copy_n(from.row(i), from.columns, x.data());
                tree.nearest(x.data(), count, i, found);
                for (Index j = 0; j < count; ++j) {
                    out.indices[at(i * count + j)] = static_cast<std::int32_t>(found[at(j)].place);
                    out.squared[at(i * count + j)] = found[at(j)].squared;
                }
            }
        });
    });
    return out;
}

// An edge out of a component, in positions of the tree's order; lengths are squared. `apart`: the distance without core
// distances.
struct Candidate {
    double squared = kInfinity, apart = kInfinity;
    std::int32_t low = -1;
    std::int32_t high = -1;
    bool operator<(const Candidate& other) const {
        if (squared != other.squared) return squared < other.squared;
        if (apart != other.apart) return apart < other.apart;
        return low != other.low ? low < other.low : high < other.high;
    }
};
Candidate candidate(double squared, double apart, Index a, Index b) {
    return {squared, apart, static_cast<std::int32_t>(std::min(a, b)), static_cast<std::int32_t>(std::max(a, b))};
}

class Boruvka {
public:
    Boruvka(const RowTree& tree, Neighbors lists, Index s, const Run& run)
        : tree_(tree), lists_(std::move(lists)), run_(run) {
        std::iota(component_.begin(), component_.end(), std::int32_t{0});
        for (Index i = 0; i < n_; ++i) core_[at(i)] = lists_.squared[at(i * lists_.count + s - 1)];
        if (rows_.columns() > columns_for_boxes) {
            const Vector<double> center = mean(rows_, run);
            const double scale = scale_to_one(largest_magnitude(rows_, center, run.threads));
            squared_scale_ = scale * scale;
            centred_ = centred_rows<float>(rows_, center, scale, run.threads);
        }
        const auto& nodes = tree.nodes();
        least_core_.resize(nodes.size());
        node_component_.resize(nodes.size());
        for (std::size_t which = nodes.size(); which-- > 0;) {
            const RowTree::Node& node = nodes[which];
            least_core_[which] = node.leaf() ? *std::min_element(core_.begin() + node.begin, core_.begin() + node.end)
                                             : std::min(least_core_[at(node.left)], least_core_[at(node.right)]);
        }
    }

    /// Squared lengths, in any order.
    std::vector<Candidate> operator()() {
        while (components_ > 1) {
            look_through_lists();
            const auto certain = std::count(certain_.begin(), certain_.end(), 1);
            // A search costs as much for few components as for many, so it waits until many components need it.
            if (4 * certain < components_) search();
            join();
        }
        return std::move(edges_);
    }

    const std::vector<double>& squared_core() const { return core_; }

private:
    double progress() const {
        return 1 - std::log(static_cast<double>(components_)) / std::log(static_cast<double>(n_));
    }

    double reachability(double squared, Index i, Index j) const {
        return std::max({squared, core_[at(i)], core_[at(j)]});
    }

    // A lower bound of the squared distance to rows outside the list.
    double beyond_list(Index i) const {
        return lists_.count >= n_ - 1 ? kInfinity : lists_.squared[at((i + 1) * lists_.count - 1)];
    }

    // Finds the best edges in the lists, and the components for which they are certainly the best.
    void look_through_lists() {
        const RowBlocks blocks{n_, 4096};
        const double from = progress();
        for_each_block(blocks.count(), run_, {stage_name, from, from}, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                Candidate best;
                if (exhausted_[at(i)] == 0) {
                    bool outside = false;
                    for (Index entry = i * lists_.count; entry < (i + 1) * lists_.count; ++entry) {
                        const double squared = lists_.squared[at(entry)];
                        if (squared > best.squared) break;
                        const std::int32_t j = lists_.indices[at(entry)];
                        if (component_[at(j)] == component_[at(i)]) continue;
                        outside = true;
                        best = std::min(best, candidate(reachability(squared, i, j), squared, i, j));
                    }
                    if (!outside) exhausted_[at(i)] = 1;  // stays true, because components only grow
                }
                own_best_[at(i)] = best;
            }
        });
        best_.assign(at(components_), {});
        std::vector<double> beyond(at(components_), kInfinity);
        for (Index i = 0; i < n_; ++i) {
            const std::size_t of = at(component_[at(i)]);
            best_[of] = std::min(best_[of], own_best_[at(i)]);
            beyond[of] = std::min(beyond[of], beyond_list(i));
        }
        certain_.resize(best_.size());
        for (std::size_t of = 0; of < best_.size(); ++of) certain_[of] = best_[of].squared <= beyond[of] ? 1 : 0;
    }

    // Finds the best edges of the components that are not certain, from all their rows.
    void search() {
        const auto& nodes = tree_.nodes();
        for (std::size_t which = nodes.size(); which-- > 0;) {
            const RowTree::Node& node = nodes[which];
            const auto first = node.leaf() ? component_.begin() + node.begin : node_component_.begin() + node.left;
            const auto last =
                node.leaf() ? component_.begin() + node.end : first + 2;  // of two children, or of the rows
            node_component_[which] =
                std::all_of(first, last, [&](std::int32_t of) { return of == *first; }) ? *first : -1;
        }
        limits_ = std::make_unique<std::atomic<double>[]>(best_.size());
        for (std::size_t of = 0; of < best_.size(); ++of) limits_[of] = best_[of].squared;
        // One row of each component first: it gives a limit for the others.
        std::vector<std::int32_t> first(best_.size(), -1);
        for (Index i = n_ - 1; i >= 0; --i) first[at(component_[at(i)])] = static_cast<std::int32_t>(i);
        std::vector<std::int32_t> lost;
        for (std::size_t of = 0; of < best_.size(); ++of)
            if (certain_[of] == 0 && best_[of].low < 0) lost.push_back(first[of]);
        const double from = progress();
        const double to = from + (1 - from) / 2;
        scratch_.resize(at(std::max(run_.threads, 1)));
        for_each_block(static_cast<Index>(lost.size()), run_, {stage_name, from, from}, [&](Index one, int worker) {
            Scratch& mine = scratch_[at(worker)];
            mine.searching = {lost[at(one)]};
            search_for(-1, mine);
        });
        const auto& leaves = tree_.leaves();
        for_each_block(static_cast<Index>(leaves.size()), run_, {stage_name, from, to}, [&](Index number, int worker) {
            Scratch& mine = scratch_[at(worker)];
            const Index leaf = leaves[at(number)];
            mine.searching.clear();
            for (Index i = nodes[at(leaf)].begin; i < nodes[at(leaf)].end; ++i)
                if (may_have_best(i)) mine.searching.push_back(static_cast<std::int32_t>(i));
            if (!mine.searching.empty()) search_for(leaf, mine);
        });
        std::fill(certain_.begin(), certain_.end(), std::uint8_t{1});
    }

    struct Scratch {
        std::vector<std::int32_t> searching;  // positions
        std::vector<RowTree::Open> open;
        std::vector<float> products;
        std::vector<std::int32_t> hits;
    };

    bool may_have_best(Index i) const {
        const double limit = limit_of(i);
        return certain_[at(component_[at(i)])] == 0 && core_[at(i)] <= limit && beyond_list(i) <= limit;
    }

    double limit_of(Index i) const { return limits_[at(component_[at(i)])].load(std::memory_order_relaxed); }

    double largest_limit(const Scratch& mine) const {
        double limit = 0;
        for (const std::int32_t i : mine.searching) limit = std::max(limit, limit_of(i));
        return limit;
    }

    // For the searching rows of one leaf; leaf -1: for a single row.
    void search_for(Index leaf, Scratch& mine) {
        const auto& nodes = tree_.nodes();
        std::int32_t common = component_[at(mine.searching.front())];
        for (const std::int32_t i : mine.searching)
            if (component_[at(i)] != common) common = -1;
        std::vector<double> x;
        if (leaf < 0) {
            x.resize(at(rows_.columns()));
            rows_.visit(
                [&](const auto& rows) { std::copy_n(rows.row(mine.searching.front()), rows.columns, x.data()); });
        }
        const auto squared_to = [&](Index node) {
            return leaf < 0 ? tree_.squared_from(node, x.data()) : tree_.squared_between(leaf, node);
        };
        double limit = largest_limit(mine);
        mine.open.assign(1, {0, 0});
        while (!mine.open.empty()) {
            const auto here = mine.open.back();
            mine.open.pop_back();
            if (here.squared > limit || least_core_[at(here.node)] > limit) continue;
            if (common >= 0 && node_component_[at(here.node)] == common) continue;
            const RowTree::Node& node = nodes[at(here.node)];
            if (node.leaf()) {
                if (rows_.columns() > columns_for_boxes &&
                    static_cast<Index>(mine.searching.size()) >= kRowsForProducts)
                    measure_by_products(nodes[at(leaf)], node, mine);
                else
                    measure(node, mine);
                limit = largest_limit(mine);
                continue;
            }
            RowTree::open_children(node, squared_to, mine.open);
        }
    }

    void measure(const RowTree::Node& node, Scratch& mine) {
        for (const std::int32_t i : mine.searching) {
            if (core_[at(i)] > limit_of(i)) continue;
            for (Index j = node.begin; j < node.end; ++j) measure(i, j);
        }
    }

    void measure(Index i, Index j) {
        const std::int32_t of = component_[at(i)];
        if (component_[at(j)] == of || core_[at(j)] > limit_of(i)) return;
        const double squared =
            rows_.visit([&](const auto& rows) { return squared_distance(rows.row(i), rows.row(j), rows.columns); });
        const double reached = reachability(squared, i, j);
        if (reached > limit_of(i)) return;
        const Candidate found = candidate(reached, squared, i, j);
        const std::scoped_lock lock(owned_[at(of) % owned_.size()]);
        if (!(found < best_[at(of)])) return;
        best_[at(of)] = found;
        limits_[at(of)].store(reached, std::memory_order_relaxed);
    }

    void measure_by_products(const RowTree::Node& searching, const RowTree::Node& node, Scratch& mine) {
        const Index d = rows_.columns();
        const Index size = node.end - node.begin;
        mine.products.resize(at(kLeafForProducts * kLeafForProducts));
        mine.hits.resize(at(kLeafForProducts));
        block_products<float>().rows_by_rows(centred_.rows.data() + searching.begin * d,
                                             searching.end - searching.begin, d, centred_.rows.data() + node.begin * d,
                                             size, d, d, mine.products.data(), kLeafForProducts);
        const double norm = *std::max_element(centred_.norms.begin() + node.begin, centred_.norms.begin() + node.end);
        const float* const base = centred_.half_squared_norms.data() + node.begin;
        for (const std::int32_t i : mine.searching) {
            const double limit = limit_of(i);
            if (core_[at(i)] > limit) continue;
            const double own = centred_.norms[at(i)];
            const double score = 0.5 * (limit * squared_scale_ - own * own) + bound_(own, norm);
            const Index hits = block_products<float>().scan(
                base, mine.products.data() + (i - searching.begin) * kLeafForProducts, size,
                std::nextafter(static_cast<float>(score), std::numeric_limits<float>::infinity()), mine.hits.data());
            for (Index h = 0; h < hits; ++h) measure(i, node.begin + mine.hits[at(h)]);
        }
    }

    // Joins the components whose best edges are certain.
    void join() {
        std::vector<Candidate> edges;
        for (std::size_t of = 0; of < best_.size(); ++of)
            if (certain_[of] != 0) edges.push_back(best_[of]);
        std::sort(edges.begin(), edges.end());
        std::vector<std::int32_t> parent(best_.size());
        std::iota(parent.begin(), parent.end(), std::int32_t{0});
        for (const Candidate& edge : edges) {
            const Index a = root_of(parent, component_[at(edge.low)]);
            const Index b = root_of(parent, component_[at(edge.high)]);
            if (a == b) continue;
            parent[at(std::max(a, b))] = static_cast<std::int32_t>(std::min(a, b));
            edges_.push_back(edge);
        }
        std::vector<std::int32_t> number(best_.size(), -1);
        std::int32_t next = 0;
        for (Index of = 0; of < components_; ++of)
            if (parent[at(of)] == of) number[at(of)] = next++;
        for (auto& of : component_) of = number[at(root_of(parent, of))];
        components_ = next;
    }

    const RowTree& tree_;
    PointsView rows_ = tree_.rows();
    Index n_ = rows_.rows();
    Neighbors lists_;
    const Run& run_;
    Index components_ = n_;
    std::vector<std::int32_t> component_ = std::vector<std::int32_t>(at(n_));  // of each position: 0..components_-1
    std::vector<double> core_ = std::vector<double>(at(n_));                   // squared
    std::vector<Candidate> own_best_ = std::vector<Candidate>(at(n_));         // of each position, within its list
    // Whether a position's list lies in its component.
    std::vector<std::uint8_t> exhausted_ = std::vector<std::uint8_t>(at(n_), 0);
    std::vector<double> least_core_;            // of each node
    std::vector<std::int32_t> node_component_;  // -1: several components
    std::vector<Candidate> best_;               // of each component
    std::vector<std::uint8_t> certain_;
    std::unique_ptr<std::atomic<double>[]> limits_;  // the squared lengths of best_
    std::array<std::mutex, 64> owned_;
    std::vector<Scratch> scratch_;
    std::vector<Candidate> edges_;
    CentredRows<float> centred_;
    double squared_scale_ = 1;
    ScoreBound<float> bound_{rows_.columns()};
};

}  // namespace

SpanningTree spanning_tree(PointsView points, Index s, const Run& run) {
    const Index n = points.rows();
    const Index listed = std::min(n - 1, std::max(s, kListed));
    const double d = static_cast<double>(points.columns());
    const bool products = points.columns() > columns_for_boxes;
    require_memory(static_cast<double>(n) * (static_cast<double>(listed) * 12 + d * 8 + (products ? d * 12 : 0) + 120),
                   filled("the spanning tree of {} rows with {} neighbours each", n, listed));
    const RowTree tree(points, products ? kLeafForProducts : kLeafForBoxes, run);
    Boruvka boruvka(tree, lists_of(tree, listed, run), s, run);
    std::vector<Candidate> found = boruvka();
    SpanningTree out;
    out.core.resize(at(n));
    for (Index i = 0; i < n; ++i) out.core[at(tree.order()[at(i)])] = std::sqrt(boruvka.squared_core()[at(i)]);
    // From here on, rows instead of positions.
    for (Candidate& edge : found)
        edge = candidate(edge.squared, edge.apart, tree.order()[at(edge.low)], tree.order()[at(edge.high)]);
    std::sort(found.begin(), found.end());
    out.edges.reserve(found.size());
    for (const Candidate& edge : found) out.edges.push_back({edge.low, edge.high, std::sqrt(edge.squared)});
    return out;
}

}  // namespace coterie::density::internal
