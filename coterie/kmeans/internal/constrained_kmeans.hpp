#pragma once
// Internal: Lloyd's iterations under partial labels, label shares, size bounds and pairs of rows.

#include <span>

#include "coterie/base/run.hpp"
#include "coterie/constraints/constraints.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"

namespace coterie::kmeans::internal {

using namespace coterie::internal;

/// Iterates from `start` (k x d). The returned labels and objective belong to the returned centroids, which are in the
/// points' scalar type. Neither an assignment nor a move of the centroids raises the inertia. settings.bounds is
/// ignored. `kept` saves the state, by row. A fit that resumes from it ignores `start`.
template <class T>
LloydResult<T> constrained_lloyd(PointsView points, const Matrix<double>& start, const Constraints& constraints,
                                 const LloydSettings& settings, std::span<const double> weights, const Run& run,
                                 int repetition, int repetitions, KeptFit& kept);

}  // namespace coterie::kmeans::internal
