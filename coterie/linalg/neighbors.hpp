#pragma once
// Exact nearest neighbours in blocks of distances: candidates by matrix products in the points' own precision, kept as
// long as rounding leaves it open whether they belong, then measured directly in double. The same result at any number
// of threads.

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct Neighbors {
    Index count = 0;                    // neighbours a query
    std::vector<std::int32_t> indices;  // queries x count, nearest first; ties by the lower index
    std::vector<double> squared;        // queries x count squared distances
};
/// The `count` nearest rows of `points` for each query. 1 <= count <= rows. Cost n_q n d. Memory beside the result: a
/// centred copy of the points and of the queries, and a block of distances a thread. BadArgument names a number that is
/// not finite. Cancelled when the run says stop.
COTERIE_API Neighbors nearest_neighbors(PointsView points, PointsView queries, Index count, const Run& run);
/// Among the points themselves, a point not being its own neighbour (a duplicate of it is). 1 <= count <= rows - 1. For
/// up to 128 neighbours in half the products, n^2 d / 2, each serving both of its points, with memory of 2 count + 64
/// candidates a point (12 bytes each in float, 24 in double).
COTERIE_API Neighbors nearest_neighbors(PointsView points, Index count, const Run& run);

}  // namespace coterie
