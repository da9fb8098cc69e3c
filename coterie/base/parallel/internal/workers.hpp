#pragma once
// Internal: the threads behind for_each_block (base/parallel/parallel.hpp), which is oneTBB's only user here.

#include "coterie/base/function_ref.hpp"

namespace coterie::internal {

/// Calls work(0), ..., work(workers - 1), each once, on the calling thread and on whichever workers come in time; what
/// is left the calling thread does by itself. Returns when all are done. work must not throw.
void run_workers(int workers, FunctionRef<void(int worker)> work);

/// The most threads that can work at once: the processors, or what the host set through tbb::global_control. 1 in the
/// child of a fork, when the parent had workers: they stayed there, and with them locks that they may have held.
int most_workers();

/// The processors in the affinity mask of the process.
int processors();

}  // namespace coterie::internal
