#pragma once
// Exact nearest neighbours in blocks of distances.

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct Neighbors {
    Index count = 0;                    // neighbours a query
    std::vector<std::int32_t> indices;  // queries x count, nearest first; ties by the lower index
    std::vector<double> squared;        // queries x count squared distances
};
/// The `count` nearest rows of `points` for each query. Cost n_q n d, memory a block of distances beside the result.
Neighbors nearest_neighbors(PointsView points, PointsView queries, Index count, const Run& run);
/// Among the points themselves, a point not being its own neighbour.
Neighbors nearest_neighbors(PointsView points, Index count, const Run& run);

}  // namespace coterie
