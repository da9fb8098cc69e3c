#pragma once
// Work that cannot be asked to stop, as a call of LAPACK's, and a caller who wants to.

#include <functional>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// Calls work() on a thread of its own, while this one asks the run whether to stop. If so throws Cancelled, naming the
/// stage, and leaves the work to itself, so that it must own whatever it uses. Where nobody can stop it, it is done
/// here. What it throws is thrown.
COTERIE_API void work_apart(std::function<void()> work, const Run& run, std::string_view stage);

/// Whether some work was left to itself. A program that ends waits for it, unless it ends by _exit.
COTERIE_API bool work_was_left();

}  // namespace coterie::internal
