#pragma once
// The checks with which every fit and predict begins.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Throws BadData naming `what`, row, column and count when a value is NaN or infinite. `of_points`: the message also
/// names the option that handles missing values in a fit. `nan_passes`: NaN is accepted, infinite values are not.
/// `names`: of the columns, or empty.
COTERIE_API void require_finite(PointsView points, std::string_view what, const Run& run = Run(0, 1),
                                bool of_points = false, bool nan_passes = false,
                                std::span<const std::string> names = {});
/// Requires at least one row and one column, finite values, and squared distances that do not overflow the scalar type.
/// Returns the largest magnitude. Throws BadData naming `what`. The message names the option for missing values, unless
/// `what` starts with "predict" or "word vectors". `first`: the number of row 0 in messages, where the points are part
/// of a larger set.
COTERIE_API double check_points(PointsView points, std::string_view what, const Run& run, Index first = 0);
/// Requires one weight per row, each 0 or from 1e-30 to 1e30, not all zero. Throws BadArgument.
COTERIE_API void check_weights(std::span<const double> weights, Index rows);
/// Requires one partial label per row, or an empty list. Throws BadArgument.
COTERIE_API void check_partial_labels(std::span<const std::int32_t> labels, Index rows);

}  // namespace coterie
