// The threads of parallel loops come from oneTBB, whose pool all libraries of the process share. So two loops on two
// host threads together get no more workers than processors. A loop never waits for a worker that has not come. Idle
// workers yield the processor and then sleep, so loops stay fast on processors that others use too.
//
// Invariants: callers never run each other's work. If the host cancels its own tasks, coterie's tasks are still done.
// Workers use the caller's rounding and flush-to-zero mode. A child after a fork works alone.
//
// This file is compiled without the thread sanitizer. oneTBB is built without it, so the sanitizer does not see how
// oneTBB orders threads, and would report false races. run_workers tells the sanitizer this order. Suppressing all
// reports from oneTBB would hide races in loop bodies too, because oneTBB calls them.

#include "coterie/base/parallel/internal/workers.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <pthread.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#ifdef COTERIE_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace coterie::base::internal {
namespace {

std::atomic<bool> workers_lost{false};  // this is the child of a fork

// The sanitizer does not see into this file and oneTBB. These calls tell it that everything before order_before(p)
// happens before everything after order_after(p).
void order_before([[maybe_unused]] void* point) {
#ifdef COTERIE_THREAD_SANITIZER
    __tsan_release(point);
#endif
}
void order_after([[maybe_unused]] void* point) {
#ifdef COTERIE_THREAD_SANITIZER
    __tsan_acquire(point);
#endif
}

// An arena decides which threads may help. Only one loop at a time uses an arena, so callers never run each other's
// work. It is kept for the next loop: workers that still look for work in it come within a microsecond.
class Arenas {
public:
    // Never destroyed: loops may run until the process ends.
    static Arenas& of_process() {
        static Arenas& arenas = *new Arenas;
        order_after(&arenas);  // a static, made by one thread
        return arenas;
    }
    std::unique_ptr<tbb::task_arena> take(int threads) {
        const std::lock_guard lock(mutex_);
        for (auto& arena : idle_) {
            if (arena->max_concurrency() != threads) continue;
            std::swap(arena, idle_.back());
            auto taken = std::move(idle_.back());
            idle_.pop_back();
            return taken;
        }
        return std::make_unique<tbb::task_arena>(threads);
    }
    void give_back(std::unique_ptr<tbb::task_arena> arena) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(arena));
    }

private:
    Arenas() {
        pthread_atfork(nullptr, nullptr, [] { workers_lost = true; });
        order_before(this);
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<tbb::task_arena>> idle_;
};

class LentArena {
public:
    explicit LentArena(int threads) : arena_(Arenas::of_process().take(threads)) {}
    ~LentArena() { Arenas::of_process().give_back(std::move(arena_)); }
    LentArena(const LentArena&) = delete;
    LentArena& operator=(const LentArena&) = delete;
    tbb::task_arena* operator->() const { return arena_.get(); }

private:
    std::unique_ptr<tbb::task_arena> arena_;
};

}  // namespace

void run_workers(int workers, FunctionRef<void(int worker)> work) {
    // Isolated from the host's tasks, with the caller's floating-point settings.
    tbb::task_group_context context(tbb::task_group_context::isolated, tbb::task_group_context::fp_settings);
    const LentArena arena(workers);
    // oneTBB orders the caller before its workers and their ends before the caller's return.
    char start = 0;
    char end = 0;
    order_before(&start);
    arena->execute([&] {
        tbb::parallel_for(
            0, workers,
            [&](int worker) {
                order_after(&start);
                work(worker);
                order_before(&end);
            },
            tbb::simple_partitioner(), context);
    });
    order_after(&end);
}

int most_workers() {
    if (workers_lost.load(std::memory_order_relaxed)) return 1;
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return static_cast<int>(std::min<std::size_t>(allowed, 1024));
}

int processors() { return tbb::info::default_concurrency(); }

}  // namespace coterie::base::internal
