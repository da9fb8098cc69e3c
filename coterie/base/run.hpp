#pragma once
// Run: the seed, threads, device and callbacks for a computation. The library has no globals and prints nothing.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/random.hpp"

namespace coterie {

struct Progress {
    std::string_view stage;  // "seeding", "iterations", "reading", ...
    double fraction = 0.0;   // of this stage, 0 to 1
    double objective = 0.0;  // latest objective value; NaN if there is none yet
    int iteration = 0;       // iterations done in this stage
};

class COTERIE_API Run {
public:
    std::uint64_t seed = 0;
    /// Threads to use; the result does not depend on it. Default: available_threads().
    int threads;
    /// Called on the calling thread, between iterations and between the blocks of long loops.
    std::function<void(const Progress&)> on_progress;
    /// Where neural networks compute: "cpu", or "cuda" or "mps" if the installed LibTorch or PyTorch supports it.
    /// Methods without a network accept only "cpu".
    std::string device = "cpu";
    /// A file that keeps the state of the fit, so that an interrupted fit can continue; empty: none. An error if a
    /// method does not support it.
    std::string checkpoint;
    /// Called between iterations and between the blocks of long loops. If it returns true, the fit ends with the result
    /// so far (stopped = interrupted), or throws Cancelled if there is no result yet.
    std::function<bool()> should_stop;

    Run();
    explicit Run(std::uint64_t seed_, int threads_ = 0);

    RandomStream random(std::string_view purpose, std::uint64_t index = 0) const { return {seed, purpose, index}; }
    /// For a part of the work that draws its own random numbers. Keeps threads, device and stop request, without
    /// progress and checkpoint. The new seed depends on this seed, `purpose` and `index`.
    Run child(std::string_view purpose, std::uint64_t index = 0) const;
    /// For a computation within another one: this run without device and checkpoint, which only networks use.
    Run within() const;
    /// For work that every process does alone. A stop request then ends the work of one process only, so call such work
    /// within together(), or use unstopped().
    Run alone() const;
    /// For work that must still be done after the caller asked to stop: ignores stop requests.
    Run unstopped() const;
    void report(const Progress& progress) const {
        if (on_progress) on_progress(progress);
    }
    /// Whether the caller of any process asked to stop. All processes must call it at the same points of their work.
    bool stop_requested() const;
    /// The same for this process alone; for use within loops.
    bool stop_requested_here() const { return should_stop && should_stop(); }
    /// Throws Cancelled if stop_requested(). For stages that have no result yet.
    void throw_if_stopped(std::string_view stage) const;
    /// The same for this process alone; for work that each process does without the others, such as reading.
    void throw_if_stopped_here(std::string_view stage) const;

    Communicator& communicator() const { return communicator_ ? *communicator_ : single_; }
    void set_communicator(std::shared_ptr<Communicator> communicator) { communicator_ = std::move(communicator); }

private:
    std::shared_ptr<Communicator> communicator_;
    mutable Communicator single_;
};

/// Wall-clock seconds since construction or the last restart().
class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    double restart() {
        const double elapsed = seconds();
        start_ = Clock::now();
        return elapsed;
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace coterie
