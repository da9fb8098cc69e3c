#pragma once
// Dense symmetric eigenproblems, one function each. Large ones go to LAPACK (dsyevd, dsygvd; found at run time), the
// rest, or all of them on a machine without LAPACK, to Eigen.

#include "coterie/base/points.hpp"

namespace coterie {

struct EigenPairs {
    Vector<double> values;   // ascending
    Matrix<double> vectors;  // columns; the entry of largest magnitude of each (first among equals) is positive
};

/// A v = lambda v for symmetric A (the lower triangle is read). BadArgument unless square and finite; InternalError if
/// it does not converge.
EigenPairs symmetric_eigen(const Matrix<double>& a);
/// A v = lambda B v, B positive definite, V'BV = I. BadData when B is not positive definite.
EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b);

}  // namespace coterie
