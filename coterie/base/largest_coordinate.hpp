#pragma once
// Internal: the largest accepted coordinate, and the message about a larger one.

#include <string>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// The largest magnitude that check_points accepts for points with this many columns.
double largest_coordinate(ScalarType scalar, Index columns);
/// Problem and remedy of the message about a value above that limit.
std::string too_large_text(double value, ScalarType scalar, Index columns);
std::string too_large_remedy(ScalarType scalar);

}  // namespace coterie::internal
