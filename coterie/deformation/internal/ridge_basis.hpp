#pragma once
// Internal: points whitened with a ridge; all ridge regressions on the points share the result:
//
//     S = X'X = V D V'          X: n x q, minus its mean
//     A = X M,  M = V (D + lambda)^-1/2        A A' = X (S + lambda I)^-1 X' = K (K + lambda I)^-1,  K = X X'
//     (S + lambda I)^-1 X'F = M A'F            the ridge regression of F on X
//
// Directions without variance (eigenvalues of rounding size) are omitted.

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::deformation::internal {

using namespace coterie::internal;

class RidgeBasis {
public:
    /// An automatic lambda is lambda_rel tr(S) / q. Time n q^2 + q^3, or q n^2 + n^3 if n < q.
    RidgeBasis(const Matrix<double>& points, std::optional<double> lambda, double lambda_rel, const Run& run);

    double lambda() const { return lambda_; }
    /// tr(S) / q
    double mean_eigenvalue() const { return mean_eigenvalue_; }
    /// Whether lambda is so large that the whitened points, or regressions on them, would underflow.
    bool swamped() const { return !(lambda_ <= most * mean_eigenvalue_); }
    Index rank() const { return map_.cols(); }
    const Matrix<double>& whitened() const { return whitened_; }  // A, n x rank
    const Matrix<double>& map() const { return map_; }            // M, q x rank

    /// The largest lambda in units of tr(S) / q.
    static constexpr double most = 1e80;

private:
    double lambda_;
    double mean_eigenvalue_;
    Matrix<double> map_;
    Matrix<double> whitened_;
};

}  // namespace coterie::deformation::internal
