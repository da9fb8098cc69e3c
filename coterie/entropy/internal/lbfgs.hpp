#pragma once
// Internal: minimisation of a smooth function by limited-memory BFGS (Nocedal and Wright, algorithms 7.4 and 7.5) with
// a line search for the strong Wolfe conditions (3.5, 3.6).

#include <functional>

#include "coterie/base/points.hpp"

namespace coterie::entropy::internal {

using namespace coterie::internal;

struct LbfgsSettings {
    int iterations = 100;
    int memory = 10;
    double tolerance = 1e-12;  // stop when the gradient's norm is at most this times max(1, |x|)
};

struct LbfgsResult {
    double value = 0;
    int iterations = 0;
    bool converged = false;  // the tolerance was met, or no step lowers the value
};

/// f(x, gradient) returns the value at x and writes the gradient. on_iteration(value) is called after every iteration;
/// if it returns false, the search ends. x becomes the point with the lowest value found; the value never rises.
LbfgsResult minimize_lbfgs(const std::function<double(const Vector<double>&, Vector<double>&)>& f, Vector<double>& x,
                           const LbfgsSettings& settings, const std::function<bool(double)>& on_iteration);

}  // namespace coterie::entropy::internal
