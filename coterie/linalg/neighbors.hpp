#pragma once
// Exact nearest neighbours, by blocks of distances. Matrix products in the scalar type of the points give candidates.
// If rounding leaves several possible, their distances are computed directly in double. The result does not depend on
// threads.

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct Neighbors {
    Index count = 0;                    // neighbours per query
    std::vector<std::int32_t> indices;  // queries x count, nearest first; ties in the order of the indices
    std::vector<double> squared;        // queries x count squared distances
};
/// The `count` nearest rows of `points` for each query. 1 <= count <= rows. Time n_q n d. Memory besides the result: a
/// centred copy of the points and of the queries, and one block of distances per thread. Throws BadArgument with the
/// place if a number is not finite, and Cancelled if the run stops.
COTERIE_API Neighbors nearest_neighbors(PointsView points, PointsView queries, Index count, const Run& run);
/// Neighbours among the points themselves. A point is not its own neighbour, but a duplicate of it is. 1 <= count <=
/// rows - 1. If count <= 128, each product is used for both of its points, so the time is n^2 d / 2; this needs memory
/// for 2 count + 64 candidates per point (12 bytes each in float, 24 in double).
COTERIE_API Neighbors nearest_neighbors(PointsView points, Index count, const Run& run);

}  // namespace coterie
