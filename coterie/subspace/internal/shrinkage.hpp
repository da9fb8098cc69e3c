#pragma once
// Shrinkage of a d x d covariance matrix S of n points towards a multiple of the identity:
//     (1 - rho) S + rho mu I,   mu = tr(S) / d.

#include <algorithm>

#include "coterie/base/points.hpp"

namespace coterie::subspace::internal {

/// rho by the oracle approximating shrinkage rule (Chen, Wiesel, Eldar and Hero 2010), in the form of scikit-learn and
/// of the authors' own program (without the terms 2/d, which vanish with growing d):
///     rho = min(1, (||S||_F^2 + tr(S)^2) / ((n + 1) (||S||_F^2 - tr(S)^2 / d)))
/// If the denominator is 0 (S is a multiple of the identity, or 0; rounding may make it negative), rho is 1. `count` is
/// n, or the summed weight. Callers need not build the matrix.
inline double oas_shrinkage(double trace, double squared_frobenius, double count, Index dimensions) {
    const double squared_trace = trace * trace;
    const double denominator = (count + 1.0) * (squared_frobenius - squared_trace / static_cast<double>(dimensions));
    if (!(denominator > 0.0)) return 1.0;
    return std::min(1.0, (squared_frobenius + squared_trace) / denominator);
}

}  // namespace coterie::subspace::internal
