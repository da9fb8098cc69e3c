#pragma once
// Internal: Lloyd's iterations over sparse points.

#include <span>

#include "coterie/base/sparse_points.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"

namespace coterie::internal {

/// As lloyd() (settings.bounds is not looked at): what that calls where the points are sparse.
template <class T>
LloydResult<T> sparse_lloyd(const SparsePoints& points, Matrix<T> centroids, const LloydSettings& settings,
                            std::span<const double> weights, const Run& run, int repetition, int repetitions,
                            KeptFit* kept);

}  // namespace coterie::internal
