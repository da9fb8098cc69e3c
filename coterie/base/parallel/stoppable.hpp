#pragma once
// For blocks that take seconds: checks within a block whether the caller wants to stop.

namespace coterie::internal {

/// Call it in a block of a loop that can be stopped (for_each_block with a Run). It checks as the loop does between
/// blocks, and throws Cancelled, which ends the loop. Elsewhere it does nothing.
void stop_if_asked();

}  // namespace coterie::internal
