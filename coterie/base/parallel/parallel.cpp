// The only parallel loop of the library. The calling thread and up to threads - 1 workers (internal/workers.cpp) take
// blocks from one counter until none is left. Blocks differ in cost, so they are handed out one by one and not divided
// beforehand.
//
// Invariants: every block is computed once, by one thread. A worker number is used by one thread at a time. Blocks are
// handed out in order, so the lowest failing block has always been computed when the loop ends.

#include "coterie/base/parallel/parallel.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "coterie/base/parallel/internal/workers.hpp"
#include "coterie/base/run.hpp"

namespace coterie {
namespace {
thread_local bool inside_loop = false;  // this thread computes a block of a loop on several threads
thread_local const FunctionRef<void()>* stop_of_loop =
    nullptr;  // the stop check of the current loop, if it can be stopped
}  // namespace

void for_each_block(Index count, int threads, FunctionRef<void(Index, int)> body) {
    Index workers = std::min<Index>(threads, count);
    if (workers > 1) workers = inside_loop ? 1 : std::min<Index>(workers, base::internal::most_workers());
    if (workers <= 1) {
        for (Index block = 0; block < count; ++block) body(block, 0);
        return;
    }
    std::atomic<Index> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    Index error_block = count;
    base::internal::run_workers(static_cast<int>(workers), [&](int worker) {
        inside_loop = true;
        while (true) {
            const Index block = next.fetch_add(1, std::memory_order_relaxed);
            if (block >= count) break;
            try {
                body(block, worker);
            } catch (...) {
                next.fetch_add(count, std::memory_order_relaxed);  // no thread takes another block
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

void for_each_block(Index count, const Run& run, const Stage& stage, FunctionRef<void(Index, int)> body) {
    using Clock = std::chrono::steady_clock;
    constexpr auto interval = std::chrono::milliseconds(50);
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> stopped{run.stop_requested_here()};
    std::atomic<Index> done{0};
    auto asked = Clock::now();  // only the calling thread uses it
    const auto ask = [&] {
        const double share =
            count == 0 ? 1 : static_cast<double>(done.load(std::memory_order_relaxed)) / static_cast<double>(count);
        run.report({.stage = stage.name,
                    .fraction = stage.begin + share * (stage.end - stage.begin),
                    .objective = stage.objective,
                    .iteration = stage.iteration});
        if (run.stop_requested_here()) stopped = true;
        asked = Clock::now();
    };
    const auto throw_stopped = [&] { throw Cancelled::during(stage.name); };
    const auto stop_if_asked = [&] {
        if (std::this_thread::get_id() == caller && Clock::now() - asked >= interval) ask();
        if (stopped.load(std::memory_order_relaxed)) throw_stopped();
    };
    const FunctionRef<void()> within(stop_if_asked);
    struct Restored {
        const FunctionRef<void()>* before;
        ~Restored() { stop_of_loop = before; }
    };
    if (stopped) throw_stopped();
    for_each_block(count, threads_for(stage.operations, run.threads), [&](Index block, int worker) {
        stop_if_asked();
        const Restored restored{std::exchange(stop_of_loop, &within)};
        body(block, worker);
        done.fetch_add(1, std::memory_order_relaxed);
    });
    if (stopped) throw_stopped();
}

void internal::stop_if_asked() {
    if (stop_of_loop != nullptr) (*stop_of_loop)();
}

int available_threads() {
    int threads = base::internal::processors();
    std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
    double quota = 0;  // not read if the file says "max"
    double period = 0;
    if (quota_file >> quota >> period && quota > 0 && period > 0) {
        const int allowed = static_cast<int>(std::ceil(quota / period));
        threads = std::min(threads, std::max(allowed, 1));
    }
    return std::max(threads, 1);
}

}  // namespace coterie
