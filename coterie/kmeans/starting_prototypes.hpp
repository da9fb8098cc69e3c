#pragma once
// Internal: where clusters start when some points have labels.

#include <cstdint>
#include <span>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/constraints/constraints.hpp"

namespace coterie::internal {

/// Starting prototypes, k x d, one cluster after the other: a label with one cluster starts from the mean of its
/// labelled points, one with several from the means of the clusters that Ward's agglomeration of its labelled points
/// finds; free clusters are drawn by k-means++ with the others in place (the only use of random numbers). BadData when
/// a label has fewer labelled points than clusters.
/// `weights`: n, or empty.
Matrix<double> starting_prototypes(PointsView points, const Constraints& constraints, std::span<const double> weights,
                                   const Run& run, std::uint64_t repetition = 0);

}  // namespace coterie::internal
