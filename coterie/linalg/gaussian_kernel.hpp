#pragma once
// The Gaussian kernel  k(x, y) = exp(-|| x - y ||^2 / (2 width^2))  between two sets of points.

#include "coterie/base/points.hpp"

namespace coterie {

/// x: n x d, y: m x d, width above 0. The result is n x m, in (0, 1], or 0 on underflow. Centre both near the origin,
/// because distances come from products. gaussian_kernel(x, x) is exactly symmetric, with ones on the diagonal. Time n
/// m d. The bits do not depend on the number of threads.
Matrix<double> gaussian_kernel(const Matrix<double>& x, const Matrix<double>& y, double width, int threads);

}  // namespace coterie
