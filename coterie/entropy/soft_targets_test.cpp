#include "coterie/entropy/soft_targets.hpp"

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {

struct Noisy {
    Matrix<double> points;
    Labels labels;
};

// Three overlapping clouds; every seventh label is wrong.
Noisy noisy(Index n) {
    RandomStream random(5, "soft targets");
    Noisy out{Matrix<double>(n, 4), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < 4; ++j) out.points(i, j) = 2 + random.normal();
        out.points(i, i % 3) += 2;
        out.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((i % 7 == 0 ? i + 1 : i) % 3);
    }
    return out;
}

Matrix<double> predictions(const LinearSoftmax<double>& model, const Matrix<double>& points) {
    Matrix<double> sigma = (points * model.weights.transpose()).rowwise() + model.bias.transpose();
    for (Index i = 0; i < sigma.rows(); ++i) {
        sigma.row(i) = (sigma.row(i).array() - sigma.row(i).maxCoeff()).exp();
        sigma.row(i) /= sigma.row(i).sum();
    }
    return sigma;
}

// At a minimum the gradient is 0. This test computes the gradient separately. It is sigma - y for the forward loss, and
// sigma_k (-ln y_k + sum_c sigma_c ln y_c) for the reverse loss, times the points.
TEST(SoftTargets, MinimaAreStationary) {
    const Noisy data = noisy(60);
    for (const double noise : {0.0, 0.3})
        for (const CrossEntropy kind : {CrossEntropy::forward, CrossEntropy::reverse}) {
            if (kind == CrossEntropy::reverse && noise == 0) continue;  // no smooth minimum: ln 0
            const Matrix<double> y = smoothed_targets(data.labels, 3, noise);
            SoftTargetOptions options;
            options.optimizer = Optimizer::lbfgs;
            options.gamma = 0.01;
            options.epochs = 20;
            options.cross_entropy = kind;
            coterie::Run run(1, 1);
            const auto fit = fit_soft_targets(PointsView(data.points).as<double>(), y, options, run);
            const Matrix<double> sigma = predictions(fit.linear, data.points);
            Matrix<double> g = sigma - y;
            if (kind == CrossEntropy::reverse) {
                const Matrix<double> slope = -y.array().log();
                const Vector<double> mean = (sigma.array() * slope.array()).rowwise().sum();
                g = sigma.array() * (slope.colwise() - mean).array();
            }
            g /= 60.0;
            const Vector<double> centre = data.points.colwise().mean().transpose();
            const double unit = std::sqrt((data.points.rowwise() - centre.transpose()).squaredNorm() / 60 / (2.5 * 3));
            const double gamma = options.gamma * unit * unit;  // of || V ||^2
            const Matrix<double> of_weights = g.transpose() * data.points + 2 * gamma * fit.linear.weights;
            EXPECT_LE(of_weights.cwiseAbs().maxCoeff(), 1e-5) << noise;
            EXPECT_LE(g.colwise().sum().cwiseAbs().maxCoeff(), 1e-5) << noise;
            double value = gamma * fit.linear.weights.squaredNorm();
            for (Index i = 0; i < 60; ++i)
                for (Index k = 0; k < 3; ++k) {
                    const bool forward = kind == CrossEntropy::forward;
                    const double weight = forward ? y(i, k) : sigma(i, k);
                    if (weight > 0) value -= weight * std::log(forward ? sigma(i, k) : y(i, k)) / 60.0;
                }
            EXPECT_NEAR(fit.report.objective, value, 1e-9);
        }
}

TEST(SoftTargets, SameBitsAtAnyNumberOfThreadsAndMostLikelyLabels) {
    const Noisy data = noisy(300);
    const Matrix<double> y = smoothed_targets(data.labels, 3, 0.2);
    SoftTargetOptions options;
    options.epochs = 5;
    options.batch_size = 32;
    coterie::Run one(4, 1);
    coterie::Run eight(4, 8);
    const auto a = fit_soft_targets(PointsView(data.points).as<double>(), y, options, one);
    const auto b = fit_soft_targets(PointsView(data.points).as<double>(), y, options, eight);
    EXPECT_EQ(a.linear.weights, b.linear.weights);
    const Matrix<double> sigma = predictions(a.linear, data.points);
    for (Index i = 0; i < 300; ++i) {
        Index best = 0;
        sigma.row(i).maxCoeff(&best);
        EXPECT_EQ(a.labels[static_cast<std::size_t>(i)], best);
    }
}

TEST(SoftTargets, SmoothedTargets) {
    const Matrix<double> y = smoothed_targets(Labels{1, 0}, 4, 0.2);
    Matrix<double> expected(2, 4);
    expected << 0.05, 0.85, 0.05, 0.05, 0.85, 0.05, 0.05, 0.05;
    EXPECT_LE((y - expected).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_THROW(smoothed_targets(Labels{4}, 4, 0.2), BadArgument);
    EXPECT_THROW(smoothed_targets(Labels{-1}, 4, 0.2), BadArgument);
    EXPECT_THROW(smoothed_targets(Labels{0}, 4, 1.2), BadArgument);
}

TEST(SoftTargets, RejectsInvalidDistributions) {
    const Noisy data = noisy(10);
    const auto points = PointsView(data.points).as<double>();
    coterie::Run run(1, 1);
    EXPECT_THROW(fit_soft_targets(points, Matrix<double>::Constant(9, 2, 0.5), {}, run), BadArgument);
    EXPECT_THROW(fit_soft_targets(points, Matrix<double>::Constant(10, 2, 0.6), {}, run), BadArgument);
    Matrix<double> negative = Matrix<double>::Constant(10, 2, 0.5);
    negative.row(3) << -0.5, 1.5;
    try {
        fit_soft_targets(points, negative, {}, run);
        FAIL();
    } catch (const BadArgument& error) {
        EXPECT_NE(std::string(error.what()).find("row 4"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace coterie
