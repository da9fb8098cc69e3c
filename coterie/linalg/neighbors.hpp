#pragma once
// Exact nearest neighbours in blocks of distances. Matrix products in the points' own precision give candidates.
// Candidates that rounding leaves undecided are measured directly in double. The result is the same at any number of
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
/// The `count` nearest rows of `points` for each query. 1 <= count <= rows. Cost n_q n d. Memory besides the result: a
/// centred copy of the points and of the queries, and one block of distances per thread. Throws BadArgument that names
/// a number that is not finite, and Cancelled if the run stops.
COTERIE_API Neighbors nearest_neighbors(PointsView points, PointsView queries, Index count, const Run& run);
/// Neighbours among the points themselves. A point is not its own neighbour, but a duplicate of it is. 1 <= count <=
/// rows - 1. Up to 128 neighbours take half the products, n^2 d / 2, because each product serves both of its points.
/// They need memory for 2 count + 64 candidates per point (12 bytes each in float, 24 in double).
COTERIE_API Neighbors nearest_neighbors(PointsView points, Index count, const Run& run);

}  // namespace coterie
