// The one parallel loop of the library: the calling thread and up to threads - 1 workers (internal/workers.cpp) take
// block after block from one counter until none is left. Blocks differ in cost, so they are handed out one by one
// instead of being shared out beforehand.
//
// What holds: every block is computed once, by one thread; a worker number is used by one thread at a time; blocks are
// handed out in order, so the lowest that fails has always been computed when the loop ends.

#include "coterie/base/parallel.hpp"

#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>

#include "coterie/base/internal/workers.hpp"

namespace coterie {
namespace {
thread_local bool inside_loop = false;  // this thread is computing a block of a loop on several threads
}

void for_each_block(Index count, int threads, FunctionRef<void(Index, int)> body) {
    Index workers = std::min<Index>(threads, count);
    if (workers > 1) workers = inside_loop ? 1 : std::min<Index>(workers, internal::most_workers());
    if (workers <= 1) {
        for (Index block = 0; block < count; ++block) body(block, 0);
        return;
    }
    std::atomic<Index> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    Index error_block = count;
    internal::run_workers(static_cast<int>(workers), [&](int worker) {
        inside_loop = true;
        while (true) {
            const Index block = next.fetch_add(1, std::memory_order_relaxed);
            if (block >= count) break;
            try {
                body(block, worker);
            } catch (...) {
                next.fetch_add(count, std::memory_order_relaxed);  // nobody takes another one
                const std::lock_guard lock(mutex);
                if (block < error_block) {
                    error_block = block;
                    error = std::current_exception();
                }
            }
        }
        inside_loop = false;
    });
    if (error) std::rethrow_exception(error);
}

int available_threads() {
    int threads = internal::processors();
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
