#pragma once
// Parallel loops that give the same bits at any thread count: work is cut into blocks whose borders depend on the
// problem alone, each block is computed by one thread, and what blocks contribute is put together in block order.

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

/// Calls body(block, worker) for every block below count on up to `threads` threads, at most the processors; worker,
/// below `threads`, names the thread's scratch space. A body's exception stops the loop and is thrown again here (that
/// of the lowest block that failed). In another parallel loop, or a forked child, it runs on the calling thread alone.
COTERIE_API void for_each_block(Index count, int threads, FunctionRef<void(Index block, int worker)> body);

/// A stage of a computation, for its progress and for who stops it; a loop may be a part of one, from `begin` to `end`
/// of 1.
struct Stage {
    std::string_view name;
    double begin = 0;
    double end = 1;
    /// Multiplications and additions of the whole loop; few are done on the calling thread alone.
    double operations = std::numeric_limits<double>::infinity();
    /// For the progress.
    int iteration = 0;
    double objective = std::numeric_limits<double>::quiet_NaN();
};
/// The same on run.threads, while the calling thread reports progress and asks the caller whether to stop, before the
/// loop and then between blocks, some 20 times a second: then no further block is begun, and Cancelled, which names the
/// stage, is thrown.
COTERIE_API void for_each_block(Index count, const Run& run, const Stage& stage,
                                FunctionRef<void(Index block, int worker)> body);

/// Threads for a loop of so many multiplications and additions: 1 when waking others would cost more than it saves.
inline int threads_for(double operations, int threads) { return operations < 2e6 ? 1 : threads; }

/// The processors this process may use: affinity mask and cgroup quota taken into account; at least 1.
COTERIE_API int available_threads();

}  // namespace coterie
