// Part of every test program of a room: a loop gets as many threads as a test asks for, although the machine may have
// two processors. oneTBB has no more threads than processors otherwise, and what 8 threads do would go unseen.

#include <oneapi/tbb/global_control.h>

namespace {
const tbb::global_control as_many_as_asked(tbb::global_control::max_allowed_parallelism, 64);
}
