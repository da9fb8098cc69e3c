#pragma once
// Runs work that cannot be interrupted, such as a LAPACK call, so that its caller can still stop.

#include <functional>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// Calls work() on a new thread, while this thread asks the run whether to stop. On a stop request it throws Cancelled
/// with the stage, and abandons the work. So the work must own everything that it uses. Without run.should_stop, it
/// calls work() on this thread. Rethrows what work() throws.
COTERIE_API void work_apart(std::function<void()> work, const Run& run, std::string_view stage);

/// Whether some abandoned work is not done. A program waits for it at its end, unless it ends by _exit.
COTERIE_API bool work_was_left();

}  // namespace coterie::internal
