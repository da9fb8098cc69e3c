#pragma once
// Internal: the threads behind for_each_block (base/parallel/parallel.hpp). This is the only use of oneTBB in coterie.

#include "coterie/base/function_ref.hpp"

namespace coterie::base::internal {

/// Calls work(0), ..., work(workers - 1), each once, on the workers that come in time and on the calling thread, which
/// does the rest. Returns when all calls are done. work must not throw.
void run_workers(int workers, FunctionRef<void(int worker)> work);

/// The most threads that can work at once: the number of processors, or the limit that the host set through
/// tbb::global_control. 1 in a forked child if the parent had workers: the child has none, and locks that they held
/// stay locked.
int most_workers();

/// The number of processors in the affinity mask of the process.
int processors();

}  // namespace coterie::base::internal
