#pragma once
// Internal: the distance of one row to a mean, from the differences, in double: what a reader is told.

#include <cmath>

#include "coterie/base/matrix.hpp"

namespace coterie::internal {

/// sum_p (x_p - mean_p)^2
template <class Scalar>
double squared_distance_to(const Scalar* x, const double* mean, Index d) {
    // Four sums: one would wait for itself at every step.
    double squared[4] = {0, 0, 0, 0};
    Index p = 0;
    for (; p + 4 <= d; p += 4)
        for (Index lane = 0; lane < 4; ++lane) {
            const double difference = static_cast<double>(x[p + lane]) - mean[p + lane];
            squared[lane] += difference * difference;
        }
    for (; p < d; ++p) squared[0] += (static_cast<double>(x[p]) - mean[p]) * (static_cast<double>(x[p]) - mean[p]);
    return (squared[0] + squared[1]) + (squared[2] + squared[3]);
}

}  // namespace coterie::internal
