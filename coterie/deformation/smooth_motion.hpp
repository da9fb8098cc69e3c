#pragma once
// Internal: smooth motions of points, F = G P, with the Gaussian matrix G_ij = exp(-||x_i - x_j||^2 / (2 sigma^2))
// taken apart once,  G = Q S Q'.  In this basis equation 20 of the paper is a diagonal matrix less one of rank k:
//
//     minimise  || Z ||^2 - || Y'Z ||^2 + lambda || P ||^2,   Z = X + G P,   Y'Y = I       (points are rows here)
//     P = -(G (I - YY') G + lambda I)^-1 G (I - YY') X
//
//     P~ = Q'P,  X~ = Q'X,  Y~ = Q'Y,  U = S Y~,  D = (S^2 + lambda)^-1,  R = -S (X~ - Y~ Y'X)
//     P~ = D R + D U (I - U'D U)^-1 U'D R           I - U'D U = (I - Y~'Y~) + Y~' lambda D Y~
//
// One O(n^3) a sigma, then O(n d k) a (lambda, Y).

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

class SmoothMotion {
public:
    /// X: n x d, about an origin amid them. Memory 4 n^2 numbers (ResourceError beforehand).
    SmoothMotion(Matrix<double> points, double sigma, const Run& run);

    const Matrix<double>& points() const { return points_; }
    double sigma() const { return sigma_; }
    Index rank() const { return eigenvalues_.size(); }
    /// || X ||^2
    double squared_norm() const { return squared_norm_; }

    /// Y by its two products: Y~ = Q'Y (r x k) and Y'X (k x d).
    struct Indicator {
        Matrix<double> in_basis;
        Matrix<double> of_points;
    };
    /// Y_c = 1 / sqrt(n_c) on the members of c; empty clusters have no column.
    Indicator indicator_of(const Labels& labels, int clusters) const;
    /// The leading `count` left singular vectors of Z = X + F for the motion P~ = in_basis; fewer where Z has a smaller
    /// rank.
    struct Leading {
        Indicator indicator;
        Vector<double> singular_values;
        Matrix<double> right;  // d x count: y(x) = right' x / singular_values
    };
    Leading leading_of(const Matrix<double>& motion, int count) const;

    /// P~ of equation 20, r x d.
    Matrix<double> best_motion(const Indicator& indicator, double lambda) const;
    /// J of a motion P~ and an indicator.
    double objective(const Matrix<double>& motion, const Indicator& indicator, double lambda) const;
    /// F = Q S P~, n x d.
    Matrix<double> displacement(const Matrix<double>& motion) const;
    /// P = Q P~, n x d: what moves new points by G(x, X) P.
    Matrix<double> coefficients(const Matrix<double>& motion) const;

private:
    Matrix<double> moved_in_basis(const Matrix<double>& motion) const;

    Matrix<double> points_;
    double sigma_;
    int threads_;
    Matrix<double> basis_;            // Q, n x r
    Vector<double> eigenvalues_;      // S, r, descending
    bool complete_ = false;           // r = n
    Matrix<double> in_basis_;         // X~, r x d
    mutable Matrix<double> scatter_;  // X'X, d x d; made when leading_of first needs it
    double squared_norm_ = 0;
};

}  // namespace coterie::internal
