#include "coterie/deformation/aml.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

AmlModel fit(const Matrix<double>& points, const AmlOptions& options, std::uint64_t seed = 0) {
    coterie::Run run(seed, 2);
    return fit_aml(points, options, run);
}

Eigen::MatrixXd indicator(const Labels& labels, int clusters) {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(static_cast<Index>(labels.size()), clusters);
    for (std::size_t i = 0; i < labels.size(); ++i) out(static_cast<Index>(i), labels[i]) = 1;
    for (Index c = 0; c < clusters; ++c)
        if (out.col(c).sum() > 0) out.col(c) /= std::sqrt(out.col(c).sum());
    return out;
}

// tr(L' K (K + lambda I)^-1 L), K = X X', from the formula.
double trace_of(const Matrix<double>& points, const Labels& labels, int clusters, double lambda) {
    const Eigen::MatrixXd x = points.rowwise() - points.colwise().mean();
    const Eigen::MatrixXd gram = x * x.transpose();
    const Eigen::MatrixXd l = indicator(labels, clusters);
    const Eigen::MatrixXd ridged = gram + lambda * Eigen::MatrixXd::Identity(gram.rows(), gram.cols());
    return (l.transpose() * gram * ridged.ldlt().solve(l)).trace();
}

TEST(Aml, ObjectiveNeverRises) {
    int rounds = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const Matrix<double> points = test::blob_points<double>(200, 8, 5, 0.7, seed);
        for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf})
            for (const double lambda : {0.01, 1.0, 100.0})
                for (const int dimensions : {0, 2}) {
                    AmlOptions options;
                    options.clusters = 5;
                    options.lambda_rel = lambda;
                    if (dimensions > 0) options.dimensions = dimensions;
                    options.kernel = kernel;
                    options.restarts = 1;
                    const AmlModel model = fit(points, options, seed);
                    const auto& history = model.fit_report().objective_per_iteration;
                    EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
                    for (std::size_t t = 1; t < history.size(); ++t)
                        EXPECT_LE(history[t], history[t - 1] + 1e-12 * 5) << seed << " " << lambda << " round " << t;
                    rounds = std::max(rounds, model.fit_report().iterations);
                }
    }
    EXPECT_GT(rounds, 3);  // enough rounds for the test to be meaningful
}

// With all k - 1 directions and labels that no longer change, T is the paper's formula with W optimised out. No
// partition has a larger T, and one of the starts finds the best partition.
TEST(Aml, AgreesWithBruteForceOverPartitions) {
    int best_found = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const Matrix<double> points = test::blob_points<double>(9, 2, 3, 2.0, seed);
        AmlOptions options;
        options.clusters = 3;
        options.lambda = 0.5;
        const AmlModel model = fit(points, options, seed);
        const double found = 3 - model.fit_report().objective;
        EXPECT_NEAR(found, trace_of(points, model.labels(), 3, 0.5), 1e-10);
        double best = 0;
        Labels labels(9, 0);
        for (int code = 0; code < 19683; ++code) {
            int rest = code;
            for (auto& label : labels) {
                label = rest % 3;
                rest /= 3;
            }
            if (labels[0] == 0 && labels[1] < 2) best = std::max(best, trace_of(points, labels, 3, 0.5));
        }
        EXPECT_LE(found, best + 1e-10);
        best_found += found > best - 1e-10;
    }
    EXPECT_GE(best_found, 3);
}

TEST(Aml, DirectionsSolveTheGeneralisedEigenproblem) {
    const Matrix<double> points = test::blob_points<double>(80, 4, 3, 2.0, 4);
    AmlOptions options;
    options.clusters = 3;
    options.lambda = 2.0;
    const AmlModel model = fit(points, options);
    const Eigen::MatrixXd x = points.rowwise() - points.colwise().mean();
    const Eigen::MatrixXd l = indicator(model.labels(), 3);
    const Eigen::MatrixXd ridged = x.transpose() * x + 2.0 * Eigen::MatrixXd::Identity(4, 4);
    const Eigen::MatrixXd between = x.transpose() * l * l.transpose() * x;
    const Eigen::MatrixXd w = model.directions();
    EXPECT_LT((w.transpose() * ridged * w - Eigen::MatrixXd::Identity(2, 2)).cwiseAbs().maxCoeff(), 1e-10);
    const Eigen::MatrixXd theta = w.transpose() * between * w;
    EXPECT_LT((between * w - ridged * w * theta).cwiseAbs().maxCoeff(), 1e-8 * between.norm());
    EXPECT_NEAR(theta.trace(), 3 - model.fit_report().objective, 1e-10);
}

// Two long parallel clusters: a cut across them has less inertia, but the clusters have the smaller J.
TEST(Aml, ObjectivePrefersElongatedClusters) {
    RandomStream random(3, "test.ribbons");
    Matrix<double> points(200, 2);
    Labels truth;
    for (Index i = 0; i < 200; ++i) {
        truth.push_back(static_cast<std::int32_t>(i % 2));
        points(i, 0) = 4 * random.normal();
        points(i, 1) = (i % 2 == 0 ? 2.0 : -2.0) + 0.3 * random.normal();
    }
    AmlOptions options;
    options.clusters = 2;
    const AmlModel across = fit(points, options);
    EXPECT_LT(accuracy(across.labels(), truth), 0.75);
    Matrix<double> start(2, 2);
    start << 0, 2, 0, -2;
    Problem side;
    side.initial_centroids = Points::borrow(start);
    coterie::Run run(0, 2);
    const AmlModel along = fit_aml(with(points, side), options, run);
    EXPECT_EQ(accuracy(along.labels(), truth), 1.0);
    EXPECT_LT(along.fit_report().objective, across.fit_report().objective - 0.1);
    EXPECT_GT(scatter_ratio(points, along.labels(), run), scatter_ratio(points, across.labels(), run));
}

TEST(Aml, RejectsTooManyDirections) {
    const Matrix<double> points = test::blob_points<double>(30, 3, 2, 2.0, 9);
    AmlOptions options;
    options.clusters = 3;
    options.dimensions = 3;
    EXPECT_NE(test::message_of([&] { fit(points, options); }).find("Use from 1 to 2"), std::string::npos);
    options.clusters = 6;  // more clusters than dimensions: as many directions as the points have
    options.dimensions = std::nullopt;
    EXPECT_EQ(fit(points, options).directions().cols(), 3);
}

TEST(Aml, RejectsTooLargeRidge) {
    Matrix<double> points(4, 1);
    points << 0, 1, 5, 6;
    AmlOptions options;
    options.clusters = 2;
    coterie::Run run(1, 1);
    options.lambda = 1e300;
    EXPECT_THROW(fit_aml(points, options, run), BadArgument);
    options.lambda = 1e60;
    EXPECT_EQ(fit_aml(points, options, run).labels()[0], fit_aml(points, options, run).labels()[1]);
}

TEST(Aml, InterruptedFitReturnsResultSoFar) {
    const Matrix<double> points = test::blob_points<double>(200, 8, 5, 0.7, 2);
    AmlOptions options;
    options.clusters = 5;
    options.restarts = 1;
    ASSERT_GT(fit(points, options).fit_report().iterations, 2);
    coterie::Run run(0, 2);
    bool stop = false;
    run.on_progress = [&](const Progress&) { stop = true; };
    run.should_stop = [&] { return stop; };
    const AmlModel model = fit_aml(points, options, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_EQ(model.fit_report().iterations, 1);
    EXPECT_EQ(model.predict(points), model.labels());
}

TEST(Aml, ChecksForStopWithinARound) {
    const Matrix<double> points = test::blob_points<double>(400, 8, 5, 2, 2);
    AmlOptions options;
    options.clusters = 5;
    options.restarts = 1;
    int asked = 0, stop_at = std::numeric_limits<int>::max();
    coterie::Run run(0, 1);
    run.should_stop = [&] { return ++asked >= stop_at; };
    const AmlModel whole = fit_aml(points, options, run);
    const int all = std::exchange(asked, 0);
    AmlOptions one_round = options;
    one_round.max_iterations = 1;
    fit_aml(points, one_round, run);
    const int later_rounds = whole.fit_report().iterations - 1;
    ASSERT_GT(later_rounds, 0);
    EXPECT_GT(all - asked, 2 * later_rounds) << "more than before each round";
    int results = 0;
    for (stop_at = 1; stop_at < all; stop_at += 1 + all / 50) {
        asked = 0;
        try {
            const AmlModel model = fit_aml(points, options, run);
            EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted) << stop_at << " of " << all;
            EXPECT_EQ(model.predict(points), model.labels());
            ++results;
        } catch (const Cancelled&) {
        }
    }
    EXPECT_GT(results, 0);
}

}  // namespace
}  // namespace coterie
