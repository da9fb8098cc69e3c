#pragma once
// Internal: the exact minimum spanning tree of rows under their mutual reachability distance
//
//     m(x, y) = max(c(x), c(y), || x - y ||),   c(x): the core distance, that to the s-th nearest other row
//
// without storing the n^2 distances (Campello, Moulavi and Sander 2013).

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::density::internal {

using namespace coterie::internal;

/// The root of i in a forest of parents, whose paths it shortens.
template <class Number>
Index root_of(std::vector<Number>& parent, Index i) {
    for (; parent[at(i)] != i; i = parent[at(i)]) parent[at(i)] = parent[at(parent[at(i)])];
    return i;
}

struct SpanningEdge {
    Index low = 0;  // rows, low < high
    Index high = 0;
    double length = 0;
};

struct SpanningTree {
    std::vector<double> core;         // n
    std::vector<SpanningEdge> edges;  // n - 1 by ascending length; equal ones by || x - y ||, low, high
};

/// Up to this number of columns, the boxes of a k-d tree guide the search; with more columns, matrix products of blocks
/// do.
inline constexpr Index columns_for_boxes = 12;

/// n >= 2 rows, 1 <= s <= n - 1; finite numbers whose squared distances neither overflow nor underflow. Among several
/// minimum trees, it returns the one whose edges come first by || x - y ||, then by their rows. Throws ResourceError
/// before it allocates memory beyond the limit; Cancelled.
COTERIE_API SpanningTree spanning_tree(PointsView points, Index s, const Run& run);

}  // namespace coterie::density::internal
