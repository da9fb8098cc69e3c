#pragma once
// Internal: how large a coordinate may be, and the message about one that is larger.

#include <string>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// The largest magnitude that check_points accepts for points with this many columns.
double largest_coordinate(ScalarType scalar, Index columns);
/// What is wrong with a value beyond that limit, and what to do about it.
std::string too_large_text(double value, ScalarType scalar, Index columns);
std::string too_large_remedy(ScalarType scalar);

}  // namespace coterie::internal
