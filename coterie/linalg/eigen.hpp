#pragma once
// Dense symmetric eigenproblems, one function each. Problems of order 64 and more go to LAPACK (dsyevd, dsyevr,
// dsygvd). The first such problem loads liblapacke.so.3. Smaller problems, and all problems on a machine without
// LAPACK, go to Eigen. Its answers agree up to rounding; it is five times slower at order 2000. Both run on one thread,
// so the bits do not depend on the number of threads.

#include <string_view>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct EigenPairs {
    Vector<double> values;   // ascending
    Matrix<double> vectors;  // columns; each column's entry of largest magnitude (first among equals) is positive
};

/// The library that solves large problems: "LAPACK (OpenBLAS, SkylakeX)", "LAPACK", or "Eigen". Loads LAPACK if no
/// problem has done so yet.
std::string_view eigen_backend();

/// A v = lambda v for symmetric A; reads the lower triangle. Throws BadArgument unless A is square and finite,
/// InternalError if the solver does not converge.
EigenPairs symmetric_eigen(const Matrix<double>& a);
/// Only the pairs of the `count` smallest eigenvalues (0 to the order of A). If they are few, it takes a third of the
/// time and memory.
EigenPairs smallest_symmetric_eigen(const Matrix<double>& a, Index count);
/// The same, but the caller can stop it: throws Cancelled, naming the stage.
EigenPairs symmetric_eigen(Matrix<double> a, const Run& run, std::string_view stage);
EigenPairs smallest_symmetric_eigen(Matrix<double> a, Index count, const Run& run, std::string_view stage);
/// A v = lambda B v, B positive definite, V'BV = I. Reads the lower triangles. Throws BadData if B is not positive
/// definite to working precision (a Cholesky pivot of rounding size counts as zero); BadArgument and InternalError as
/// above.
EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace coterie
