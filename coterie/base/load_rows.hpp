#pragma once
// Which rows lie in memory.

#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// The points in memory: the same where they are there already. ResourceError, beginning with `what`, where they do not
/// fit.
COTERIE_API Points load(const Points& points, std::string_view what, const Run& run);
/// The points with this process' rows in memory, where half of what is available holds them; else, and where they are
/// sparse, as they are.
COTERIE_API Points hold_own_rows(const Points& points, const Run& run);

}  // namespace coterie
