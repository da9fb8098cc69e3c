#pragma once
// What a caller knows besides the points. Every method takes it; one that cannot honour a part refuses it by name.

#include <span>

#include "coterie/base/points.hpp"

namespace coterie {

struct SideInformation {
    /// n weights, each 0 or from 1e-30 to 1e30, not all 0; empty: every point weighs 1. Weight w acts as w copies of
    /// the point.
    std::span<const double> weights;
    /// k x d starting centroids (a warm start); empty: the method seeds itself.
    PointsView initial_centroids;
};

}  // namespace coterie
