#pragma once
// Internal: smooth motions of points, F = G P, with the Gaussian matrix G_ij = exp(-||x_i - x_j||^2 / (2 sigma^2)). Its
// decomposition is computed once,  G = Q S Q'  (n x n, rank r). Equation 20 of the paper then becomes one small system
// (points are rows here; Y~ = Q'Y, X~ = Q'X, P~ = Q'P, D = (S^2 + lambda)^-1):
//
//     minimise  || Z ||^2 - || Y'Z ||^2 + lambda || P ||^2,   Z = X + G P,   Y'Y = I
//     P = -(G (I - YY') G + lambda I)^-1 G (I - YY') X
//
//     M  = I - Y~' S^2 D Y~ = (I - Y~'Y~) + Y~' lambda D Y~                   k x k
//     C  = M^-1 (Y'X - Y~' S^2 D X~)                                          k x d
//     P~ = D S (Y~ C - X~)                                                    r x d
//     F  = Q S^2 D Y~ C - B,   B = Q S^2 D X~ once for every lambda           n x d
//
// Cost: n^3 per sigma (n r^2 if G has a low rank r), n r d per lambda, then n k (r + d) per Y.

#include <mutex>
#include <optional>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/deformation/internal/kernel_factor.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie::deformation::internal {

using namespace coterie::internal;

class SmoothMotion {
public:
    /// X: n x d, relative to an origin close to the points. `landmarks` 0: G to working precision, memory 4 n^2
    /// numbers; throws ResourceError before it starts if they exceed the memory limit. Otherwise G is its Nystroem form
    /// with at most `landmarks` landmarks, memory 4 n landmarks.
    SmoothMotion(Matrix<double> points, double sigma, Index landmarks, const Run& run);

    const Matrix<double>& points() const { return points_; }
    double sigma() const { return sigma_; }
    Index rank() const { return eigenvalues_.size(); }
    /// The largest error of the Nystroem form at a kernel value k(x, x) = 1; 0 without landmarks.
    double residual() const { return residual_; }

    /// Y, given by two products: Y~ = Q'Y (r x k) and Y'X (k x d).
    struct Indicator {
        Matrix<double> in_basis;
        Matrix<double> of_points;
    };
    /// Y_c = 1 / sqrt(n_c) on the members of c; empty clusters have no column.
    Indicator indicator_of(const Labels& labels, int clusters) const;

    struct Motion {
        Matrix<double> in_basis;      // P~, r x d
        Matrix<double> displacement;  // F, n x d; empty if not requested

        /// Replaces this motion by share * this + (1 - share) * other.
        void blend(double share, const Motion& other);
    };

    /// The leading `count` left singular vectors of Z = X + F; fewer if the rank of Z is smaller.
    struct Leading {
        Indicator indicator;
        Vector<double> singular_values;
        Matrix<double> right;  // d x count: y(x) = right' x / singular_values

        /// right / singular_values
        Matrix<double> scaled() const { return right * singular_values.cwiseInverse().asDiagonal(); }
    };
    Leading leading_of(const Motion& motion, int count) const;

    /// Solves equation 20 for one lambda and any Y.
    class Solver {
    public:
        /// `displaced`: motions include F.
        Solver(const SmoothMotion& of, double lambda, bool displaced);
        Motion best(const Indicator& indicator) const;
        /// J of a motion and an indicator.
        double objective(const Motion& motion, const Indicator& indicator) const;

    private:
        const SmoothMotion& of_;
        double lambda_;
        Vector<double> weight_;  // D
        Vector<double> shrunk_;  // S^2 D
        Matrix<double> base_;    // B; empty if not displaced
    };

    /// F = Q S P~, n x d.
    Matrix<double> displacement(const Matrix<double>& in_basis) const;
    /// The coefficients that move new points x: G(x, X) P with P = Q P~ (n x d), or with landmarks l(x) L'P (L'P m x
    /// d).
    Matrix<double> coefficients(const Matrix<double>& in_basis) const;
    /// Empty without landmarks.
    const std::optional<Landmarks>& landmarks() const { return landmarks_; }

private:
    void take_apart(Matrix<double> factor, const Run& run);
    void keep_pairs(const EigenPairs& pairs, const Matrix<double>& to_points);

    Matrix<double> points_;
    double sigma_;
    int threads_;
    double residual_ = 0;
    std::optional<Landmarks> landmarks_;
    Matrix<double> factor_basis_;  // with landmarks L'Q, m x r
    Matrix<double> basis_;         // Q, n x r
    Vector<double> eigenvalues_;   // S, r, descending
    bool complete_ = false;        // r = n
    Matrix<double> in_basis_;      // X~, r x d
    mutable std::once_flag scattered_;
    mutable Matrix<double> scatter_;  // X'X, d x d; computed when leading_of first needs it
    double squared_norm_ = 0;         // || X ||^2
};

}  // namespace coterie::deformation::internal
