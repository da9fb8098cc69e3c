#pragma once
// Dense symmetric eigenproblems, one function each. Those of order 64 and more go to LAPACK (dsyevd, dsyevr, dsygvd;
// liblapacke.so.3 is looked for when the first one comes), the rest, or all of them on a machine without LAPACK, to
// Eigen: same answers to rounding, five times slower at order 2000. Either way on one thread, so that the bits do not
// depend on the number of threads.

#include <string_view>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct EigenPairs {
    Vector<double> values;   // ascending
    Matrix<double> vectors;  // columns; the entry of largest magnitude of each (first among equals) is positive
};

/// What large problems are solved by: "LAPACK (OpenBLAS, SkylakeX)", "LAPACK", or "Eigen". Looks for LAPACK if no
/// problem has yet.
std::string_view eigen_backend();

/// A v = lambda v for symmetric A (the lower triangle is read). BadArgument unless square and finite; InternalError if
/// it does not converge.
EigenPairs symmetric_eigen(const Matrix<double>& a);
/// Those of the `count` smallest eigenvalues only (0 to the order of A): a third of the time and of the memory when
/// they are few.
EigenPairs smallest_symmetric_eigen(const Matrix<double>& a, Index count);
/// The same, left where the caller stops: Cancelled, naming the stage.
EigenPairs symmetric_eigen(Matrix<double> a, const Run& run, std::string_view stage);
EigenPairs smallest_symmetric_eigen(Matrix<double> a, Index count, const Run& run, std::string_view stage);
/// A v = lambda B v, B positive definite, V'BV = I. Lower triangles are read. BadData when B is not positive definite
/// to working precision (a Cholesky pivot of rounding size counts as zero); BadArgument and InternalError as above.
EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace coterie
