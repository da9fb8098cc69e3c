// rho from the trace and the squared Frobenius norm alone: whoever has these need not make the matrix. Where rounding
// takes the difference of a multiple of the identity below 0, it counts as 0.

#include "coterie/subspace/internal/shrinkage.hpp"

#include <algorithm>

namespace coterie {

double oas_shrinkage(double trace, double squared_frobenius, double count, Index dimensions) {
    const double squared_trace = trace * trace;
    const double denominator = (count + 1.0) * (squared_frobenius - squared_trace / static_cast<double>(dimensions));
    if (!(denominator > 0.0)) return 1.0;
    return std::min(1.0, (squared_frobenius + squared_trace) / denominator);
}

}  // namespace coterie
