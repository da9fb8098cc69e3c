#pragma once
// Internal: products, and the space spanned by the rows of X (n x q), for points with more columns than rows. A method
// that depends only on inner products of rows gives the same result on their n coordinates as on the q columns.

#include "coterie/base/points.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie::deformation::internal {

using namespace coterie::internal;

/// a b
inline Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b, int threads) {
    const Matrix<double> columns = b.transpose();
    return rows_by_rows(a, columns, threads);
}

/// The points minus an origin.
inline Matrix<double> less(PointsView points, const Vector<double>& origin) {
    Matrix<double> out = to_matrix<double>(points);
    out.rowwise() -= origin.transpose();
    return out;
}

struct RowSpace {
    Matrix<double> axes;         // Q, q x n, orthonormal columns
    Matrix<double> coordinates;  // C, n x n, X = C Q'
};

/// Householder QR of X'. Needs n <= q; X may be singular. Time q n^2.
RowSpace row_space(const Matrix<double>& points);

}  // namespace coterie::deformation::internal
