#pragma once
// Internal: the minimum spanning tree of rows under their mutual reachability distance
//
//     m(x, y) = max(c(x), c(y), || x - y ||),   c(x): the core distance, that to the s-th nearest other row
//
// found exactly, without the n^2 distances being kept (Campello, Moulavi and Sander 2013).

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

struct SpanningEdge {
    Index low = 0;  // rows, low < high
    Index high = 0;
    double length = 0;
};

struct SpanningTree {
    std::vector<double> core;         // n
    std::vector<SpanningEdge> edges;  // n - 1 by ascending length; equal ones by || x - y ||, low, high
};

/// Rows up to this many columns are searched by the boxes of a k-d tree, others by matrix products of blocks.
inline constexpr Index columns_for_boxes = 12;

/// n >= 2 rows, 1 <= s <= n - 1; finite numbers whose squared distances neither over- nor underflow. Of several least
/// trees that whose edges are also least by || x - y ||, and then by their rows. ResourceError before memory is taken
/// that is not there; Cancelled.
COTERIE_API SpanningTree spanning_tree(PointsView points, Index s, const Run& run);

}  // namespace coterie::internal
