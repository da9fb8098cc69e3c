// A union-find over the edges gives the single-linkage tree; a walk from its root gives the condensed tree. Neither
// uses recursion, because a chain of rows is as deep as the number of rows. Clusters are numbered breadth first, the
// part with the lowest row first, so the numbers do not depend on how the tree was found.

#include "coterie/density/internal/condensed_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace coterie::density::internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double density(double distance) { return distance > 0 ? 1 / distance : infinity; }

// The merges of n rows: merge t joins `left` and `right` to the component n + t; a component below n is a row.
struct Linkage {
    struct Merge {
        Index left, right;
        double distance;
        Index rows;
        Index lowest;  // lowest row
    };
    explicit Linkage(const std::vector<SpanningEdge>& edges) : n(static_cast<Index>(edges.size()) + 1) {
        std::vector<Index> parent(at(n));
        std::iota(parent.begin(), parent.end(), Index{0});
        std::vector<Index> component = parent;  // component of each root
        merges.reserve(edges.size());
        for (const SpanningEdge& edge : edges) {
            const Index a = root_of(parent, edge.low);
            const Index b = root_of(parent, edge.high);
            Index left = component[at(a)], right = component[at(b)];
            if (lowest(left) > lowest(right)) std::swap(left, right);
            merges.push_back({left, right, edge.length, rows(left) + rows(right), lowest(left)});
            const Index kept = rows(component[at(a)]) >= rows(component[at(b)]) ? a : b;
            parent[at(kept == a ? b : a)] = kept;
            component[at(kept)] = n + static_cast<Index>(merges.size()) - 1;
        }
    }
    bool is_row(Index component) const { return component < n; }
    const Merge& merge(Index component) const { return merges[at(component - n)]; }
    Index rows(Index component) const { return is_row(component) ? 1 : merge(component).rows; }
    Index lowest(Index component) const { return is_row(component) ? component : merge(component).lowest; }

    Index n;
    std::vector<Merge> merges;
};

std::vector<std::vector<std::int32_t>> children_of(const CondensedTree& tree) {
    std::vector<std::vector<std::int32_t>> out(tree.parent.size());
    for (std::size_t c = 1; c < tree.parent.size(); ++c)
        out[at(tree.parent[c])].push_back(static_cast<std::int32_t>(c));
    return out;
}

// sum (1 / d - 1 / birth) over the rows and clusters that leave.
std::vector<double> stabilities(const CondensedTree& tree) {
    std::vector<double> out(tree.parent.size(), 0.0);
    std::vector<double> rows(tree.parent.size(), 0.0);
    const auto birth = [&](std::int32_t c) { return c == 0 ? 0.0 : density(tree.birth[at(c)]); };
    for (std::size_t i = 0; i < tree.row_cluster.size(); ++i) {
        const std::int32_t c = tree.row_cluster[i];
        out[at(c)] += density(tree.row_distance[i]) - birth(c);
        ++rows[at(c)];
    }
    for (std::size_t c = tree.parent.size(); c-- > 1;) {
        const std::int32_t above = tree.parent[c];
        out[at(above)] += (birth(static_cast<std::int32_t>(c)) - birth(above)) * rows[c];
        rows[at(above)] += rows[c];
    }
    return out;
}

// Replaces each cluster that was born below least_birth by its nearest ancestor that was born above.
std::vector<std::int32_t> merged_by_birth(const CondensedTree& tree, const std::vector<std::int32_t>& chosen,
                                          const Selection& selection) {
    std::vector<std::uint8_t> below(tree.parent.size(), 0);  // marks clusters below a chosen one
    std::vector<std::int32_t> out;
    for (const std::int32_t c : chosen) {
        if (c == 0 || !(tree.birth[at(c)] < selection.least_birth)) {
            out.push_back(c);
            continue;
        }
        std::int32_t up = c;
        while (true) {
            const std::int32_t above = tree.parent[at(up)];
            if (above == 0) {
                if (selection.root) up = 0;
                break;
            }
            up = above;
            if (tree.birth[at(up)] > selection.least_birth) break;
        }
        out.push_back(up);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    for (const std::int32_t c : out) below[at(c)] = 1;
    std::erase_if(out, [&](std::int32_t c) {
        for (std::int32_t above = tree.parent[at(c)]; above >= 0; above = tree.parent[at(above)])
            if (below[at(above)] != 0) return true;
        return false;
    });
    return out;
}

}  // namespace

std::vector<double> CondensedTree::least_distances() const {
    std::vector<double> out(parent.size(), infinity);
    for (std::size_t i = 0; i < row_cluster.size(); ++i)
        out[at(row_cluster[i])] = std::min(out[at(row_cluster[i])], row_distance[i]);
    for (std::size_t c = 1; c < parent.size(); ++c) out[at(parent[c])] = std::min(out[at(parent[c])], birth[c]);
    return out;
}

std::vector<double> CondensedTree::least_distances_below() const {
    std::vector<double> out = least_distances();
    for (std::size_t c = parent.size(); c-- > 1;) out[at(parent[c])] = std::min(out[at(parent[c])], out[c]);
    return out;
}

CondensedTree condensed_tree(const std::vector<SpanningEdge>& edges, Index least) {
    const Linkage linkage(edges);
    CondensedTree out;
    out.parent = {-1};
    out.birth = {0.0};
    out.row_cluster.resize(at(linkage.n), 0);
    out.row_distance.resize(at(linkage.n), 0.0);
    std::vector<Index> below;
    const auto leave = [&](Index component, std::int32_t cluster, double distance) {
        below.assign(1, component);
        while (!below.empty()) {
            const Index here = below.back();
            below.pop_back();
            if (linkage.is_row(here)) {
                out.row_cluster[at(here)] = cluster;
                out.row_distance[at(here)] = distance;
            } else {
                below.push_back(linkage.merge(here).left);
                below.push_back(linkage.merge(here).right);
            }
        }
    };
    struct Open {
        Index component;
        std::int32_t cluster;
    };
    std::vector<Open> open;
    if (!linkage.merges.empty()) open.push_back({linkage.n + static_cast<Index>(linkage.merges.size()) - 1, 0});
    for (std::size_t next = 0; next < open.size(); ++next) {
        // Follows the cluster down while it only loses rows.
        const std::int32_t cluster = open[next].cluster;
        Index here = open[next].component;
        while (true) {
            const Linkage::Merge& merge = linkage.merge(here);
            if (!(merge.distance > 0)) {
                leave(here, cluster, 0.0);
                break;
            }
            const bool left = linkage.rows(merge.left) >= least;
            const bool right = linkage.rows(merge.right) >= least;
            if (left && right) {
                for (const Index part : {merge.left, merge.right}) {
                    out.parent.push_back(cluster);
                    out.birth.push_back(merge.distance);
                    open.push_back({part, static_cast<std::int32_t>(out.parent.size()) - 1});
                }
                break;
            }
            if (!left) leave(merge.left, cluster, merge.distance);
            if (!right) leave(merge.right, cluster, merge.distance);
            if (!left && !right) break;
            here = left ? merge.left : merge.right;
        }
    }
    return out;
}

std::vector<std::int32_t> select_clusters(const CondensedTree& tree, const Selection& selection) {
    const auto children = children_of(tree);
    const std::size_t count = tree.parent.size();
    std::vector<std::int32_t> chosen;
    if (selection.leaves) {
        for (std::size_t c = count > 1 || selection.root ? 0 : 1; c < count; ++c)
            if (children[c].empty()) chosen.push_back(static_cast<std::int32_t>(c));
    } else {
        std::vector<double> best = stabilities(tree);
        std::vector<std::uint8_t> own(count, 0);
        for (std::size_t c = count; c-- > (selection.root ? 0U : 1U);) {
            double sum = 0;
            for (const std::int32_t child : children[c]) sum += best[at(child)];
            own[c] = sum > best[c] ? 0 : 1;
            if (own[c] == 0) best[c] = sum;
        }
        std::vector<std::int32_t> open = {0};
        while (!open.empty()) {
            const std::int32_t c = open.back();
            open.pop_back();
            if (own[at(c)] != 0)
                chosen.push_back(c);
            else
                open.insert(open.end(), children[at(c)].begin(), children[at(c)].end());
        }
        std::sort(chosen.begin(), chosen.end());
    }
    if (selection.least_birth > 0) chosen = merged_by_birth(tree, chosen, selection);
    std::vector<std::int32_t> out(count, -1);
    for (std::size_t number = 0; number < chosen.size(); ++number)
        out[at(chosen[number])] = static_cast<std::int32_t>(number);
    return out;
}

Labels labels_of(const CondensedTree& tree, const std::vector<std::int32_t>& selected, const Selection& selection) {
    // Per cluster: the number of the selected cluster that it is or lies below.
    std::vector<std::int32_t> label = selected;
    for (std::size_t c = 1; c < label.size(); ++c)
        if (label[c] < 0) label[c] = label[at(tree.parent[c])];
    Labels out;
    out.reserve(tree.row_cluster.size());
    const double stay = selection.least_birth > 0 ? selection.least_birth : tree.least_distances()[0];
    for (std::size_t i = 0; i < tree.row_cluster.size(); ++i)
        out.push_back(selected[0] < 0 || tree.row_distance[i] <= stay ? label[at(tree.row_cluster[i])] : -1);
    return out;
}

}  // namespace coterie::density::internal
