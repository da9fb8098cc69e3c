#include "coterie/deformation/rpca_om.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

RpcaOmModel fit(const Matrix<double>& points, const RpcaOmOptions& options, std::uint64_t seed = 0) {
    coterie::Run run(seed, 2);
    return fit_rpca_om(points, options, run);
}

// sum_i || (I - UU')(x_i - b) ||. Only the part of b outside the subspace matters, so any point of the subspace can be
// b.
double residual_sum(const Eigen::MatrixXd& points, const Eigen::MatrixXd& axes, const Eigen::VectorXd& mean) {
    const Eigen::MatrixXd centred = points.rowwise() - mean.transpose();
    return (centred - centred * axes * axes.transpose()).rowwise().norm().sum();
}

TEST(RpcaOm, ObjectiveNeverRises) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Matrix<double> points = test::blob_points<double>(150, 6, 4, 2.0, seed);
        for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf})
            for (const int dimensions : {1, 3, 5}) {
                RpcaOmOptions options;
                options.clusters = 4;
                options.dimensions = dimensions;
                options.kernel = kernel;
                options.tolerance = 0;
                options.max_iterations = 30;
                const RpcaOmModel model = fit(points, options, seed);
                const auto& history = model.fit_report().objective_per_iteration;
                ASSERT_GT(history.size(), 3u);
                EXPECT_LT(history.back(), history.front());
                for (std::size_t t = 1; t < history.size(); ++t)
                    EXPECT_LE(history[t], history[t - 1] * (1 + 1e-12)) << seed << " round " << t;
            }
    }
}

// Points of a plane, and a gross outlier: it tilts and shifts principal component analysis, but not this method.
TEST(RpcaOm, FindsThePlaneDespiteAnOutlier) {
    RandomStream random(1, "test.plane");
    Matrix<double> points(100, 3);
    for (Index i = 0; i < 100; ++i) points.row(i) << 3 * random.normal(), 2 * random.normal(), 7.0;
    points.row(17) << 30.0, 0.0, 27.0;
    RpcaOmOptions options;
    options.clusters = 2;
    options.dimensions = 2;
    options.tolerance = 1e-12;
    const RpcaOmModel model = fit(points, options);
    EXPECT_LT(model.directions().row(2).norm(), 1e-6);  // the plane is level ...
    // ... at z = 7: only the outlier's distance from it remains.
    EXPECT_NEAR(model.fit_report().objective, 20.0, 1e-4);
    const PrincipalAxes plain = principal_axes(points, 2, coterie::Run());
    EXPECT_GT(plain.axes.col(2).norm(), 0.2);
}

TEST(RpcaOm, NoNearbySubspaceIsBetter) {
    const Matrix<double> points = test::blob_points<double>(120, 4, 3, 2.0, 6);
    RpcaOmOptions options;
    options.clusters = 3;
    options.dimensions = 2;
    options.tolerance = 1e-14;
    options.max_iterations = 2000;
    const RpcaOmModel model = fit(points, options);
    const Eigen::MatrixXd axes = model.directions();
    EXPECT_LT((axes.transpose() * axes - Eigen::MatrixXd::Identity(2, 2)).cwiseAbs().maxCoeff(), 1e-12);
    // The mean is known except for its part inside; re-weighting here finds the best mean for these axes.
    Eigen::VectorXd mean = points.colwise().mean();
    for (int t = 0; t < 2000; ++t) {
        const Eigen::MatrixXd centred = points.rowwise() - mean.transpose();
        const Eigen::VectorXd weights =
            (centred - centred * axes * axes.transpose()).rowwise().norm().cwiseMax(1e-12).cwiseInverse();
        mean = points.transpose() * weights / weights.sum();
    }
    const double least = model.fit_report().objective;
    EXPECT_NEAR(residual_sum(points, axes, mean), least, 1e-6 * least);
    RandomStream random(2, "test.perturb");
    for (int t = 0; t < 200; ++t) {
        Eigen::MatrixXd turned = axes;
        Eigen::VectorXd moved = mean;
        for (Index i = 0; i < turned.size(); ++i) turned.data()[i] += 0.01 * random.normal();
        for (Index i = 0; i < moved.size(); ++i) moved[i] += 0.01 * random.normal();
        const Eigen::MatrixXd other =
            Eigen::HouseholderQR<Eigen::MatrixXd>(turned).householderQ() * Eigen::MatrixXd::Identity(4, 2);
        EXPECT_GE(residual_sum(points, other, moved), least * (1 - 1e-9));
    }
}

TEST(RpcaOm, AllDimensionsEqualKMeans) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const Matrix<double> points = test::blob_points<double>(200, 4, 4, 3.0, seed);
        RpcaOmOptions options;
        options.clusters = 4;
        options.dimensions = 4;
        const RpcaOmModel model = fit(points, options, seed);
        KMeansOptions plain;
        plain.clusters = 4;
        plain.restarts = options.restarts;
        coterie::Run run(seed, 2);
        EXPECT_EQ(adjusted_rand_index(model.labels(), fit_kmeans(points, plain, run).labels()), 1.0);
        EXPECT_LT(model.fit_report().objective, 1e-4);
    }
}

TEST(RpcaOm, InterruptedFitReturnsResultSoFar) {
    const Matrix<double> points = test::blob_points<double>(200, 8, 5, 0.7, 2);
    RpcaOmOptions options;
    options.clusters = 5;
    options.restarts = 1;
    ASSERT_GT(fit(points, options).fit_report().iterations, 2);
    coterie::Run run(0, 2);
    bool stop = false;
    run.on_progress = [&](const Progress&) { stop = true; };
    run.should_stop = [&] { return stop; };
    const RpcaOmModel model = fit_rpca_om(points, options, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_EQ(model.fit_report().iterations, 1);
    EXPECT_EQ(model.predict(points), model.labels());
}

TEST(RpcaOm, InterruptedKMeansReturnsTheSubspace) {
    const Matrix<double> points = test::blob_points<double>(200, 8, 5, 0.7, 2);
    RpcaOmOptions options;
    options.clusters = 5;
    options.restarts = 1000;
    const RpcaOmModel whole = fit(points, options);
    ASSERT_EQ(whole.fit_report().stopped, StopReason::converged);
    coterie::Run run(0, 2);
    int told = 0;
    run.on_progress = [&](const Progress&) { ++told; };
    run.should_stop = [&] { return told == whole.fit_report().iterations; };  // after the last round
    const RpcaOmModel model = fit_rpca_om(points, options, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_EQ(model.fit_report().objective, whole.fit_report().objective);
    EXPECT_EQ(model.predict(points), model.labels());
}

}  // namespace
}  // namespace coterie
