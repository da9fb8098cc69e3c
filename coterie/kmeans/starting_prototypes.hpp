#pragma once
// Internal: starting centroids when some points have labels.

#include <cstdint>
#include <span>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/constraints/constraints.hpp"

namespace coterie::internal {

/// Starting centroids, k x d, in the order of the clusters.
/// A label with one cluster starts from the mean of its labelled points. A label with several clusters starts from the
/// means of the clusters that Ward's method finds among its labelled points. k-means++ then draws the centroids of the
/// free clusters (those without a label); only this uses random numbers.
/// Throws BadData if a label has fewer labelled points than clusters. `weights`: n, or empty.
Matrix<double> starting_prototypes(PointsView points, const Constraints& constraints, std::span<const double> weights,
                                   const Run& run, std::uint64_t repetition = 0);

}  // namespace coterie::internal
