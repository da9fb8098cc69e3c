#pragma once
// Internal: products of whole matrices on several threads, and rows made orthonormal or given their sign. The same bits
// at any number of threads.

#include <algorithm>
#include <cmath>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// a b'. `symmetric`: the result is known to be, and only its lower triangle is computed; the rest is 0.
Matrix<double> rows_by_rows(const Matrix<double>& a, const Matrix<double>& b, int threads, bool symmetric = false);
/// c += a' b.
void add_transposed_by(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads);
/// a' b.
inline Matrix<double> transposed_by(const Matrix<double>& a, const Matrix<double>& b, int threads) {
    Matrix<double> out = Matrix<double>::Zero(a.cols(), b.cols());
    add_transposed_by(a, b, out, threads);
    return out;
}

/// Makes row j orthogonal to the rows before it, which are orthonormal, and of length 1; false, and not of length 1,
/// when no more than `least` of its length is left. Done twice, for working precision.
bool orthonormalize(Matrix<double>& rows, Index j, double least);
/// Turns rows round so that the entry of largest magnitude of each (first among equals) is positive.
void make_largest_positive(Matrix<double>& rows);

/// The column of the largest entry of each row, the first among equals.
template <class Derived>
Labels largest_columns(const Eigen::MatrixBase<Derived>& scores) {
    Labels out(static_cast<std::size_t>(scores.rows()));
    for (Index i = 0; i < scores.rows(); ++i) {
        Index best = 0;
        scores.row(i).maxCoeff(&best);
        out[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(best);
    }
    return out;
}

/// Length of `count` numbers: no square over- or underflows, and the same bits wherever they lie.
double norm_of(const double* x, Index count);

/// to = row / ||row||: no square over- or underflows. False, and nothing written, where all are 0. `to` may be the row
/// itself.
template <class From, class To>
bool scale_to_unit(const From* row, Index count, To* to) {
    double largest = 0;
    for (Index p = 0; p < count; ++p) largest = std::max(largest, std::abs(static_cast<double>(row[p])));
    if (!(largest > 0)) return false;
    double squared = 0;
    for (Index p = 0; p < count; ++p) {
        const double x = static_cast<double>(row[p]) / largest;
        squared += x * x;
    }
    const double length = std::sqrt(squared);
    for (Index p = 0; p < count; ++p) to[p] = static_cast<To>(static_cast<double>(row[p]) / largest / length);
    return true;
}

}  // namespace coterie::internal
