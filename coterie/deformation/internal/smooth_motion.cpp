// G is decomposed by a partial Cholesky factor if a rank of n / 4 gives it to working precision, otherwise by the
// eigenvectors of the whole matrix. All later steps use the r coordinates in this basis. Sums run in the order of the
// rows, and each thread has its own columns, so the bits are the same for any number of threads.

#include "coterie/deformation/internal/smooth_motion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/parallel/work_apart.hpp"
#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"

namespace coterie::deformation::internal {

// Remaining entries of the kernel's diagonal (originally 1) count as zero below this value.
static constexpr double rounding = 1e-15;

SmoothMotion::SmoothMotion(Matrix<double> points, double sigma, Index landmarks, const Run& run)
    : points_(std::move(points)), sigma_(sigma), threads_(run.threads) {
    const Index n = points_.rows();
    const auto needed = [&](Index columns) {
        require_memory(4.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(columns),
                       "the deformation of " + std::to_string(n) + " rows" +
                           (landmarks > 0 ? " with " + std::to_string(columns) + " landmarks" : ""));
    };
    squared_norm_ = points_.squaredNorm();
    if (landmarks > 0) {
        needed(std::min(n, landmarks));
        KernelFactor factor = kernel_factor(points_, sigma, landmarks, rounding, run);
        residual_ = factor.residual;
        take_apart(factor.rows, run);
        factor_basis_ = transposed_by(factor.rows, basis_, threads_);
        landmarks_ = std::move(factor.landmarks);
    } else {
        needed(n);
        // A wide Gaussian has a low rank r to working precision; the factor then costs n r^2.
        KernelFactor factor = kernel_factor(points_, sigma, n / 4, rounding, run);
        if (factor.residual <= rounding)
            take_apart(std::move(factor.rows), run);
        else
            keep_pairs(symmetric_eigen(gaussian_kernel(points_, points_, sigma, threads_), run, "deformation"), {});
    }
    run.throw_if_stopped("deformation");
    in_basis_ = transposed_by(basis_, points_, threads_);
}

// Computes Q and S from the eigenvectors of G, or from those of an m x m matrix A with G = T A T', T'T = I.
void SmoothMotion::keep_pairs(const EigenPairs& pairs, const Matrix<double>& to_points) {
    const Index n = points_.rows(), m = pairs.values.size();
    // Exact eigenvalues are never below 0; those of rounding size are omitted.
    const double least = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * pairs.values[m - 1];
    Index rank = 0;
    while (rank < m && pairs.values[m - 1 - rank] > least) ++rank;
    complete_ = rank == n;
    eigenvalues_ = pairs.values.tail(rank).reverse();
    basis_ = pairs.vectors.rightCols(rank).rowwise().reverse();
    if (to_points.size() > 0) basis_ = product(to_points, basis_, threads_);
}

// G = L L' with L = T R: the eigenvectors of R R' are as accurate as those of G. Those of L'L would not be: small ones
// would lose their orthogonality.
void SmoothMotion::take_apart(Matrix<double> factor, const Run& run) {
    struct Work {
        Matrix<double> factor;
        Matrix<double> to_points;
        EigenPairs pairs;
    };
    const auto own = std::make_shared<Work>(Work{std::move(factor), {}, {}});
    work_apart(
        [own] {
            const Index n = own->factor.rows(), m = own->factor.cols();
            const Eigen::HouseholderQR<Eigen::MatrixXd> qr{Eigen::MatrixXd(own->factor)};
            const Eigen::MatrixXd triangle = qr.matrixQR().topRows(m).triangularView<Eigen::Upper>();
            own->to_points = qr.householderQ() * Eigen::MatrixXd::Identity(n, m);
            own->pairs = symmetric_eigen(Matrix<double>(triangle * triangle.transpose()));
        },
        run, "deformation");
    keep_pairs(own->pairs, own->to_points);
}

SmoothMotion::Indicator SmoothMotion::indicator_of(const Labels& labels, int clusters) const {
    std::vector<Index> counts(at(clusters), 0);
    for (const auto label : labels) ++counts[at(label)];
    std::vector<Index> column(at(clusters), -1);
    std::vector<double> scale;
    for (std::size_t c = 0; c < counts.size(); ++c)
        if (counts[c] > 0) {
            column[c] = static_cast<Index>(scale.size());
            scale.push_back(1 / std::sqrt(static_cast<double>(counts[c])));
        }
    const auto columns = static_cast<Index>(scale.size());
    // Sums of the rows of each cluster; with several threads, each adds some columns.
    const auto sums_of = [&](const Matrix<double>& rows) {
        Matrix<double> sums = Matrix<double>::Zero(columns, rows.cols());
        const RowBlocks stripes{rows.cols(), 512};
        for_each_block(
            stripes.count(), threads_for(static_cast<double>(rows.size()), threads_), [&](Index stripe, int) {
                const Index begin = stripes.begin(stripe), count = stripes.end(stripe) - begin;
                for (Index i = 0; i < rows.rows(); ++i)
                    sums.row(column[at(labels[at(i)])]).segment(begin, count) += rows.row(i).segment(begin, count);
            });
        for (Index c = 0; c < columns; ++c) sums.row(c) *= scale[at(c)];
        return sums;
    };
    return {sums_of(basis_).transpose(), sums_of(points_)};
}

void SmoothMotion::Motion::blend(double share, const Motion& other) {
    in_basis = share * in_basis + (1 - share) * other.in_basis;
    displacement = share * displacement + (1 - share) * other.displacement;
}

SmoothMotion::Leading SmoothMotion::leading_of(const Motion& motion, int count) const {
    std::call_once(scattered_, [&] { scatter_ = transposed_by(points_, points_, threads_); });
    const Matrix<double> moved = eigenvalues_.asDiagonal() * motion.in_basis;  // F~
    // Z'X and Z'Z; only their part in the basis has changed.
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
    const Matrix<double> scaled = out.scaled();  // V / sigma
    out.indicator.in_basis = product(in_basis_ + moved, scaled, threads_);
    // Y'X = (V / sigma)' Z'X
    out.indicator.of_points = transposed_by(scaled, Matrix<double>(scatter_ + crossed), threads_);
    return out;
}

SmoothMotion::Solver::Solver(const SmoothMotion& of, double lambda, bool displaced) : of_(of), lambda_(lambda) {
    const auto squared = of.eigenvalues_.array().square();
    weight_ = (squared + lambda).inverse();
    shrunk_ = squared * weight_.array();
    if (displaced) base_ = product(of.basis_, Matrix<double>(shrunk_.asDiagonal() * of.in_basis_), of.threads_);
}

SmoothMotion::Motion SmoothMotion::Solver::best(const Indicator& indicator) const {
    const Matrix<double>& y = indicator.in_basis;
    // lambda D instead of I - S^2 D: no cancellation for small lambda.
    const Vector<double> kept = lambda_ * weight_;
    Matrix<double> inner = transposed_by(y, Matrix<double>(kept.asDiagonal() * y), of_.threads_);
    Matrix<double> right = transposed_by(Matrix<double>(kept.asDiagonal() * y), of_.in_basis_, of_.threads_);
    if (!of_.complete_) {
        inner -= transposed_by(y, y, of_.threads_);
        inner.diagonal().array() += 1.0;
        right += indicator.of_points - transposed_by(y, of_.in_basis_, of_.threads_);
    }
    const Matrix<double> solved = Eigen::LDLT<Eigen::MatrixXd>(Eigen::MatrixXd(inner)).solve(right);  // C
    Motion out;
    out.in_basis =
        weight_.cwiseProduct(of_.eigenvalues_).asDiagonal() * (product(y, solved, of_.threads_) - of_.in_basis_);
    if (base_.size() == 0) return out;
    const Matrix<double> moving = product(of_.basis_, Matrix<double>(shrunk_.asDiagonal() * y), of_.threads_);
    out.displacement = product(moving, solved, of_.threads_) - base_;
    return out;
}

double SmoothMotion::Solver::objective(const Motion& motion, const Indicator& indicator) const {
    // || Z ||^2 + lambda || P ||^2, Z~ = X~ + S P~
    double norm = of_.squared_norm_;
    for (Index i = 0; i < of_.rank(); ++i) {
        const double s = of_.eigenvalues_[i];
        norm += 2 * s * of_.in_basis_.row(i).dot(motion.in_basis.row(i)) +
                (s * s + lambda_) * motion.in_basis.row(i).squaredNorm();
    }
    const Matrix<double> weighted = of_.eigenvalues_.asDiagonal() * indicator.in_basis;
    const Matrix<double> seen = indicator.of_points + transposed_by(weighted, motion.in_basis, of_.threads_);  // Y'Z
    return norm - seen.squaredNorm();
}

Matrix<double> SmoothMotion::displacement(const Matrix<double>& in_basis) const {
    return product(basis_, Matrix<double>(eigenvalues_.asDiagonal() * in_basis), threads_);
}

Matrix<double> SmoothMotion::coefficients(const Matrix<double>& in_basis) const {
    return product(landmarks_ ? factor_basis_ : basis_, in_basis, threads_);
}

}  // namespace coterie::deformation::internal
