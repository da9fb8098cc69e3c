// Squared distances come from one matrix product, || x ||^2 + || y ||^2 - 2 x'y, which is faster than differences.
// Results below 0 (rounding errors) count as 0. If x and y are the same, computes the lower triangle and mirrors it.

#include "coterie/linalg/gaussian_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie {

Matrix<double> gaussian_kernel(const Matrix<double>& x, const Matrix<double>& y, double width, int threads) {
    const bool same = &x == &y;
    Matrix<double> out = internal::rows_by_rows(x, y, threads, same);
    const Vector<double> x_squared = x.rowwise().squaredNorm();
    const Vector<double> y_squared = y.rowwise().squaredNorm();
    const RowBlocks blocks{x.rows(), 64};
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
            for (Index j = 0; j < (same ? i : y.rows()); ++j) {
                const double distance = std::sqrt(std::max(0.0, x_squared[i] + y_squared[j] - 2 * out(i, j))) / width;
                out(i, j) = std::exp(-0.5 * distance * distance);
            }
    });
    if (!same) return out;
    for (Index i = 0; i < x.rows(); ++i) {
        out(i, i) = 1;
        for (Index j = 0; j < i; ++j) out(j, i) = out(i, j);
    }
    return out;
}

}  // namespace coterie
