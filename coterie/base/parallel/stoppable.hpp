#pragma once
// For blocks that take seconds: asks within a block whether the caller wants to stop.

namespace coterie::internal {

/// In a block of a loop that may be stopped (for_each_block with a Run): asks as that loop does between blocks, and
/// throws Cancelled, which ends it. Elsewhere it does nothing.
void stop_if_asked();

}  // namespace coterie::internal
