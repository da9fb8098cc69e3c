#include "coterie/deformation/smooth_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "coterie/base/memory.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"

namespace coterie::internal {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// a' b, c x m: the long side is summed over.
Matrix<double> transposed_by(const Matrix<double>& a, const Matrix<double>& b, int threads) {
    Matrix<double> out = Matrix<double>::Zero(a.cols(), b.cols());
    add_transposed_by(a, b, out, threads);
    return out;
}

// a b
Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b, int threads) {
    const Matrix<double> columns = b.transpose();
    return rows_by_rows(a, columns, threads);
}

}  // namespace

SmoothMotion::SmoothMotion(Matrix<double> points, double sigma, const Run& run)
    : points_(std::move(points)), sigma_(sigma), threads_(run.threads) {
    const Index n = points_.rows();
    require_memory(4.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n),
                   "the deformation of " + std::to_string(n) + " points");
    const EigenPairs pairs = symmetric_eigen(gaussian_kernel(points_, points_, sigma, threads_));
    run.throw_if_stopped("deformation");
    // Eigenvalues of rounding size move nothing, and G has none below 0.
    const double least = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * pairs.values[n - 1];
    Index rank = 0;
    while (rank < n && pairs.values[n - 1 - rank] > least) ++rank;
    complete_ = rank == n;
    eigenvalues_ = pairs.values.tail(rank).reverse();
    basis_ = pairs.vectors.rightCols(rank).rowwise().reverse();
    in_basis_ = transposed_by(basis_, points_, threads_);
    squared_norm_ = points_.squaredNorm();
}

SmoothMotion::Indicator SmoothMotion::indicator_of(const Labels& labels, int clusters) const {
    std::vector<Index> counts(at(clusters), 0);
    for (const auto label : labels) ++counts[at(label)];
    std::vector<Index> column(at(clusters), -1);
    Index columns = 0;
    for (std::size_t c = 0; c < counts.size(); ++c)
        if (counts[c] > 0) column[c] = columns++;
    Indicator out{Matrix<double>::Zero(columns, rank()), Matrix<double>::Zero(columns, points_.cols())};
    for (Index i = 0; i < points_.rows(); ++i) {
        const Index c = column[at(labels[at(i)])];
        out.in_basis.row(c) += basis_.row(i);
        out.of_points.row(c) += points_.row(i);
    }
    for (std::size_t c = 0; c < counts.size(); ++c) {
        if (counts[c] == 0) continue;
        const double root = std::sqrt(static_cast<double>(counts[c]));
        out.in_basis.row(column[c]) /= root;
        out.of_points.row(column[c]) /= root;
    }
    out.in_basis = Matrix<double>(out.in_basis.transpose());
    return out;
}

Matrix<double> SmoothMotion::moved_in_basis(const Matrix<double>& motion) const {
    return eigenvalues_.asDiagonal() * motion;
}

SmoothMotion::Leading SmoothMotion::leading_of(const Matrix<double>& motion, int count) const {
    if (scatter_.size() == 0) scatter_ = transposed_by(points_, points_, threads_);
    const Matrix<double> moved = moved_in_basis(motion);  // F~
    // Z'X and Z'Z, of which only the part in the basis has moved.
    const Matrix<double> crossed = transposed_by(moved, in_basis_, threads_);  // F'X
    Matrix<double> gram = scatter_ + crossed + crossed.transpose() + transposed_by(moved, moved, threads_);
    const Index d = points_.cols();
    const Index wanted = std::min<Index>(count, d);
    const EigenPairs pairs = smallest_symmetric_eigen(Matrix<double>(-gram), wanted);
    const double least = static_cast<double>(std::max(d, points_.rows())) * std::numeric_limits<double>::epsilon() *
                         std::max(0.0, -pairs.values[0]);
    Index kept = 0;
    while (kept < wanted && -pairs.values[kept] > least) ++kept;
    Leading out;
    out.right = pairs.vectors.leftCols(kept);
    out.singular_values = (-pairs.values.head(kept)).cwiseSqrt();
    const Vector<double> inverse = out.singular_values.cwiseInverse();
    const Matrix<double> scaled = out.right * inverse.asDiagonal();  // V / sigma
    out.indicator.in_basis = product(in_basis_ + moved, scaled, threads_);
    // Y'X = (V / sigma)' Z'X
    out.indicator.of_points = transposed_by(scaled, Matrix<double>(scatter_ + crossed), threads_);
    return out;
}

Matrix<double> SmoothMotion::best_motion(const Indicator& indicator, double lambda) const {
    const Vector<double> weight = (eigenvalues_.array().square() + lambda).inverse();  // D
    const Matrix<double> right =
        -(eigenvalues_.asDiagonal() * (in_basis_ - product(indicator.in_basis, indicator.of_points, threads_)));
    const Matrix<double> u = eigenvalues_.asDiagonal() * indicator.in_basis;
    const Matrix<double> weighted = weight.asDiagonal() * u;  // D U
    // I - U'DU without its cancellation where lambda is small.
    Matrix<double> inner = transposed_by(indicator.in_basis,
                                         Matrix<double>((lambda * weight).asDiagonal() * indicator.in_basis), threads_);
    if (!complete_) {
        inner -= transposed_by(indicator.in_basis, indicator.in_basis, threads_);
        inner.diagonal().array() += 1.0;
    }
    const Matrix<double> projected = transposed_by(weighted, right, threads_);  // U'D R
    const Eigen::LDLT<Eigen::MatrixXd> factor{Eigen::MatrixXd(inner)};
    const Matrix<double> solved = factor.solve(projected);
    return weight.asDiagonal() * right + product(weighted, solved, threads_);
}

double SmoothMotion::objective(const Matrix<double>& motion, const Indicator& indicator, double lambda) const {
    const Matrix<double> moved = moved_in_basis(motion);
    const double norm = squared_norm_ + 2 * (in_basis_.cwiseProduct(moved)).sum() + moved.squaredNorm();
    const Matrix<double> seen = indicator.of_points + transposed_by(indicator.in_basis, moved, threads_);  // Y'Z
    return norm - seen.squaredNorm() + lambda * motion.squaredNorm();
}

Matrix<double> SmoothMotion::displacement(const Matrix<double>& motion) const {
    return product(basis_, moved_in_basis(motion), threads_);
}

Matrix<double> SmoothMotion::coefficients(const Matrix<double>& motion) const {
    return product(basis_, motion, threads_);
}

}  // namespace coterie::internal
