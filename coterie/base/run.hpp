#pragma once
// Run: what the caller lends to a computation. The library has no globals, prints nothing and draws no number that is
// not from here.

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
    double objective = 0.0;  // latest objective value; NaN where there is none yet
    int iteration = 0;       // iterations done in this stage
};

class COTERIE_API Run {
public:
    std::uint64_t seed = 0;
    /// Threads to use; the result does not depend on it. Default: what the process may use.
    int threads;
    /// Called from the calling thread, between iterations.
    std::function<void(const Progress&)> on_progress;
    /// Where networks compute: "cpu", or "cuda" where LibTorch has it. Refused by methods without a network.
    std::string device = "cpu";
    /// A file that keeps the state of the fit, so that one that was cut off goes on from it; empty: none. Refused by
    /// methods that keep none.
    std::string checkpoint;
    /// Asked between iterations; true ends the fit with what was found so far (stopped = interrupted).
    std::function<bool()> should_stop;

    Run();
    explicit Run(std::uint64_t seed_, int threads_ = 0);

    RandomStream random(std::string_view purpose, std::uint64_t index = 0) const { return {seed, purpose, index}; }
    /// For a part of the work that draws its own numbers: the same threads, device and stop, no progress and no
    /// checkpoint, and a seed made of this one, `purpose` and `index`.
    Run child(std::string_view purpose, std::uint64_t index = 0) const;
    /// For a computation within another: the same but for what a network alone uses, device and checkpoint.
    Run within() const;
    /// For work that every process does by itself. One that is stopped is alone with that: such work is done
    /// together(), or unstopped().
    Run alone() const;
    /// For what is still to be done after the caller asked to stop: nobody stops it.
    Run unstopped() const;
    void report(const Progress& progress) const {
        if (on_progress) on_progress(progress);
    }
    /// Whether the caller asked to stop, on any of the processes: each asks at the same points of its work.
    bool stop_requested() const;
    /// The same of this process alone: within loops.
    bool stop_requested_here() const { return should_stop && should_stop(); }
    /// Throws Cancelled when stop_requested(): for stages that have nothing to return yet.
    void throw_if_stopped(std::string_view stage) const;
    /// The same of this process alone: while each process works without the others, as in reading.
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
