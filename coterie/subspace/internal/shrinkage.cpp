// rho needs only the trace and the squared Frobenius norm, so callers need not build the matrix. For a multiple of the
// identity, rounding may make the denominator negative; it then counts as 0.

#include "coterie/subspace/internal/shrinkage.hpp"

#include <algorithm>

namespace coterie::subspace::internal {

double oas_shrinkage(double trace, double squared_frobenius, double count, Index dimensions) {
    const double squared_trace = trace * trace;
    const double denominator = (count + 1.0) * (squared_frobenius - squared_trace / static_cast<double>(dimensions));
    if (!(denominator > 0.0)) return 1.0;
    return std::min(1.0, (squared_frobenius + squared_trace) / denominator);
}

}  // namespace coterie::subspace::internal
