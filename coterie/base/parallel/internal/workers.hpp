#pragma once
// Internal: the threads behind for_each_block (base/parallel/parallel.hpp). This is the only use of oneTBB in coterie.

#include "coterie/base/function_ref.hpp"

namespace coterie::base::internal {

using namespace coterie::internal;

/// Calls work(0), ..., work(workers - 1), each once, on the calling thread and on workers that come in time. The
/// calling thread does the rest alone. Returns when all are done. work must not throw.
void run_workers(int workers, FunctionRef<void(int worker)> work);

/// The most threads that can work at once: the number of processors, or what the host set through tbb::global_control.
/// 1 in the child of a fork whose parent had workers. The workers stay in the parent, as do locks that they may have
/// held.
int most_workers();

/// The number of processors in the affinity mask of the process.
int processors();

}  // namespace coterie::base::internal
