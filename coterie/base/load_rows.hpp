#pragma once
// Loads rows into memory.

#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Returns the points in memory, unchanged if they are there already. If they do not fit, throws NotEnoughMemory, a
/// ResourceError whose text starts with `what`.
COTERIE_API Points load(const Points& points, std::string_view what, const Run& run);
/// Returns the points with this process's rows in memory if they fit into half of the available memory on every
/// process. Otherwise, and for sparse points, returns them unchanged.
COTERIE_API Points hold_own_rows(const Points& points, const Run& run);

}  // namespace coterie
