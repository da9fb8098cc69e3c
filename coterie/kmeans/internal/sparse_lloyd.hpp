#pragma once
// Internal: Lloyd's iterations over sparse points.

#include <span>

#include "coterie/base/sparse_points.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"

namespace coterie::kmeans::internal {

using namespace coterie::internal;

/// Does what lloyd() does, for sparse points: lloyd() calls it. settings.bounds is ignored.
template <class T>
LloydResult<T> sparse_lloyd(const SparsePoints& points, Matrix<T> centroids, const LloydSettings& settings,
                            std::span<const double> weights, const Run& run, int repetition, int repetitions,
                            KeptFit* kept);

}  // namespace coterie::kmeans::internal
