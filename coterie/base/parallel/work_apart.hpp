#pragma once
// Work that cannot be asked to stop, such as a LAPACK call, for a caller that can.

#include <functional>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// Calls work() on a new thread, while this thread asks the run whether to stop. On a stop request it throws Cancelled,
/// naming the stage, and abandons the work, which must therefore own everything it uses. Without run.should_stop it
/// calls work() on this thread. Rethrows what work() throws.
COTERIE_API void work_apart(std::function<void()> work, const Run& run, std::string_view stage);

/// Whether some work was abandoned. A program that ends waits for it, unless it ends by _exit.
COTERIE_API bool work_was_left();

}  // namespace coterie::internal
