// A thread cannot be ended from outside, so a thread whose work is no longer needed continues until it is done. The
// program waits for such threads when it ends, because the libraries that they call must stay loaded.

#include "coterie/base/parallel/work_apart.hpp"

#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "coterie/base/error.hpp"

namespace coterie::internal {
namespace {

class Left {
public:
    ~Left() {
        for (std::thread& thread : threads_) thread.join();
    }
    void add(std::thread thread) {
        const std::lock_guard lock(mutex_);
        threads_.push_back(std::move(thread));
    }
    bool any() {
        const std::lock_guard lock(mutex_);
        return !threads_.empty();
    }

private:
    std::mutex mutex_;
    std::vector<std::thread> threads_;
};

Left& left() {
    static Left all;
    return all;
}

}  // namespace

void work_apart(std::function<void()> work, const Run& run, std::string_view stage) {
    if (!run.should_stop) return work();
    left();  // made before anything that the work loads, so it is destroyed, and waits, first
    std::packaged_task<void()> task(std::move(work));
    std::future<void> done = task.get_future();
    std::thread thread(std::move(task));
    try {
        do {
            if (run.stop_requested_here()) throw Cancelled::during(stage);
        } while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready);
    } catch (...) {
        left().add(std::move(thread));
        throw;
    }
    thread.join();
    done.get();
}

bool work_was_left() { return left().any(); }

}  // namespace coterie::internal
