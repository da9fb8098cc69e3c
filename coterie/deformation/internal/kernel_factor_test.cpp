#include "coterie/deformation/internal/kernel_factor.hpp"

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "coterie/base/random.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"

namespace coterie {
namespace {

Matrix<double> normal_points(Index n, Index d, std::uint64_t seed) {
    RandomStream random(seed, "test.points");
    Matrix<double> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
    return out;
}

TEST(KernelFactor, ResidualIsNonnegativeAndZeroAtLandmarks) {
    const Matrix<double> points = normal_points(90, 3, 1);
    const Matrix<double> kernel = gaussian_kernel(points, points, 0.8, 1);
    for (const Index most : {1, 7, 40}) {
        const deformation::internal::KernelFactor factor =
            deformation::internal::kernel_factor(points, 0.8, most, 0, coterie::Run());
        ASSERT_EQ(factor.rows.cols(), most);
        const Eigen::MatrixXd rest = kernel - factor.rows * factor.rows.transpose();
        EXPECT_NEAR(rest.diagonal().maxCoeff(), factor.residual, 1e-13);
        EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(rest).eigenvalues()[0], -1e-13);
        Index zero = 0;
        for (Index i = 0; i < 90; ++i) zero += rest.row(i).cwiseAbs().maxCoeff() < 1e-12;
        EXPECT_GE(zero, most);
    }
}

TEST(KernelFactor, IsExactForLowRankKernels) {
    const Matrix<double> points = normal_points(400, 3, 2);
    const deformation::internal::KernelFactor factor =
        deformation::internal::kernel_factor(points, 20.0, 400, 1e-15, coterie::Run());
    EXPECT_LT(factor.rows.cols(), 120);
    EXPECT_LE(factor.residual, 1e-15);
    const Matrix<double> kernel = gaussian_kernel(points, points, 20.0, 1);
    EXPECT_LT((kernel - factor.rows * factor.rows.transpose()).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(KernelFactor, DuplicatesAddNoLandmarks) {
    Matrix<double> points = normal_points(60, 2, 3);
    points.bottomRows(30) = points.topRows(30);
    EXPECT_EQ(deformation::internal::kernel_factor(points, 0.1, 60, 1e-12, coterie::Run()).rows.cols(), 30);
}

TEST(KernelFactor, RowsOfNewPointsFollowNystroem) {
    const Matrix<double> points = normal_points(80, 2, 4);
    const Matrix<double> others = normal_points(33, 2, 5);
    const deformation::internal::KernelFactor factor =
        deformation::internal::kernel_factor(points, 1.5, 25, 0, coterie::Run());
    EXPECT_LT((factor.landmarks.rows(points, 1) - factor.rows).cwiseAbs().maxCoeff(), 1e-7);
    // With a residual of 0, every kernel value is exact.
    const deformation::internal::KernelFactor whole =
        deformation::internal::kernel_factor(points, 1.5, 80, 1e-15, coterie::Run());
    const Matrix<double> kernel = gaussian_kernel(others, points, 1.5, 1);
    EXPECT_LT((whole.landmarks.rows(others, 1) * whole.rows.transpose() - kernel).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(KernelFactor, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> points = normal_points(3000, 4, 6);
    const deformation::internal::KernelFactor one =
        deformation::internal::kernel_factor(points, 1.0, 150, 0, coterie::Run(0, 1));
    const Matrix<double> new_rows = one.landmarks.rows(points, 1);
    for (const int threads : {2, 8}) {
        const deformation::internal::KernelFactor more =
            deformation::internal::kernel_factor(points, 1.0, 150, 0, coterie::Run(0, threads));
        EXPECT_EQ(more.rows, one.rows);
        EXPECT_EQ(more.landmarks.rows(points, threads), new_rows);
    }
}

}  // namespace
}  // namespace coterie
