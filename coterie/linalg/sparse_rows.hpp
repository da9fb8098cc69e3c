#pragma once
// Internal: sums over the entries of sparse rows; dense rows have kernels for them.

#include <span>
#include <string_view>

#include "coterie/base/run.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie::internal {

/// || c ||^2 in double, added in the order of the columns.
template <class T>
double squared_norm(const T* c, Index d) {
    double sum = 0;
    for (Index p = 0; p < d; ++p) sum += static_cast<double>(c[p]) * static_cast<double>(c[p]);
    return sum;
}

/// || x - c ||^2 in double; `squared`: squared_norm of c. Adds squared differences in the columns where x has entries,
/// and squares of c in the other columns. The squares are || c ||^2 minus its part in the columns of x, added in the
/// same order, so the result is 0 if c equals x.
template <class T, class Number>
double squared_distance(const SparseRow<T>& x, const Number* c, double squared) {
    double there = 0;
    double covered = 0;
    for (Index e = 0; e < x.count; ++e) {
        const auto other = static_cast<double>(c[x.column(e)]);
        const double difference = static_cast<double>(x.values[e]) - other;
        there += difference * difference;
        covered += other * other;
    }
    const double elsewhere = squared - covered;
    return there + (elsewhere > 0 ? elsewhere : 0.0);
}

/// Weighted means and variances of the columns, in two passes over the entries on one thread.
ColumnMoments sparse_moments(const SparsePoints& points, std::span<const double> weights);

/// Scales the rows to length 1, in the scalar type of the points; copies their values, but not their columns. Rows
/// whose values are all 0 stay unchanged; `zero_rows` receives their numbers.
SparsePoints unit_rows(const SparsePoints& points, int threads, std::vector<Index>& zero_rows);

/// The same entries in scalar type T.
template <class T>
SparsePoints values_as(const SparsePoints& points) {
    std::vector<T> values;
    if (points.scalar() == ScalarType::float32) {
        const auto from = points.values<float>();
        values.assign(from.begin(), from.end());
    } else {
        for (const double value : points.values<double>()) values.push_back(static_cast<T>(value));
    }
    return points.with_values(std::move(values));
}

}  // namespace coterie::internal
