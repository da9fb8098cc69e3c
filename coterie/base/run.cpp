#include "coterie/base/run.hpp"

#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

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

void Run::throw_if_stopped(std::string_view stage) const {
    if (stop_requested()) throw Cancelled("interrupted during " + std::string(stage) + ", before there was a result");
}

}  // namespace coterie
