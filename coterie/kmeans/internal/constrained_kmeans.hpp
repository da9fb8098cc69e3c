#pragma once
// Internal: Lloyd's iterations under partial labels, label shares and size bounds.

#include <span>

#include "coterie/base/run.hpp"
#include "coterie/constraints/constraints.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"

namespace coterie::internal {

/// From `start` (k x d). labels and objective are those of the centroids returned, in the points' scalar type. Neither
/// an assignment nor a move of the centroids raises the inertia. settings.bounds does not apply. `kept`: where the
/// state is kept, by row, and gone on from: `start` is not used then.
template <class T>
LloydResult<T> constrained_lloyd(PointsView points, const Matrix<double>& start, const Constraints& constraints,
                                 const LloydSettings& settings, std::span<const double> weights, const Run& run,
                                 int repetition, int repetitions, KeptFit& kept);

}  // namespace coterie::internal
