#pragma once
// Partial Cholesky factor of a Gaussian kernel matrix G (n x n), pivots chosen greedily where the diagonal
// that is left is largest:
//
//     G = L L' + E,   L n x m,   E positive semidefinite,   E = 0 in the rows and columns of the pivots
//
// The m pivots are landmarks, and L L' = G_nm G_mm^-1 G_mn the Nystroem form of G by them. A new point x has the row
// l(x), T l(x)' = k(landmarks, x) with T (m x m) the landmarks' own rows of L, and k(x, y) is about l(x) l(y)'.
// Cost n m (m + d), memory n m.

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/parts.hpp"

namespace coterie {

/// The landmarks of a factor: what rows of L for new points need.
class Landmarks {
public:
    Landmarks() = default;
    /// points: m x d, triangle: m x m, lower, its diagonal above 0.
    Landmarks(Matrix<double> points, Matrix<double> triangle, double width);

    Index count() const { return points_.rows(); }
    Index dimensions() const { return points_.cols(); }
    /// Rows l(x), q x m, for q x d points about the same origin as the landmarks.
    Matrix<double> rows(const Matrix<double>& points, int threads) const;

    /// PREFIX.points, PREFIX.triangle and PREFIX.width; `count` and `columns`: the letters of m and d in their shapes.
    void parts(Parts& parts, const std::string& prefix, char count, char columns);

private:
    Matrix<double> points_;
    Matrix<double> triangle_;
    double width_ = 0;
};

struct KernelFactor {
    Matrix<double> rows;  // L, n x m
    Landmarks landmarks;
    double residual = 0;  // the largest entry of the diagonal of E
};

/// Goes on until there are `most` columns or no entry of the diagonal of E is above `tolerance`. Points about an origin
/// amid them, n >= 1. The same bits at any number of threads.
KernelFactor kernel_factor(const Matrix<double>& points, double width, Index most, double tolerance, const Run& run);

}  // namespace coterie
