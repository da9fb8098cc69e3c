#pragma once
// Internal: how large a coordinate may be, and what is said of one that is larger.

#include <string>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// The largest magnitude that check_points accepts of points with as many columns.
double largest_coordinate(ScalarType scalar, Index columns);
/// What is said of a value beyond it.
std::string too_large_text(double value, ScalarType scalar, Index columns);

}  // namespace coterie::internal
