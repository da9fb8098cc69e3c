#pragma once
// Internal: from a spanning tree to clusters. Merging components along edges of ascending length gives the
// single-linkage tree. The condensed tree (Campello, Moulavi and Sander 2013) follows from its root down. A component
// that splits into two parts of at least `least` rows each becomes two clusters. A component that loses fewer rows
// stays the same cluster, and the rows leave it. All values here are distances; the density in the paper is lambda = 1
// / distance.

#include <cstdint>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/density/internal/spanning_tree.hpp"

namespace coterie::density::internal {

using namespace coterie::internal;

/// n rows and c >= 1 clusters. The first holds all rows; each other one comes after its parent.
struct COTERIE_API CondensedTree {
    std::vector<std::int32_t> parent;       // c: the cluster it split from; -1 for the first
    std::vector<double> birth;              // c: the distance of that split; 0 for the first
    std::vector<std::int32_t> row_cluster;  // n: the last cluster that a row is in
    std::vector<double> row_distance;       // n: the distance at which the row leaves it

    Index clusters() const { return static_cast<Index>(parent.size()); }
    /// c: the least distance at which a row or a cluster leaves it.
    std::vector<double> least_distances() const;
    /// c: the same over a cluster and all clusters below it.
    std::vector<double> least_distances_below() const;
};

/// From n - 1 edges by ascending length. Equal rows stay together: the rows of a component whose edges have length 0
/// leave their cluster at once.
COTERIE_API CondensedTree condensed_tree(const std::vector<SpanningEdge>& edges, Index least);

/// How clusters of a tree are selected.
struct Selection {
    bool leaves = false;     // true: clusters that split no further; false: those with the most excess of mass
    double least_birth = 0;  // clusters born at shorter distances become part of their parent
    bool root = false;       // whether the first cluster may be selected
};
/// c: selected clusters are numbered in their order; the others get -1. No selected cluster lies below another.
///
/// Excess of mass: the stability of a cluster is the sum over its rows of (1 / d_i - 1 / birth). d_i is the distance at
/// which the row leaves the cluster; for rows of its child clusters it is the birth of the child. A cluster is selected
/// if its stability is at least the largest sum of stabilities of disjoint clusters below it.
COTERIE_API std::vector<std::int32_t> select_clusters(const CondensedTree& tree, const Selection& selection);

/// n: the selected cluster of each row; -1: noise. If the first cluster is selected, its rows are those that stay in it
/// down to its least distance, or to `least_birth` if this is positive.
COTERIE_API Labels labels_of(const CondensedTree& tree, const std::vector<std::int32_t>& selected,
                             const Selection& selection);

}  // namespace coterie::density::internal
