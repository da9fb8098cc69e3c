#include "coterie/entropy/label_solver.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::message_of;

// Softmax of normal logits. A deviation of 1 gives soft predictions, 100 and more gives predictions of exactly 0 and 1.
template <class T = double>
Matrix<T> predictions(Index n, Index k, double deviation, std::uint64_t seed = 0) {
    RandomStream random(seed, "test.predictions");
    Matrix<T> out(n, k);
    for (Index i = 0; i < n; ++i) {
        Vector<double> logits(k);
        for (Index c = 0; c < k; ++c) logits[c] = deviation * random.normal();
        const Vector<double> e = (logits.array() - logits.maxCoeff()).exp();
        out.row(i) = (e / e.sum()).transpose().cast<T>();
    }
    return out;
}

LabelSettings settings(LabelSolver solver, double lambda, std::vector<double> prior = {}) {
    LabelSettings out;
    out.solver = solver;
    out.lambda = lambda;
    out.prior = std::move(prior);
    return out;
}

double objective(const Matrix<double>& sigma, const Matrix<double>& y, const LabelSettings& s) {
    const std::vector<double> u = checked_prior(s.prior, sigma.cols());
    double out = 0;
    for (Index i = 0; i < sigma.rows(); ++i)
        for (Index k = 0; k < sigma.cols(); ++k)
            if (sigma(i, k) > 0) out -= sigma(i, k) * std::log(y(i, k)) / static_cast<double>(sigma.rows());
    for (Index k = 0; k < sigma.cols(); ++k) {
        const double share = u[static_cast<std::size_t>(k)];
        out += s.lambda * share * std::log(share / y.col(k).mean());
    }
    return out;
}

// Residual of the conditions y_ik (mu_i - a_k) = sigma_ik and mu_i >= a_k, with a = lambda u / ybar and mu from the
// row's sum, in units of mu.
double stationarity(const Matrix<double>& sigma, const Matrix<double>& y, const LabelSettings& s) {
    const std::vector<double> u = checked_prior(s.prior, sigma.cols());
    Vector<double> a(sigma.cols());
    for (Index k = 0; k < sigma.cols(); ++k) a[k] = s.lambda * u[static_cast<std::size_t>(k)] / y.col(k).mean();
    double worst = 0;
    for (Index i = 0; i < sigma.rows(); ++i) {
        const double mu = 1 + y.row(i).dot(a.transpose());
        for (Index k = 0; k < sigma.cols(); ++k)
            worst = std::max({worst, std::abs(y(i, k) * (mu - a[k]) - sigma(i, k)) / mu, (a[k] - mu) / mu});
    }
    return worst;
}

TEST(LabelEm, OneRoundByHand) {
    Matrix<double> sigma(2, 2);
    sigma << 0.9, 0.1, 0.6, 0.4;
    LabelSettings s = settings(LabelSolver::em, 3.0, {0.25, 0.75});
    s.rounds = 1;
    const Matrix<double> y = solve_labels(sigma, s, 1).labels;
    // S = (0.6, 0.2), (0.4, 0.8); lambda N u = (1.5, 4.5)
    EXPECT_NEAR(y(0, 0), (0.9 + 1.5 * 0.6) / (1 + 1.5 * 0.6 + 4.5 * 0.2), 1e-15);
    EXPECT_NEAR(y(0, 1), (0.1 + 4.5 * 0.2) / (1 + 1.5 * 0.6 + 4.5 * 0.2), 1e-15);
    EXPECT_NEAR(y(1, 0), (0.6 + 1.5 * 0.4) / (1 + 1.5 * 0.4 + 4.5 * 0.8), 1e-15);
    EXPECT_NEAR(y(1, 1), (0.4 + 4.5 * 0.8) / (1 + 1.5 * 0.4 + 4.5 * 0.8), 1e-15);
}

TEST(LabelEm, NeverRaisesTheObjective) {
    for (const double lambda : {1.0, 10.0, 100.0, 1e4})
        for (const double deviation : {1.0, 3.0, 10.0}) {
            const Matrix<double> sigma = predictions(333, 7, deviation, 1);
            LabelSettings s = settings(LabelSolver::em, lambda, {0.4, 0.3, 0.1, 0.1, 0.05, 0.04, 0.01});
            double before = 1e300;
            for (int rounds = 1; rounds < 60; ++rounds) {
                s.rounds = rounds;
                const Matrix<double> y = solve_labels(sigma, s, 2).labels;
                EXPECT_LT((y.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
                const double now = objective(sigma, y, s);
                EXPECT_LE(now, before + 1e-12 * (1 + lambda)) << lambda << " " << deviation << " round " << rounds;
                before = now;
            }
        }
}

TEST(LabelEm, FloatAgreesWithDouble) {
    const Matrix<double> sigma = predictions(1000, 10, 3, 2);
    const LabelSettings s = settings(LabelSolver::em, 100);
    const Matrix<double> exact = solve_labels(sigma, s, 1).labels;
    const Matrix<float> rounded = sigma.cast<float>();
    EXPECT_LT((solve_labels(rounded, s, 1).labels.cast<double>() - exact).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(LabelEm, ToleranceStopsIt) {
    const Matrix<double> sigma = predictions(200, 3, 1, 3);
    LabelSettings s = settings(LabelSolver::em, 1);
    s.rounds = 100000;
    s.tolerance = 1e-13;
    const auto found = solve_labels(sigma, s, 1);
    EXPECT_TRUE(found.converged);
    EXPECT_LT(found.rounds, 100000);
    const auto exact = solve_labels(sigma, settings(LabelSolver::dual, 1), 1);
    EXPECT_LT((found.labels - exact.labels).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(LabelDual, ReachesTheOptimum) {
    for (const Index k : {2, 3, 20, 60})
        for (const double lambda : {1.0, 10.0, 100.0, 1e4})
            for (const double deviation : {1.0, 3.0, 10.0}) {
                const Matrix<double> sigma = predictions(300, k, deviation, 4);
                const LabelSettings s = settings(LabelSolver::dual, lambda);
                const auto found = solve_labels(sigma, s, 2);
                const std::string where =
                    std::to_string(k) + " " + std::to_string(lambda) + " " + std::to_string(deviation);
                EXPECT_TRUE(found.converged) << where;
                EXPECT_LT(found.gradient, 1e-10) << where;
                EXPECT_LE(found.rounds, 200) << where;
                EXPECT_LT((found.labels.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12) << where;
                EXPECT_LT(stationarity(sigma, found.labels, s), 1e-9) << where;
                const LabelCertificate sure = certify_labels(sigma, found.labels, s, 2);
                EXPECT_NEAR(sure.objective, objective(sigma, found.labels, s), 1e-10 * (1 + lambda)) << where;
                EXPECT_LT(std::abs(sure.gap), 1e-9 * (1 + lambda)) << where;
                // Labels near 0 or 1 determine the multipliers of sharp predictions only up to rounding.
                if (deviation < 10) {
                    EXPECT_LT(sure.gradient, 1e-9) << where;
                }
                // No nearby labels are better.
                RandomStream random(5, "test.perturb");
                for (int trial = 0; trial < 5; ++trial) {
                    Matrix<double> other = found.labels;
                    for (Index i = 0; i < other.size(); ++i) other.data()[i] *= std::exp(0.01 * random.normal());
                    other.array().colwise() /= other.rowwise().sum().array().eval();
                    EXPECT_GT(objective(sigma, other, s), sure.objective) << where;
                }
            }
}

TEST(LabelDual, AgreesWithNewtonOnTheLabels) {
    const std::vector<double> prior = {0.5, 0.3, 0.15, 0.05};
    for (const double lambda : {1.0, 10.0, 100.0, 1e4})
        for (const double deviation : {0.5, 1.0, 3.0}) {
            const Matrix<double> sigma = predictions(50, 4, deviation, 6);
            const auto dual = solve_labels(sigma, settings(LabelSolver::dual, lambda, prior), 1);
            const auto primal = solve_labels(sigma, settings(LabelSolver::newton, lambda, prior), 1);
            EXPECT_TRUE(primal.converged) << lambda << " " << deviation << " " << primal.gradient;
            EXPECT_LT((dual.labels - primal.labels).cwiseAbs().maxCoeff(), 1e-6) << lambda << " " << deviation;
        }
}

TEST(LabelSolvers, FixedLabelsCountOnlyInTheMeans) {
    const Matrix<double> sigma = predictions(40, 3, 2, 7);
    FixedLabels<double> fixed;
    fixed.rows = {0, 3, 4, 39};
    fixed.labels = Matrix<double>::Zero(4, 3);
    fixed.labels.col(2).setOnes();
    for (const LabelSolver solver : {LabelSolver::em, LabelSolver::dual, LabelSolver::newton}) {
        LabelSettings s = settings(solver, 10, {0.2, 0.5, 0.3});
        s.rounds = 200000;
        const auto found = solve_labels(sigma, s, 1, fixed);
        for (std::size_t i = 0; i < fixed.rows.size(); ++i)
            EXPECT_EQ(found.labels.row(fixed.rows[i]), fixed.labels.row(static_cast<Index>(i)));
        // Stationary in the other rows, with the means over all rows.
        double worst = 0;
        for (Index i = 5; i < 39; ++i) {
            Vector<double> mu(3);
            for (Index k = 0; k < 3; ++k)
                mu[k] = sigma(i, k) / found.labels(i, k) +
                        10 * s.prior[static_cast<std::size_t>(k)] / found.labels.col(k).mean();
            worst = std::max(worst, mu.maxCoeff() - mu.minCoeff());
        }
        EXPECT_LT(worst, 1e-5) << static_cast<int>(solver);
        const LabelCertificate sure = certify_labels(sigma, found.labels, s, 1, fixed);
        EXPECT_LT(std::abs(sure.gap), 1e-8);
        EXPECT_LT(sure.gradient, 1e-8);
    }
    fixed.rows.resize(40);
    for (Index i = 0; i < 40; ++i) fixed.rows[static_cast<std::size_t>(i)] = i;
    fixed.labels = sigma;
    EXPECT_EQ(solve_labels(sigma, settings(LabelSolver::dual, 10), 1, fixed).labels, sigma);
}

TEST(LabelSolvers, PredictionsOfExactlyZeroAndOne) {
    for (const Index k : {2, 5, 20})
        for (const double lambda : {1.0, 100.0, 1e4}) {
            Matrix<double> hard = Matrix<double>::Zero(200, k);
            // The last cluster has no predictions; each row belongs to one of the others in turn.
            for (Index i = 0; i < 200; ++i) hard(i, i % (k - 1)) = 1;
            for (const Matrix<double>& sigma : {hard, predictions(200, k, 1e4, 8)}) {
                const auto em = solve_labels(sigma, settings(LabelSolver::em, lambda), 1);
                EXPECT_TRUE(em.labels.allFinite());
                EXPECT_LT((em.labels.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
                const auto dual = solve_labels(sigma, settings(LabelSolver::dual, lambda), 1);
                EXPECT_LT(dual.gradient, 1e-10) << k << " " << lambda << " after " << dual.rounds;
                EXPECT_TRUE(dual.labels.allFinite());
                EXPECT_LE(objective(sigma, dual.labels, settings(LabelSolver::dual, lambda)),
                          objective(sigma, em.labels, settings(LabelSolver::em, lambda)) + 1e-9);
                const Matrix<float> narrow = sigma.cast<float>();
                EXPECT_TRUE(solve_labels(narrow, settings(LabelSolver::em, lambda), 1).labels.allFinite());
            }
            // By symmetry, all labels of the empty cluster are equal, and so are those of the others.
            const auto dual = solve_labels(hard, settings(LabelSolver::dual, lambda), 1);
            EXPECT_NEAR(dual.labels(0, k - 1), dual.labels(1, k - 1), 1e-8);
            EXPECT_GT(dual.labels.col(k - 1).mean(), 0.9 * lambda / (1 + lambda) / static_cast<double>(k) * 0.5);
        }
}

TEST(LabelDual, ReportsWhenStepsRunOut) {
    const Matrix<double> sigma = predictions(200, 20, 100, 14);
    LabelSettings s = settings(LabelSolver::dual, 100);
    for (const int steps : {1, 10, 30}) {
        s.steps = steps;
        const auto found = solve_labels(sigma, s, 1);
        EXPECT_FALSE(found.converged) << steps;
        EXPECT_LE(found.rounds, steps);
        EXPECT_LT((found.labels.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-9);
        // The gap agrees with the gradient.
        EXPECT_GT(found.gradient, 1e-8) << steps;
        EXPECT_GT(certify_labels(sigma, found.labels, s, 1).gap, 1e-6) << steps;
    }
    s.steps = 500;
    EXPECT_TRUE(solve_labels(sigma, s, 1).converged);
}

// Labels near 0 and 1 do not determine the multipliers, so the solver returns the multipliers.
TEST(LabelDual, MultipliersProveTheSolution) {
    for (const double deviation : {3.0, 30.0, 100.0})
        for (const double lambda : {1.0, 100.0, 1e4}) {
            const Matrix<double> sigma = predictions(300, 10, deviation, 15);
            const Matrix<float> narrow = sigma.cast<float>();
            const LabelSettings s = settings(LabelSolver::dual, lambda);
            const auto found = solve_labels(sigma, s, 1);
            ASSERT_TRUE(found.converged) << deviation << " " << lambda;
            const auto sure = certify_labels(sigma, found.labels, s, 1, {}, found.multipliers);
            EXPECT_LT(sure.gradient, 1e-9) << deviation << " " << lambda;
            EXPECT_LT(std::abs(sure.gap), 1e-8 * (1 + lambda)) << deviation << " " << lambda;
            if (lambda > 100) continue;  // if float predictions go down to 1e-30, the steps may run out
            const auto rounded = solve_labels(narrow, s, 1);
            ASSERT_TRUE(rounded.converged) << deviation << " " << lambda;
            EXPECT_LT(certify_labels(narrow, rounded.labels, s, 1, {}, rounded.multipliers).gradient, 1e-9)
                << deviation << " " << lambda;
        }
    const Matrix<double> sigma = predictions(10, 3, 1, 15);
    const Vector<double> two = Vector<double>::Zero(2);
    EXPECT_NE(message_of([&] {
                  certify_labels(sigma, sigma, settings(LabelSolver::dual, 1), 1, {}, two);
              }).find("Give one multiplier per cluster"),
              std::string::npos);
}

TEST(LabelSolvers, AllLabelsFixed) {
    FixedLabels<double> fixed;
    fixed.labels = Matrix<double>::Zero(6, 3);
    for (Index i = 0; i < 6; ++i) {
        fixed.rows.push_back(i);
        fixed.labels(i, i % 2) = 1;  // the third cluster has none
    }
    const LabelCertificate sure =
        certify_labels(predictions(6, 3, 1, 16), fixed.labels, settings(LabelSolver::em, 10), 1, fixed);
    EXPECT_FALSE(std::isnan(sure.objective));
    EXPECT_EQ(sure.gap, 0);
    EXPECT_EQ(sure.gradient, 0);
}

TEST(LabelSolvers, PriorWithTinyEntries) {
    const Matrix<double> sigma = predictions(300, 4, 2, 9);
    for (const double tiny : {1e-4, 1e-8, 1e-12})
        for (const double lambda : {1.0, 100.0}) {
            const LabelSettings s = settings(LabelSolver::dual, lambda, {tiny, 0.3, 0.3, 0.4 - tiny});
            const auto found = solve_labels(sigma, s, 1);
            EXPECT_LT(found.gradient, 1e-10) << tiny << " " << lambda;
            EXPECT_LT(stationarity(sigma, found.labels, s), 1e-9) << tiny << " " << lambda;
        }
}

TEST(LabelSolvers, AThousandClusters) {
    const Matrix<double> sigma = predictions(1500, 1000, 1, 10);
    const auto found = solve_labels(sigma, settings(LabelSolver::dual, 100), 2);
    EXPECT_LT(found.gradient, 1e-10);
    const auto em = solve_labels(sigma, settings(LabelSolver::em, 100), 2);
    const LabelCertificate sure = certify_labels(sigma, em.labels, settings(LabelSolver::em, 100), 2);
    EXPECT_GE(sure.gap, -1e-9);
    EXPECT_LT(sure.gap, 0.1);
}

TEST(LabelSolvers, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> sigma = predictions(60000, 11, 3, 11);
    const Matrix<float> narrow = sigma.cast<float>();
    for (const LabelSolver solver : {LabelSolver::em, LabelSolver::dual}) {
        const LabelSettings s = settings(solver, 100);
        const Matrix<double> one = solve_labels(sigma, s, 1).labels;
        const Matrix<float> one_narrow = solve_labels(narrow, s, 1).labels;
        for (const int threads : {2, 8}) {
            EXPECT_EQ(solve_labels(sigma, s, threads).labels, one);
            EXPECT_EQ(solve_labels(narrow, s, threads).labels, one_narrow);
        }
    }
}

TEST(LabelSolvers, PermutedRowsGivePermutedLabels) {
    const Matrix<double> sigma = predictions(500, 6, 2, 12);
    const Matrix<double> reversed = sigma.colwise().reverse();
    for (const LabelSolver solver : {LabelSolver::em, LabelSolver::dual}) {
        const Matrix<double> y = solve_labels(sigma, settings(solver, 50), 1).labels;
        const Matrix<double> back = solve_labels(reversed, settings(solver, 50), 1).labels.colwise().reverse();
        EXPECT_LT((y - back).cwiseAbs().maxCoeff(), 1e-9);
    }
}

TEST(LabelSolvers, BadArguments) {
    const Matrix<double> sigma = predictions(10, 3, 1, 13);
    const auto says = [&](const LabelSettings& s, const FixedLabels<double>& fixed, const std::string& part) {
        EXPECT_NE(message_of([&] { solve_labels(sigma, s, 1, fixed); }).find(part), std::string::npos) << part;
    };
    says(settings(LabelSolver::em, 0), {}, "lambda: 0");
    says(settings(LabelSolver::em, 1e7), {}, "lambda");
    says(settings(LabelSolver::em, std::nan("")), {}, "lambda");
    says(settings(LabelSolver::em, 1, {0.5, 0.5}), {}, "2 shares for 3 clusters");
    says(settings(LabelSolver::em, 1, {0.5, 0.5, 0.0}), {}, "a share of 0");
    says(settings(LabelSolver::em, 1, {0.5, 0.5, 0.5}), {}, "add up to 1.5");
    LabelSettings rounds = settings(LabelSolver::em, 1);
    rounds.rounds = 0;
    says(rounds, {}, "round");
    LabelSettings tolerance = settings(LabelSolver::em, 1);
    tolerance.tolerance = -1;
    says(tolerance, {}, "tolerance");
    FixedLabels<double> fixed;
    fixed.rows = {3, 3};
    fixed.labels = Matrix<double>::Ones(2, 3) / 3;
    says(settings(LabelSolver::em, 1), fixed, "ascending");
    fixed.rows = {10};
    fixed.labels = Matrix<double>::Ones(1, 3) / 3;
    says(settings(LabelSolver::em, 1), fixed, "from 0 to 9");
    fixed.rows = {1};
    fixed.labels = Matrix<double>::Ones(1, 2);
    says(settings(LabelSolver::em, 1), fixed, "Give 3 numbers for each fixed row");
    EXPECT_NE(message_of([] { solve_labels(Matrix<double>(0, 3), LabelSettings{}, 1); }), "nothing was thrown");
}

}  // namespace
}  // namespace coterie
