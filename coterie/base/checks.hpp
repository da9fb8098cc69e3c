#pragma once
// What every fit and predict checks before anything else.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Throws BadData naming `what`, row, column and count when a value is NaN or infinite. `of_points`: a fit has means
/// against missing ones, and the message says so. `nan_passes`: only infinite values are refused. `names`: of the
/// columns, or empty.
COTERIE_API void require_finite(PointsView points, std::string_view what, const Run& run = Run(0, 1),
                                bool of_points = false, bool nan_passes = false,
                                std::span<const std::string> names = {});
/// At least one row and column, all values finite, squared distances that do not overflow the scalar type. BadData,
/// naming `what`; of those of a fit, and not of "predict" or "word vectors", with the means against missing ones.
/// Returns the largest magnitude. `first`: what row 0 is called, where the points are a part of others.
COTERIE_API double check_points(PointsView points, std::string_view what, const Run& run, Index first = 0);
/// Weights: as many as rows, each 0 or from 1e-30 to 1e30, not all zero.
COTERIE_API void check_weights(std::span<const double> weights, Index rows);
/// Partial labels: as many as rows, or none at all.
COTERIE_API void check_partial_labels(std::span<const std::int32_t> labels, Index rows);

}  // namespace coterie
