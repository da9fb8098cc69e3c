#pragma once
// Internal: matrix products on several threads; orthonormal rows; signs of rows. The bits do not depend on the number
// of threads.

#include <algorithm>
#include <cmath>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// a b'. `symmetric`: the result is known to be symmetric; computes its lower triangle, the rest is 0.
Matrix<double> rows_by_rows(const Matrix<double>& a, const Matrix<double>& b, int threads, bool symmetric = false);
/// c += a' b.
void add_transposed_by(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads);
/// a' b.
inline Matrix<double> transposed_by(const Matrix<double>& a, const Matrix<double>& b, int threads) {
    Matrix<double> out = Matrix<double>::Zero(a.cols(), b.cols());
    add_transposed_by(a, b, out, threads);
    return out;
}

/// Makes row j orthogonal to the rows before it, which are orthonormal, twice for full precision. Then scales it to
/// length 1; if at most `least` of its length is left, returns false instead.
bool orthonormalize(Matrix<double>& rows, Index j, double least);
/// Flips the sign of rows so that each row's entry of largest magnitude (first among equals) is positive.
void make_largest_positive(Matrix<double>& rows);

/// The column of each row's largest entry, the first among equals.
template <class Derived>
Labels largest_columns(const Eigen::MatrixBase<Derived>& scores) {
    Labels out(at(scores.rows()));
    for (Index i = 0; i < scores.rows(); ++i) {
        Index best = 0;
        scores.row(i).maxCoeff(&best);
        out[at(i)] = static_cast<std::int32_t>(best);
    }
    return out;
}

/// Euclidean norm of `count` numbers. No square overflows or underflows, and the bits do not depend on the address.
double norm_of(const double* x, Index count);

/// to = row / ||row||. No square overflows or underflows, and the bits do not depend on the address. If all numbers are
/// 0, returns false and writes nothing. `to` may be the row itself.
template <class From, class To>
bool scale_to_unit(const From* row, Index count, To* to) {
    constexpr Index lanes = 8;  // partial sums
    const Index whole = count - count % lanes;
    double largest_of[lanes] = {};
    for (Index p = 0; p < whole; p += lanes)
        for (Index l = 0; l < lanes; ++l)
            largest_of[l] = std::max(largest_of[l], std::abs(static_cast<double>(row[p + l])));
    for (Index p = whole; p < count; ++p)
        largest_of[0] = std::max(largest_of[0], std::abs(static_cast<double>(row[p])));
    const double largest = *std::max_element(largest_of, largest_of + lanes);
    if (!(largest > 0)) return false;
    // A power of two, so that scaling does not round.
    const double near_one = std::ldexp(1.0, std::min(1023, -std::ilogb(largest)));  // 0 if it is infinite
    double squared_of[lanes] = {};
    const auto add = [&](Index p, Index l) {
        const double x = static_cast<double>(row[p]) * near_one;
        squared_of[l] += x * x;
    };
    for (Index p = 0; p < whole; p += lanes)
        for (Index l = 0; l < lanes; ++l) add(p + l, l);
    for (Index p = whole; p < count; ++p) add(p, p - whole);
    double squared = 0;
    for (const double each : squared_of) squared += each;
    const bool finite = std::isfinite(squared);  // if not, leaves the row for the next check
    const double shift = finite ? near_one : 1, factor = finite ? 1 / std::sqrt(squared) : 1;
    for (Index p = 0; p < count; ++p) to[p] = static_cast<To>(static_cast<double>(row[p]) * shift * factor);
    return true;
}

}  // namespace coterie::internal
