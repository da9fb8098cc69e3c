#include "coterie/base/parallel.hpp"

#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace coterie {

#ifdef _OPENMP
void for_each_block(Index count, int threads, FunctionRef<void(Index, int)> body) {
    const int workers = static_cast<int>(std::min<Index>(std::max(threads, 1), count));
    if (workers <= 1 || omp_in_parallel()) {
        for (Index block = 0; block < count; ++block) body(block, 0);
        return;
    }
    std::atomic<Index> next{0};
    std::atomic<bool> failed{false};
    std::mutex mutex;
    std::exception_ptr error;
    Index error_block = count;
#pragma omp parallel num_threads(workers) default(shared)
    {
        const int worker = omp_get_thread_num();
        while (!failed.load(std::memory_order_relaxed)) {
            const Index block = next.fetch_add(1, std::memory_order_relaxed);
            if (block >= count) break;
            try {
                body(block, worker);
            } catch (...) {
                const std::lock_guard lock(mutex);
                failed = true;
                if (block < error_block) {
                    error_block = block;
                    error = std::current_exception();
                }
            }
        }
    }
    if (error) std::rethrow_exception(error);
}
#else
// A compiler without OpenMP: one thread, the same result.
void for_each_block(Index count, int, FunctionRef<void(Index, int)> body) {
    for (Index block = 0; block < count; ++block) body(block, 0);
}
#endif

int available_threads() {
#ifdef _OPENMP
    int threads = omp_get_num_procs();  // honours the affinity mask
#else
    int threads = 1;
#endif
    std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
    double quota = 0;  // not read where the file says "max"
    double period = 0;
    if (quota_file >> quota >> period && quota > 0 && period > 0) {
        const int allowed = static_cast<int>(std::ceil(quota / period));
        threads = std::min(threads, std::max(allowed, 1));
    }
    return std::max(threads, 1);
}

}  // namespace coterie
