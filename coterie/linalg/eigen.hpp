#pragma once
// Dense symmetric eigenproblems. LAPACK (dsyevd, dsyevr, dsygvd) solves problems of order 64 and more; the first such
// problem loads liblapacke.so.3. Eigen solves smaller problems, and all problems on a machine without LAPACK. Its
// results are equal up to rounding, but take five times as long at order 2000. Both run on one thread, so the bits do
// not depend on the number of threads.

#include <string_view>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct EigenPairs {
    Vector<double> values;   // ascending
    Matrix<double> vectors;  // columns; each column's entry of largest magnitude (first among equals) is positive
};

/// The library that solves large problems: "LAPACK (OpenBLAS, SkylakeX)", "LAPACK", or "Eigen". Loads LAPACK if needed.
std::string_view eigen_backend();

/// A v = lambda v for symmetric A; reads the lower triangle. Throws BadArgument unless A is square and finite,
/// InternalError if the solver does not converge.
EigenPairs symmetric_eigen(const Matrix<double>& a);
/// Only the pairs of the `count` smallest eigenvalues, 0 <= count <= order of A. A small count takes a third of time
/// and memory.
EigenPairs smallest_symmetric_eigen(const Matrix<double>& a, Index count);
/// The same, but the caller can stop it: then throws Cancelled with the stage.
EigenPairs symmetric_eigen(Matrix<double> a, const Run& run, std::string_view stage);
EigenPairs smallest_symmetric_eigen(Matrix<double> a, Index count, const Run& run, std::string_view stage);
/// A v = lambda B v, B positive definite, V'BV = I. Reads the lower triangles. Throws BadData if B is not positive
/// definite to working precision (tiny Cholesky pivots count as 0); BadArgument and InternalError as above.
EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace coterie
