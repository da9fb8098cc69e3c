#include "coterie/deformation/internal/smooth_motion.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/SVD>

#include "coterie/linalg/gaussian_kernel.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::deformation::internal {
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

// J of the paper's equation 11, literally.
double literal_objective(const Matrix<double>& x, const Matrix<double>& g, const Matrix<double>& p,
                         const Matrix<double>& y, double lambda) {
    const Matrix<double> z = x + g * p;
    return z.squaredNorm() - (y.transpose() * z).squaredNorm() + lambda * p.squaredNorm();
}

// Equation 20, solved directly.
Matrix<double> direct_solution(const Matrix<double>& x, const Matrix<double>& g, const Matrix<double>& y,
                               double lambda) {
    const Index n = x.rows();
    const Matrix<double> rest = Matrix<double>::Identity(n, n) - y * y.transpose();
    Eigen::MatrixXd left = g * rest * g;
    left.diagonal().array() += lambda;
    return -left.ldlt().solve(Eigen::MatrixXd(g * rest * x));
}

TEST(GaussianKernel, AgreesWithTheFormula) {
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

TEST(SmoothMotion, EqualsTheDirectSolution) {
    const Matrix<double> x = centred_points(120, 4, 3);
    const Labels labels = random_labels(120, 3, 4);
    const Matrix<double> y = indicator_matrix(labels, 3);
    for (const double sigma : {0.25, 1.0, 4.0, 32.0, 1024.0}) {
        const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
        const SmoothMotion motion(x, sigma, 0, coterie::Run());
        for (const double lambda : {1e-2, 1.0, 1e2, 1e5, 1e10}) {
            const SmoothMotion::Solver solver(motion, lambda, true);
            const SmoothMotion::Indicator indicator = motion.indicator_of(labels, 3);
            const SmoothMotion::Motion best = solver.best(indicator);
            const Matrix<double> expected = direct_solution(x, g, y, lambda);
            const Matrix<double> moved = g * expected;
            const double scale = moved.norm() + 1e-9 * x.norm();
            EXPECT_LT((best.displacement - moved).norm(), 1e-8 * scale) << sigma << " " << lambda;
            EXPECT_LT((motion.displacement(best.in_basis) - moved).norm(), 1e-8 * scale) << sigma << " " << lambda;
            EXPECT_NEAR(solver.objective(best, indicator), literal_objective(x, g, expected, y, lambda),
                        1e-8 * x.squaredNorm())
                << sigma << " " << lambda;
            EXPECT_LT((g * motion.coefficients(best.in_basis) - moved).norm(), 1e-8 * scale);
        }
    }
}

TEST(SmoothMotion, SolutionIsTheGlobalMinimum) {
    const Matrix<double> x = centred_points(60, 3, 5);
    const Labels labels = random_labels(60, 4, 6);
    const Matrix<double> y = indicator_matrix(labels, 4);
    const Matrix<double> rest = Matrix<double>::Identity(60, 60) - y * y.transpose();
    RandomStream random(7, "test.perturbations");
    for (const double sigma : {0.5, 2.0, 8.0})
        for (const double lambda : {0.1, 10.0, 1e4}) {
            const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
            const SmoothMotion motion(x, sigma, 0, coterie::Run());
            const SmoothMotion::Solver solver(motion, lambda, false);
            const Matrix<double> p = motion.coefficients(solver.best(motion.indicator_of(labels, 4)).in_basis);
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
        const SmoothMotion motion(x, sigma, 0, coterie::Run());
        const SmoothMotion::Solver solver(motion, 5.0, true);
        const SmoothMotion::Motion best = solver.best(motion.indicator_of(labels, 3));
        const Matrix<double> z = x + best.displacement;
        const Eigen::JacobiSVD<Eigen::MatrixXd> svd(Eigen::MatrixXd(z), Eigen::ComputeThinU | Eigen::ComputeThinV);
        const auto leading = motion.leading_of(best, 3);
        ASSERT_EQ(leading.singular_values.size(), 3);
        for (Index c = 0; c < 3; ++c) EXPECT_NEAR(leading.singular_values[c], svd.singularValues()[c], 1e-9);
        const Matrix<double> y = svd.matrixU().leftCols(3);
        const double expected = z.squaredNorm() - (y.transpose() * z).squaredNorm() + 5.0 * best.in_basis.squaredNorm();
        EXPECT_NEAR(solver.objective(best, leading.indicator), expected, 1e-8 * z.squaredNorm());
        // Equation 20 for this relaxed indicator.
        const SmoothMotion::Motion next = solver.best(leading.indicator);
        const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
        const Matrix<double> moved = g * direct_solution(x, g, y, 5.0);
        EXPECT_LT((next.displacement - moved).norm(), 1e-8 * moved.norm());
    }
}

TEST(SmoothMotion, BlendsMotions) {
    const Matrix<double> x = centred_points(50, 3, 12);
    const SmoothMotion motion(x, 1.0, 0, coterie::Run());
    const SmoothMotion::Solver solver(motion, 2.0, true);
    SmoothMotion::Motion first = solver.best(motion.indicator_of(random_labels(50, 3, 13), 3));
    const SmoothMotion::Motion second = solver.best(motion.indicator_of(random_labels(50, 3, 14), 3));
    const Matrix<double> expected = 0.25 * first.displacement + 0.75 * second.displacement;
    first.blend(0.25, second);
    EXPECT_LT((first.displacement - expected).norm(), 1e-14 * expected.norm());
    EXPECT_LT((motion.displacement(first.in_basis) - expected).norm(), 1e-12 * expected.norm());
}

// A wide Gaussian uses the low-rank path, a narrow one the eigenvectors of all of G. The paper's grid has both, and
// both must equal the direct solution.
TEST(SmoothMotion, LowRankPathEqualsTheDirectSolution) {
    const Matrix<double> x = centred_points(300, 2, 15);
    const Labels labels = random_labels(300, 3, 16);
    const Matrix<double> y = indicator_matrix(labels, 3);
    bool low = false;
    bool high = false;
    for (const double sigma : {0.2, 2.0, 30.0, 1000.0}) {
        const SmoothMotion motion(x, sigma, 0, coterie::Run());
        (motion.rank() <= 75 ? low : high) = true;
        const Matrix<double> g = gaussian_kernel(x, x, sigma, 1);
        for (const double lambda : {1.0, 1e3, 1e6}) {
            const Matrix<double> moved = g * direct_solution(x, g, y, lambda);
            const SmoothMotion::Motion best =
                SmoothMotion::Solver(motion, lambda, true).best(motion.indicator_of(labels, 3));
            EXPECT_LT((best.displacement - moved).norm(), 1e-8 * moved.norm()) << sigma << " " << lambda;
        }
    }
    EXPECT_TRUE(low && high);
}

TEST(SmoothMotion, LandmarksSolveTheProblemOfTheirKernel) {
    const Matrix<double> x = centred_points(150, 3, 17);
    const Matrix<double> others = centred_points(40, 3, 18);
    const Labels labels = random_labels(150, 3, 19);
    const Matrix<double> y = indicator_matrix(labels, 3);
    const SmoothMotion motion(x, 1.5, 40, coterie::Run());
    EXPECT_EQ(motion.rank(), 40);
    EXPECT_GT(motion.residual(), 0);
    const KernelFactor factor = kernel_factor(x, 1.5, 40, 0, coterie::Run());
    const Matrix<double> g = factor.rows * factor.rows.transpose();
    const Matrix<double> expected = direct_solution(x, g, y, 10.0);
    const SmoothMotion::Motion best = SmoothMotion::Solver(motion, 10.0, true).best(motion.indicator_of(labels, 3));
    EXPECT_LT((best.displacement - g * expected).norm(), 1e-8 * (g * expected).norm());
    // New points move by the same kernel.
    const Matrix<double> moved = motion.landmarks()->rows(others, 1) * motion.coefficients(best.in_basis);
    const Matrix<double> direct = factor.landmarks.rows(others, 1) * factor.rows.transpose() * expected;
    EXPECT_LT((moved - direct).norm(), 1e-8 * direct.norm());
    // With as many landmarks as points, the form is exactly G.
    const SmoothMotion all(x, 1.5, 150, coterie::Run());
    const SmoothMotion exact(x, 1.5, 0, coterie::Run());
    const auto best_of = [&](const SmoothMotion& of) {
        return SmoothMotion::Solver(of, 10.0, true).best(of.indicator_of(labels, 3)).displacement;
    };
    EXPECT_LT((best_of(all) - best_of(exact)).norm(), 1e-8 * best_of(exact).norm());
}

TEST(SmoothMotion, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> x = centred_points(700, 5, 10);
    const Labels labels = random_labels(700, 3, 11);
    for (const Index landmarks : {0, 100})
        for (const double sigma : {2.0, 200.0}) {
            const auto displacement = [&](int threads) {
                const SmoothMotion motion(x, sigma, landmarks, coterie::Run(0, threads));
                return SmoothMotion::Solver(motion, 3.0, true).best(motion.indicator_of(labels, 3)).displacement;
            };
            const Matrix<double> expected = displacement(1);
            for (const int threads : {2, 8}) EXPECT_EQ(displacement(threads), expected);
        }
}

}  // namespace
}  // namespace coterie::deformation::internal
