// Copies of a run for parts of the work, and the stop request, which gives the same answer on all processes. Asking
// costs a message with one number per process, so fits ask between iterations and not in loops.

#include "coterie/base/run.hpp"

#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/parallel.hpp"

namespace coterie {

Run::Run() : threads(available_threads()) {}

Run::Run(std::uint64_t seed_, int threads_) : seed(seed_), threads(threads_ > 0 ? threads_ : available_threads()) {}

Run Run::child(std::string_view purpose, std::uint64_t index) const {
    Run out = *this;
    out.seed = random(purpose, index).next64();
    out.on_progress = nullptr;
    out.checkpoint.clear();
    return out;
}

Run Run::within() const {
    Run out = *this;
    out.device = "cpu";
    out.checkpoint.clear();
    return out;
}

Run Run::alone() const {
    Run out = *this;
    out.communicator_.reset();
    return out;
}

Run Run::unstopped() const {
    Run out = *this;
    out.should_stop = nullptr;
    return out;
}

bool Run::stop_requested() const {
    const bool here = stop_requested_here();
    if (communicator().size() == 1) return here;
    return communicator().highest(here ? 1 : 0) == 1;
}

namespace {
void throw_if(bool stopped, std::string_view stage) {
    if (stopped) throw Cancelled::during(stage);
}
}  // namespace

void Run::throw_if_stopped(std::string_view stage) const { throw_if(stop_requested(), stage); }
void Run::throw_if_stopped_here(std::string_view stage) const { throw_if(stop_requested_here(), stage); }

}  // namespace coterie
