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

/// The message that a check throws, with the place of the values filled in. For points of a fit, its remedy names the
/// options that handle missing values.
inline Message points_of_fit() {
    return {.remedy = "Use `missing=drop` to leave such rows out, `missing=mean` or `missing=median` to fill them in",
            .option = "points"};
}
inline Message given_points() { return {.option = "points"}; }

/// Throws BadData that names place, row, column and count if a value is NaN or infinite. `nan_passes`: NaN is accepted,
/// infinite values are not. `names`: the names of the columns, or empty.
COTERIE_API void require_finite(PointsView points, Message place, const Run& run = Run(0, 1), bool nan_passes = false,
                                std::span<const std::string> names = {});
/// Requires at least one row and one column, finite values, and squared distances that do not overflow the scalar type.
/// Returns the largest magnitude. Throws BadData. `first`: the number that messages give row 0 if the points are part
/// of a larger set.
COTERIE_API double check_points(PointsView points, Message place, const Run& run, Index first = 0);
/// Requires one weight per row, each 0 or from 1e-30 to 1e30, not all zero. Throws BadArgument.
COTERIE_API void check_weights(std::span<const double> weights, Index rows);
/// Requires one partial label per row, or an empty list. Throws BadArgument.
COTERIE_API void check_partial_labels(std::span<const std::int32_t> labels, Index rows);

namespace internal {
/// The largest magnitude that check_points accepts for points with this many columns.
double largest_coordinate(ScalarType scalar, Index columns);
/// Problem and remedy of the message about a value above that limit.
std::string too_large_text(double value, ScalarType scalar, Index columns);
std::string too_large_remedy(ScalarType scalar);
}  // namespace internal

}  // namespace coterie
