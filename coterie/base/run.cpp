#include "coterie/base/run.hpp"

#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"

namespace coterie {

Run::Run() : threads(available_threads()) {}

Run::Run(std::uint64_t seed_, int threads_) : seed(seed_), threads(threads_ > 0 ? threads_ : available_threads()) {}

void Run::throw_if_stopped(std::string_view stage) const {
    if (stop_requested()) throw Cancelled("interrupted during " + std::string(stage) + ", before there was a result");
}

}  // namespace coterie
