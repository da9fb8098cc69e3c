#pragma once
// Partial Cholesky factor of a Gaussian kernel matrix G (n x n). Each pivot is the largest remaining entry of the
// diagonal:
//
//     G = L L' + E,   L n x m,   E positive semidefinite,   E = 0 in the rows and columns of the pivots
//
// The m pivots are landmarks, and L L' = G_nm G_mm^-1 G_mn is the Nystroem form of G. T (m x m) holds the landmarks'
// own rows of L. A new point x has the row l(x) with T l(x)' = k(landmarks, x), and k(x, y) is about l(x) l(y)'.
// Cost n m (m + d), memory n m.

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/parts.hpp"

namespace coterie::deformation::internal {

using namespace coterie::internal;

/// The landmarks of a factor; they suffice to compute the rows of L for new points.
class Landmarks {
public:
    Landmarks() = default;
    /// points: m x d; triangle: m x m, lower, with a positive diagonal.
    Landmarks(Matrix<double> points, Matrix<double> triangle, double width);

    Index count() const { return points_.rows(); }
    /// Rows l(x), q x m, for q x d points relative to the same origin as the landmarks.
    Matrix<double> rows(const Matrix<double>& points, int threads) const;

    /// Adds PREFIX.points, PREFIX.triangle and PREFIX.width; `count` and `columns` are the letters of m and d in their
    /// shapes.
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

/// Adds columns until there are `most`, or until no entry of the diagonal of E is above `tolerance`. Points are
/// relative to an origin close to them, n >= 1. The bits are the same for any number of threads.
KernelFactor kernel_factor(const Matrix<double>& points, double width, Index most, double tolerance, const Run& run);

}  // namespace coterie::deformation::internal
