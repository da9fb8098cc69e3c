#pragma once
// Internal: from a spanning tree to clusters. Edges taken by ascending length merge components: the single-linkage
// tree. Read from its root down, a component that falls into two parts of at least `least` rows each becomes two
// clusters; one that loses fewer rows than that stays the cluster it was, and the rows leave it: the condensed tree
// (Campello, Moulavi and Sander 2013). Everything here is kept as distances; the density of that paper is
// lambda = 1 / distance.

#include <cstdint>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/density/internal/spanning_tree.hpp"

namespace coterie::internal {

/// n rows, c >= 1 clusters of which the first is all rows, each after the one it came from.
struct COTERIE_API CondensedTree {
    std::vector<std::int32_t> parent;       // c: the cluster it fell out of; -1 for the first
    std::vector<double> birth;              // c: the distance at which it did; 0 for the first
    std::vector<std::int32_t> row_cluster;  // n: the last cluster that a row is in
    std::vector<double> row_distance;       // n: the distance at which it leaves that

    Index clusters() const { return static_cast<Index>(parent.size()); }
    /// c: the least distance at which a row or a cluster leaves it.
    std::vector<double> least_distances() const;
    /// c: the same of a cluster and all below it.
    std::vector<double> least_distances_below() const;
};

/// Of n - 1 edges by ascending length. Equal rows are never told apart: a component whose edges have length 0 leaves at
/// once.
COTERIE_API CondensedTree condensed_tree(const std::vector<SpanningEdge>& edges, Index least);

/// What is selected among the clusters of a tree.
struct Selection {
    bool leaves = false;     // the clusters that fall no further, else those of most excess of mass
    double least_birth = 0;  // clusters born at shorter distances go into what they fell out of
    bool root = false;       // the first may be selected
};
/// c: the number of each selected cluster, in their order, -1 of the others. No two of them lie above one another.
///
/// Excess of mass: the stability of a cluster is sum over its rows of (1 / d_i - 1 / birth), d_i the distance at which
/// the row leaves it (of rows of clusters that fall out of it: their birth); a cluster is selected where its own is at
/// least the sum of what is best among those below it.
COTERIE_API std::vector<std::int32_t> select_clusters(const CondensedTree& tree, const Selection& selection);

/// n: the selected cluster that each row is in, -1: noise. Rows of the first cluster, where that is selected, are those
/// that stay in it to its least distance, or to `least_birth` where that is given.
COTERIE_API Labels labels_of(const CondensedTree& tree, const std::vector<std::int32_t>& selected,
                             const Selection& selection);

}  // namespace coterie::internal
