// Part of the test program of each module: a loop gets as many threads as the test requests, even on a machine with two
// processors. By default, oneTBB has no more threads than processors, and loops with 8 threads would not be tested.

#include <oneapi/tbb/global_control.h>

namespace {
const tbb::global_control as_many_as_asked(tbb::global_control::max_allowed_parallelism, 64);
}
