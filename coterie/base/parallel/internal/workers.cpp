// The threads of parallel loops are oneTBB's: one pool that all libraries of the process share, so that two loops of
// two host threads get no more workers than there are processors. A loop never waits for a worker that has not come,
// and idle workers give the processor up, then sleep; so nothing collapses where processors are shared.
//
// What holds: callers never run each other's work; the host cancelling its own tasks leaves none of ours undone;
// workers compute in the caller's rounding and flush-to-zero mode; a child after a fork works alone.
//
// Under the thread sanitizer this file is compiled without it: it does not see how the library, which was built without
// it, orders what threads do, and would report the library's own hand-over. The order is said to it in run_workers. A
// suppression of what passes through the library would silence every race of a loop's body instead: it is called there.

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

namespace coterie::internal {
namespace {

std::atomic<bool> workers_lost{false};  // this is the child of a fork

// For the thread sanitizer, which does not see into this file and into oneTBB: all that was done before order_before(p)
// comes before what is done after order_after(p).
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

// An arena says who may help. It is lent to one loop at a time, so that callers never run each other's work, and kept
// for the next: workers that still look for work there come within a microsecond.
class Arenas {
public:
    // Never destroyed: loops may run until the process ends.
    static Arenas& of_process() {
        static Arenas& arenas = *new Arenas;
        order_after(&arenas);  // its making: static, by one thread
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
    // Isolated from the host's tasks; with the caller's floating-point settings.
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

}  // namespace coterie::internal
