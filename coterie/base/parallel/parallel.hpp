#pragma once
// Parallel loops that give the same bits at any thread count. Work is cut into blocks whose borders depend only on the
// problem. One thread computes each block, and the blocks' results are combined in block order.

#include <algorithm>
#include <limits>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

class Run;

/// Rows 0..rows-1 cut into consecutive blocks of `size` rows (the last may be shorter).
struct RowBlocks {
    Index rows = 0;
    Index size = 1;

    Index count() const { return (rows + size - 1) / size; }
    Index begin(Index block) const { return block * size; }
    Index end(Index block) const { return std::min(rows, (block + 1) * size); }
};

/// Calls body(block, worker) for every block below count, on up to `threads` threads, but not more than processors.
/// `worker`, below `threads`, is the number of the thread, for its scratch space. If a body throws, the loop stops and
/// rethrows the exception of the lowest failing block. Inside another parallel loop, and in a forked child, uses only
/// the calling thread.
COTERIE_API void for_each_block(Index count, int threads, FunctionRef<void(Index block, int worker)> body);

/// Calls body(row, block) for every row, block by block, on up to `threads` threads.
template <class Body>
void for_each_row(const RowBlocks& blocks, int threads, const Body& body) {
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) body(i, block);
    });
}

/// A stage of a computation, for progress reports and stop requests. A loop may be the part from `begin` to `end` of a
/// stage.
struct Stage {
    std::string_view name;
    double begin = 0;
    double end = 1;
    /// Multiplications and additions of the whole loop. A small loop uses only the calling thread.
    double operations = std::numeric_limits<double>::infinity();
    /// For progress reports.
    int iteration = 0;
    double objective = std::numeric_limits<double>::quiet_NaN();
};
/// The same on run.threads. Before the loop and then about 20 times a second, the calling thread reports progress and
/// asks the caller whether to stop. After a stop request no further block begins, and the loop throws Cancelled.
COTERIE_API void for_each_block(Index count, const Run& run, const Stage& stage,
                                FunctionRef<void(Index block, int worker)> body);

namespace internal {
/// Call it in a block of a loop that can be stopped (for_each_block with a Run). It checks as the loop does between
/// blocks, and throws Cancelled, which ends the loop. Elsewhere it does nothing.
void stop_if_asked();
}  // namespace internal

/// Threads for a loop of `operations` multiplications and additions: 1 if waking other threads costs more than it
/// saves.
inline int threads_for(double operations, int threads) { return operations < 2e6 ? 1 : threads; }

/// The number of processors that this process may use, limited by the affinity mask and the cgroup quota; at least 1.
COTERIE_API int available_threads();

}  // namespace coterie
