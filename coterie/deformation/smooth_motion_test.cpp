#include "coterie/deformation/smooth_motion.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/SVD>

#include "coterie/kmeans/test_support.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"

namespace coterie::internal {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Matrix<double> centred_points(Index n, Index d, std::uint64_t seed) {
    Matrix<double> points = test::blob_points<double>(n, d, 3, 2.0, seed);
    points.rowwise() -= points.colwise().mean().eval();
    return points;
}

Labels random_labels(Index n, int k, std::uint64_t seed) {
    RandomStream random(seed, "test.labels");
    Labels out(at(n));
    for (auto& label : out) label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(k)));
    return out;
}

Matrix<double> indicator_matrix(const Labels& labels, int k) {
    Matrix<double> y = Matrix<double>::Zero(static_cast<Index>(labels.size()), k);
    for (std::size_t i = 0; i < labels.size(); ++i) y(static_cast<Index>(i), labels[i]) = 1;
    for (Index c = 0; c < k; ++c)
        if (y.col(c).norm() > 0) y.col(c) /= y.col(c).norm();
    return y;
}

// J of the paper's equation 11, written down.
double literal_objective(const Matrix<double>& x, const Matrix<double>& g, const Matrix<double>& p,
                         const Matrix<double>& y, double lambda) {
    const Matrix<double> z = x + g * p;
    return z.squaredNorm() - (y.transpose() * z).squaredNorm() + lambda * p.squaredNorm();
}

// Equation 20, solved as it stands.
Matrix<double> direct_solution(const Matrix<double>& x, const Matrix<double>& g, const Matrix<double>& y,
                               double lambda) {
    const Index n = x.rows();
    const Matrix<double> rest = Matrix<double>::Identity(n, n) - y * y.transpose();
    Eigen::MatrixXd left = g * rest * g;
    left.diagonal().array() += lambda;
    return -left.ldlt().solve(Eigen::MatrixXd(g * rest * x));
}

TEST(GaussianKernel, IsWhatItSays) {
    const Matrix<double> x = centred_points(70, 3, 1);
    const Matrix<double> y = centred_points(40, 3, 2);
    const Matrix<double> k = gaussian_kernel(x, y, 1.7, 2);
    for (Index i = 0; i < 70; ++i)
        for (Index j = 0; j < 40; ++j)
            EXPECT_NEAR(k(i, j), std::exp(-(x.row(i) - y.row(j)).squaredNorm() / (2 * 1.7 * 1.7)), 1e-14);
    const Matrix<double> own = gaussian_kernel(x, x, 1.7, 2);
    EXPECT_EQ(own, Matrix<double>(own.transpose()));
    EXPECT_EQ(own.diagonal(), Vector<double>(Vector<double>::Ones(70)));
    EXPECT_EQ(gaussian_kernel(x, y, 1.7, 1), gaussian_kernel(x, y, 1.7, 8));
}

TEST(SmoothMotion, EqualsTheDirectSolveOverTheWholeGrid) {
    const Matrix<double> x = centred_points(120, 4, 3);
    const Labels labels = random_labels(120, 3, 4);
    const Matrix<double> y = indicator_matrix(labels, 3);
    for (const double sigma : {0.25, 1.0, 4.0, 32.0, 1024.0}) {
        const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
        const SmoothMotion motion(x, sigma, coterie::Run());
        for (const double lambda : {1e-2, 1.0, 1e2, 1e5, 1e10}) {
            const Matrix<double> p = motion.best_motion(motion.indicator_of(labels, 3), lambda);
            const Matrix<double> expected = direct_solution(x, g, y, lambda);
            const Matrix<double> moved = g * expected;
            const double scale = moved.norm() + 1e-9 * x.norm();
            EXPECT_LT((motion.displacement(p) - moved).norm(), 1e-8 * scale) << sigma << " " << lambda;
            EXPECT_NEAR(motion.objective(p, motion.indicator_of(labels, 3), lambda),
                        literal_objective(x, g, expected, y, lambda), 1e-8 * x.squaredNorm())
                << sigma << " " << lambda;
            EXPECT_LT((g * motion.coefficients(p) - motion.displacement(p)).norm(), 1e-8 * scale);
        }
    }
}

TEST(SmoothMotion, TheSolutionIsTheGlobalMinimum) {
    const Matrix<double> x = centred_points(60, 3, 5);
    const Labels labels = random_labels(60, 4, 6);
    const Matrix<double> y = indicator_matrix(labels, 4);
    const Matrix<double> rest = Matrix<double>::Identity(60, 60) - y * y.transpose();
    RandomStream random(7, "test.perturbations");
    for (const double sigma : {0.5, 2.0, 8.0})
        for (const double lambda : {0.1, 10.0, 1e4}) {
            const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
            const SmoothMotion motion(x, sigma, coterie::Run());
            const auto indicator = motion.indicator_of(labels, 4);
            const Matrix<double> p = motion.coefficients(motion.best_motion(indicator, lambda));
            // The gradient of J at P: 2 G (I - YY') (X + G P) + 2 lambda P.
            const Matrix<double> part = 2 * g * rest * x;
            const Matrix<double> gradient = part + 2 * g * rest * g * p + 2 * lambda * p;
            EXPECT_LT(gradient.norm(), 1e-8 * part.norm()) << sigma << " " << lambda;
            const double least = literal_objective(x, g, p, y, lambda);
            for (int t = 0; t < 20; ++t) {
                Matrix<double> other = p;
                for (Index i = 0; i < other.size(); ++i) other.data()[i] += 1e-3 * random.normal() * p.norm();
                EXPECT_GT(literal_objective(x, g, other, y, lambda), least);
            }
        }
}

TEST(SmoothMotion, LeadingSingularVectorsOfTheMovedPoints) {
    const Matrix<double> x = centred_points(80, 6, 8);
    const Labels labels = random_labels(80, 3, 9);
    for (const double sigma : {1.0, 5.0}) {
        const SmoothMotion motion(x, sigma, coterie::Run());
        const Matrix<double> p = motion.best_motion(motion.indicator_of(labels, 3), 5.0);
        const Matrix<double> z = x + motion.displacement(p);
        const Eigen::JacobiSVD<Eigen::MatrixXd> svd(Eigen::MatrixXd(z), Eigen::ComputeThinU | Eigen::ComputeThinV);
        const auto leading = motion.leading_of(p, 3);
        ASSERT_EQ(leading.singular_values.size(), 3);
        for (Index c = 0; c < 3; ++c) EXPECT_NEAR(leading.singular_values[c], svd.singularValues()[c], 1e-9);
        const Matrix<double> y = svd.matrixU().leftCols(3);
        const double expected = z.squaredNorm() - (y.transpose() * z).squaredNorm() + 5.0 * p.squaredNorm();
        EXPECT_NEAR(motion.objective(p, leading.indicator, 5.0), expected, 1e-8 * z.squaredNorm());
        // Equation 20 for this relaxed indicator.
        const Matrix<double> next = motion.best_motion(leading.indicator, 5.0);
        const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
        const Matrix<double> moved = g * direct_solution(x, g, y, 5.0);
        EXPECT_LT((motion.displacement(next) - moved).norm(), 1e-8 * moved.norm());
    }
}

TEST(SmoothMotion, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> x = centred_points(300, 5, 10);
    const Labels labels = random_labels(300, 3, 11);
    const SmoothMotion one(x, 2.0, coterie::Run(0, 1));
    const Matrix<double> expected = one.displacement(one.best_motion(one.indicator_of(labels, 3), 3.0));
    for (const int threads : {2, 8}) {
        const SmoothMotion more(x, 2.0, coterie::Run(0, threads));
        EXPECT_EQ(more.displacement(more.best_motion(more.indicator_of(labels, 3), 3.0)), expected);
    }
}

}  // namespace
}  // namespace coterie::internal
