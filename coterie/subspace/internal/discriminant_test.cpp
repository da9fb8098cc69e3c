#include "coterie/subspace/internal/discriminant.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "coterie/base/random.hpp"
#include "coterie/subspace/internal/shrinkage.hpp"

namespace coterie::subspace::internal {
namespace {
using Kind = Shrinkage::Kind;

struct Problem {
    Matrix<double> points;
    Matrix<double> a;  // n x k, rows sum to 1
    Labels labels;     // if hard
};

// Clusters of different sizes and widths, correlated columns.
Problem make_problem(Index n, Index d, int k, bool soft, std::uint64_t seed = 1) {
    RandomStream random(seed, "test.discriminant");
    Matrix<double> mixing(d, d);
    for (Index i = 0; i < d; ++i)
        for (Index j = 0; j < d; ++j) mixing(i, j) = (i == j ? 1.0 : 0.0) + 0.3 * random.normal();
    Matrix<double> centers(k, d);
    for (Index j = 0; j < k; ++j)
        for (Index p = 0; p < d; ++p) centers(j, p) = p < 4 ? 1.5 * random.normal() : 0.2 * random.normal();
    Problem problem{Matrix<double>(n, d), Matrix<double>::Zero(n, k), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        const auto j = static_cast<Index>(std::min<double>(k - 1, -std::log(random.uniform() + 1e-9) * 1.5));
        problem.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(j);
        Vector<double> x(d);
        for (Index p = 0; p < d; ++p) x[p] = (1.0 + 0.3 * static_cast<double>(j)) * random.normal();
        problem.points.row(i) = 3.0 + (mixing * (x + centers.row(j).transpose())).transpose().array();
        if (!soft) {
            problem.a(i, j) = 1.0;
            continue;
        }
        for (Index l = 0; l < k; ++l) problem.a(i, l) = std::exp(-2.0 * random.uniform() * (l == j ? 0.0 : 5.0));
        problem.a.row(i) /= problem.a.row(i).sum();
    }
    return problem;
}

Vector<double> mass_of(const Matrix<double>& a) { return a.colwise().sum().transpose(); }

Matrix<double> centroids_of(const Matrix<double>& points, const Matrix<double>& a) {
    Matrix<double> centroids = Matrix<double>::Zero(a.cols(), points.cols());
    for (Index j = 0; j < a.cols(); ++j) {
        double mass = 0.0;
        for (Index i = 0; i < a.rows(); ++i) {
            mass += a(i, j);
            centroids.row(j) += a(i, j) * points.row(i);
        }
        if (mass > 0.0) centroids.row(j) /= mass;
    }
    return centroids;
}

// S_t and S_w in loops, exactly as defined.
struct Literal {
    Matrix<double> total;
    Matrix<double> within;
    double total_shrinkage;
    std::vector<double> shrinkages;
};

Literal literal(const Matrix<double>& points, const Matrix<double>& a, Shrinkage shrinkage) {
    const Index n = points.rows();
    const Index d = points.cols();
    const auto shrink = [&](Matrix<double> s, double count, double& rho) {
        rho = shrinkage.kind == Kind::oas     ? oas_shrinkage(s.trace(), s.squaredNorm(), count, d)
              : shrinkage.kind == Kind::fixed ? shrinkage.value
                                              : 0.0;
        const double mu = s.trace() / static_cast<double>(d);
        s *= 1.0 - rho;
        for (Index p = 0; p < d; ++p) s(p, p) += rho * mu;
        return s;
    };
    const auto covariance = [&](const Vector<double>& weights) {
        Vector<double> mean = Vector<double>::Zero(d);
        for (Index i = 0; i < n; ++i) mean += weights[i] * points.row(i).transpose();
        mean /= weights.sum();
        Matrix<double> s = Matrix<double>::Zero(d, d);
        for (Index i = 0; i < n; ++i) {
            const Vector<double> z = points.row(i).transpose() - mean;
            for (Index p = 0; p < d; ++p)
                for (Index q = 0; q < d; ++q) s(p, q) += weights[i] * z[p] * z[q];
        }
        return Matrix<double>(s / weights.sum());
    };
    Literal out;
    out.total = shrink(covariance(Vector<double>::Ones(n)), static_cast<double>(n), out.total_shrinkage);
    out.within = Matrix<double>::Zero(d, d);
    for (Index j = 0; j < a.cols(); ++j) {
        const double mass = a.col(j).sum();
        out.shrinkages.push_back(0.0);
        if (mass > 0.0)
            out.within += mass / static_cast<double>(n) * shrink(covariance(a.col(j)), mass, out.shrinkages.back());
    }
    return out;
}

void give(Discriminant& discriminant, const Problem& problem, bool soft) {
    if (!soft) {
        discriminant.assign(problem.labels);
        return;
    }
    const Index n = problem.a.rows();
    for (Index begin = 0; begin < n; begin += 100)
        discriminant.assign(begin, problem.a.middleRows(begin, std::min<Index>(100, n - begin)));
}

Subspace solve(PointsView points, const Problem& problem, int p, Normalization normalization, Shrinkage shrinkage,
               bool soft, int threads = 2) {
    const coterie::Run run(0, threads);
    Discriminant discriminant(points, static_cast<int>(problem.a.cols()), p, normalization, shrinkage, soft, run);
    give(discriminant, problem, soft);
    return discriminant.solve(centroids_of(problem.points, problem.a), mass_of(problem.a));
}

const std::vector<Shrinkage> kShrinkages{
    {Kind::oas, 0.0}, {Kind::none, 0.0}, {Kind::fixed, 0.0}, {Kind::fixed, 0.2}, {Kind::fixed, 1e-3}};

std::string name(Shrinkage shrinkage, bool soft, Normalization normalization) {
    return "shrinkage " + std::to_string(static_cast<int>(shrinkage.kind)) + " " + std::to_string(shrinkage.value) +
           (soft ? " soft" : " hard") + (normalization == Normalization::within ? " within" : " total");
}

TEST(Discriminant, SolvesTheEigenproblemOfTheDefinition) {
    for (const bool soft : {false, true}) {
        for (const Shrinkage shrinkage : kShrinkages) {
            for (const Normalization normalization : {Normalization::within, Normalization::total}) {
                for (const Index d : {2, 5, 20}) {
                    SCOPED_TRACE(name(shrinkage, soft, normalization) + " d " + std::to_string(d));
                    constexpr int k = 5;
                    const int p = static_cast<int>(std::min<Index>(k - 1, d));
                    const Problem problem = make_problem(300, d, k, soft);
                    const Subspace found = solve(problem.points, problem, p, normalization, shrinkage, soft);
                    const Literal expected = literal(problem.points, problem.a, shrinkage);
                    ASSERT_EQ(found.directions.rows(), p);
                    EXPECT_EQ(found.total_rank, d);
                    EXPECT_EQ(found.floored, 0);
                    EXPECT_NEAR(found.total_shrinkage, expected.total_shrinkage, 1e-12);
                    for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(found.shrinkages[j], expected.shrinkages[j], 1e-9);
                    const Matrix<double>& u = found.directions;
                    const Matrix<double> constraint =
                        u * (normalization == Normalization::within ? expected.within : expected.total) * u.transpose();
                    EXPECT_LE((constraint - Matrix<double>::Identity(p, p)).cwiseAbs().maxCoeff(), 1e-9);
                    for (int j = 0; j < p; ++j) {
                        const Vector<double> direction = u.row(j).transpose();
                        const Vector<double> residual =
                            expected.within * direction - found.within_shares[j] * expected.total * direction;
                        EXPECT_LE(residual.norm(), 1e-9 * (expected.total * direction).norm());
                        EXPECT_GE(direction.maxCoeff(), -direction.minCoeff());
                        if (j > 0) {
                            EXPECT_GE(found.within_shares[j], found.within_shares[j - 1]);
                        }
                    }
                    // No p directions have less within-variance: compared with a dense solver.
                    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> dense(expected.within,
                                                                                          expected.total);
                    EXPECT_LE((found.within_shares - dense.eigenvalues().head(p)).cwiseAbs().maxCoeff(), 1e-9);
                }
            }
        }
    }
}

TEST(Discriminant, NoOtherSubspaceIsBetter) {
    const Index d = 8;
    for (const Shrinkage shrinkage : kShrinkages) {
        const Problem problem = make_problem(400, d, 4, true);
        const Subspace found = solve(problem.points, problem, 3, Normalization::total, shrinkage, true);
        const Literal expected = literal(problem.points, problem.a, shrinkage);
        const double best = (found.directions * expected.within * found.directions.transpose()).trace();
        const Eigen::MatrixXd root = Eigen::MatrixXd(expected.total).llt().matrixL();
        RandomStream random(9, "test.rivals");
        for (int rival = 0; rival < 200; ++rival) {
            Eigen::MatrixXd directions(d, 3);
            for (Index i = 0; i < d; ++i)
                for (Index j = 0; j < 3; ++j)
                    directions(i, j) = (rival % 2 == 0 ? 0.0 : found.directions(j, i)) + 0.1 * random.normal();
            // S_t-orthonormal: Q of the QR of L'U, transformed back.
            const Eigen::MatrixXd image = root.transpose() * directions;
            const Eigen::MatrixXd q =
                Eigen::HouseholderQR<Eigen::MatrixXd>(image).householderQ() * Eigen::MatrixXd::Identity(d, 3);
            const Eigen::MatrixXd other = root.transpose().triangularView<Eigen::Upper>().solve(q);
            EXPECT_GE((other.transpose() * Eigen::MatrixXd(expected.within) * other).trace(), best - 1e-9);
        }
    }
}

TEST(Discriminant, UpdatesAreAsGoodAsARecomputation) {
    constexpr int k = 6;
    const Index n = 500;
    const Index d = 15;
    const coterie::Run run(0, 2);
    for (const bool soft : {false, true}) {
        Problem problem = make_problem(n, d, k, soft);
        Discriminant updated(problem.points, k, k - 1, Normalization::within, {}, soft, run);
        RandomStream random(3, "test.relabel");
        for (int round = 0; round < 20; ++round) {
            // The changed rows go from all rows to a few; in round 7, cluster 2 becomes empty; in round 8, it has one
            // point.
            for (Index i = 0; i < n; ++i) {
                auto& label = problem.labels[static_cast<std::size_t>(i)];
                if (static_cast<int>(random.below(20)) >= round) label = static_cast<std::int32_t>(random.below(k));
                if ((round == 7 || round == 8) && label == 2) label = 3;
                if (round == 8 && i == 17) label = 2;
                if (!soft) {
                    problem.a.row(i).setZero();
                    problem.a(i, label) = 1.0;
                } else if (static_cast<int>(random.below(20)) >= round) {
                    for (Index j = 0; j < k; ++j) problem.a(i, j) = std::pow(random.uniform(), 8.0);
                    problem.a.row(i) /= problem.a.row(i).sum();
                }
            }
            give(updated, problem, soft);
            const Subspace found = updated.solve(centroids_of(problem.points, problem.a), mass_of(problem.a));
            const Subspace fresh = solve(problem.points, problem, k - 1, Normalization::within, {}, soft);
            // The best directions of random labels are poorly determined, so this compares shares instead of
            // directions.
            const double tolerance = soft ? 1e-8 : 1e-10;
            EXPECT_LE((found.within_shares - fresh.within_shares).cwiseAbs().maxCoeff(), tolerance) << round;
            for (std::size_t j = 0; j < k; ++j) EXPECT_NEAR(found.shrinkages[j], fresh.shrinkages[j], tolerance);
            const Literal expected = literal(problem.points, problem.a, {});
            const Matrix<double> constraint = found.directions * expected.within * found.directions.transpose();
            EXPECT_LE((constraint - Matrix<double>::Identity(k - 1, k - 1)).cwiseAbs().maxCoeff(), 10 * tolerance);
        }
    }
}

TEST(Discriminant, NegligibleChangesAreSkipped) {
    constexpr int k = 4;
    const Index n = 400;
    const Problem problem = make_problem(n, 12, k, true);
    const coterie::Run run(0, 2);
    Discriminant kept(problem.points, k, k - 1, Normalization::total, {}, true, run);
    give(kept, problem, true);
    const Matrix<double> centroids = centroids_of(problem.points, problem.a);
    const Subspace before = kept.solve(centroids, mass_of(problem.a));
    const auto nudged = [&](double size) {
        Problem other = problem;
        for (Index i = 0; i < n; ++i) {
            const double nudge = (i % 3 == 0 ? -size : size);
            other.a(i, 0) += nudge;
            other.a(i, 1) -= nudge;
        }
        return other;
    };
    // Below the limit: the same bits.
    give(kept, nudged(1e-14), true);
    EXPECT_EQ(kept.solve(centroids, mass_of(problem.a)).directions, before.directions);
    for (const double size : {1e-11, 1e-10, 1e-9, 1e-6}) {
        const Problem other = nudged(size);
        give(kept, other, true);
        const Subspace found = kept.solve(centroids_of(other.points, other.a), mass_of(other.a));
        const Literal expected = literal(other.points, other.a, {});
        const Matrix<double> within = found.directions * expected.within * found.directions.transpose();
        EXPECT_LE((within - Matrix<double>(found.within_shares.asDiagonal())).norm(), 1e-9) << size;
    }
}

TEST(Discriminant, SameBitsAtAnyNumberOfThreads) {
    for (const bool soft : {false, true}) {
        for (const Shrinkage shrinkage : kShrinkages) {
            const Problem problem = make_problem(3000, 210, 4, soft);
            const Matrix<float> narrow = problem.points.cast<float>();
            for (const PointsView points : {PointsView(problem.points), PointsView(narrow)}) {
                const Subspace one = solve(points, problem, 3, Normalization::within, shrinkage, soft, 1);
                for (const int threads : {2, 8}) {
                    const Subspace many = solve(points, problem, 3, Normalization::within, shrinkage, soft, threads);
                    EXPECT_EQ(one.directions, many.directions);
                    EXPECT_EQ(one.within_shares, many.within_shares);
                    EXPECT_EQ(one.shrinkages, many.shrinkages);
                }
            }
        }
    }
}

TEST(Discriminant, FloatAgreesWithDouble) {
    for (const bool soft : {false, true}) {
        for (const Shrinkage shrinkage : kShrinkages) {
            Problem problem = make_problem(2000, 20, 4, soft);
            const Matrix<float> narrow = problem.points.cast<float>();
            problem.points = narrow.cast<double>();
            const Subspace wide = solve(problem.points, problem, 3, Normalization::within, shrinkage, soft);
            const Subspace found = solve(narrow, problem, 3, Normalization::within, shrinkage, soft);
            EXPECT_LE((wide.directions - found.directions).norm(), 1e-5 * wide.directions.norm());
            EXPECT_LE((wide.within_shares - found.within_shares).norm(), 1e-5);
        }
    }
}

TEST(Discriminant, FewerPointsThanDimensions) {
    const Problem problem = make_problem(12, 30, 3, false);
    const Literal expected = literal(problem.points, problem.a, {Kind::none, 0.0});
    // Classes with fewer points than dimensions separate perfectly: within-share 0.
    const Subspace found = solve(problem.points, problem, 2, Normalization::within, {Kind::none, 0.0}, false);
    EXPECT_EQ(found.total_rank, 11);
    EXPECT_EQ(found.floored, 2);
    EXPECT_LE(found.within_shares.maxCoeff(), 1e-9);
    const Matrix<double> variance = found.directions * expected.total * found.directions.transpose();
    EXPECT_LE((variance * least_within_share - Matrix<double>::Identity(2, 2)).norm(), 1e-9);
    // With shrinkage, nothing is singular.
    for (const Shrinkage shrinkage : {Shrinkage{}, Shrinkage{Kind::fixed, 0.5}}) {
        const Subspace regular = solve(problem.points, problem, 2, Normalization::within, shrinkage, false);
        const Literal definition = literal(problem.points, problem.a, shrinkage);
        EXPECT_EQ(regular.total_rank, 30);
        EXPECT_EQ(regular.floored, 0);
        EXPECT_LE(
            (regular.directions * definition.within * regular.directions.transpose() - Matrix<double>::Identity(2, 2))
                .norm(),
            1e-9);
    }
    // More directions requested than exist.
    const Subspace more = solve(problem.points, problem, 14, Normalization::total, {Kind::none, 0.0}, false);
    EXPECT_EQ(more.directions.bottomRows(3), (Matrix<double>::Zero(3, 30)));
    EXPECT_LE((more.directions.topRows(11) * expected.total * more.directions.topRows(11).transpose() -
               Matrix<double>::Identity(11, 11))
                  .norm(),
              1e-9);
    EXPECT_EQ(more.within_shares.tail(3), Vector<double>::Ones(3));
}

TEST(Discriminant, IgnoresConstantColumns) {
    const Problem problem = make_problem(200, 6, 3, false);
    Problem wider = problem;
    wider.points.resize(200, 9);
    wider.points.leftCols(3) = problem.points.leftCols(3);
    wider.points.middleCols(3, 2).setConstant(0.1);
    wider.points.middleCols(5, 3) = problem.points.rightCols(3);
    wider.points.col(8) = 2.0 * problem.points.col(1) - problem.points.col(4);
    const Subspace expected = solve(problem.points, problem, 2, Normalization::within, {Kind::none, 0.0}, false);
    for (const bool narrow : {false, true}) {
        const Matrix<float> points = wider.points.cast<float>();
        const Subspace found = solve(narrow ? PointsView(points) : PointsView(wider.points), wider, 2,
                                     Normalization::within, {Kind::none, 0.0}, false);
        EXPECT_EQ(found.total_rank, 6);
        EXPECT_EQ(found.directions.middleCols(3, 2), (Matrix<double>::Zero(2, 2)));
        EXPECT_LE((found.within_shares - expected.within_shares).norm(), narrow ? 1e-6 : 1e-10);
    }
    // Only constant columns.
    Problem nothing = problem;
    nothing.points.setConstant(0.3);
    for (const Shrinkage shrinkage : kShrinkages) {
        const Subspace found = solve(nothing.points, nothing, 2, Normalization::within, shrinkage, false);
        EXPECT_EQ(found.total_rank, 0);
        EXPECT_EQ(found.directions, (Matrix<double>::Zero(2, 6)));
    }
}

TEST(Discriminant, EmptyAndDuplicateClusters) {
    // Cluster 1 is empty; clusters 2 and 3 share a cloud: S_b has rank 2 (3 with the noise between the halves).
    Problem problem = make_problem(400, 7, 5, false);
    for (Index i = 0; i < 400; ++i) {
        auto& label = problem.labels[static_cast<std::size_t>(i)];
        if (label == 1) label = 2;
        problem.a.row(i).setZero();
        problem.a(i, label) = 1.0;
    }
    for (const Shrinkage shrinkage : kShrinkages) {
        const Subspace found = solve(problem.points, problem, 6, Normalization::total, shrinkage, false);
        const Literal expected = literal(problem.points, problem.a, shrinkage);
        EXPECT_EQ(found.shrinkages[1], 0.0);
        EXPECT_LE(
            (found.directions * expected.total * found.directions.transpose() - Matrix<double>::Identity(6, 6)).norm(),
            1e-9);
        const Matrix<double> within = found.directions * expected.within * found.directions.transpose();
        EXPECT_LE((within - Matrix<double>(found.within_shares.asDiagonal())).norm(), 1e-9);
        if (shrinkage.kind == Kind::none) {
            EXPECT_LT(found.within_shares[2], 1.0 - 1e-6);
            EXPECT_EQ(found.within_shares[3], 1.0);
        }
    }
    // All centroids are equal: all directions are equally good, and the result is normalised.
    const coterie::Run run(0, 1);
    Discriminant alike(problem.points, 5, 2, Normalization::within, {Kind::none, 0.0}, false, run);
    alike.assign(problem.labels);
    const Matrix<double> mean = alike.mean().transpose().replicate(5, 1);
    const Subspace found = alike.solve(mean, mass_of(problem.a));
    EXPECT_EQ(found.within_shares, Vector<double>::Ones(2));
    const Literal expected = literal(problem.points, problem.a, {Kind::none, 0.0});
    EXPECT_LE(
        (found.directions * expected.total * found.directions.transpose() - Matrix<double>::Identity(2, 2)).norm(),
        1e-9);
}

TEST(Discriminant, PerfectSeparationHasAFloor) {
    Matrix<double> points(60, 3);
    Problem problem{points, Matrix<double>::Zero(60, 3), Labels(60)};
    RandomStream random(2, "test.separated");
    for (Index i = 0; i < 60; ++i) {
        const auto label = static_cast<std::int32_t>(i % 3);
        problem.labels[static_cast<std::size_t>(i)] = label;
        problem.a(i, label) = 1.0;
        problem.points.row(i) << static_cast<double>(label), random.normal(), random.normal();
    }
    const Subspace found = solve(problem.points, problem, 2, Normalization::within, {Kind::none, 0.0}, false);
    EXPECT_EQ(found.floored, 1);
    EXPECT_NEAR(found.within_shares[0], 0.0, 1e-14);
    EXPECT_NEAR(found.directions(0, 0), std::sqrt(1.0 / (2.0 / 3.0) / least_within_share), 1e-6);
    const Subspace total = solve(problem.points, problem, 2, Normalization::total, {Kind::none, 0.0}, false);
    EXPECT_EQ(total.floored, 1);
    EXPECT_NEAR(total.directions(0, 0), std::sqrt(1.0 / (2.0 / 3.0)), 1e-12);
}
}  // namespace
}  // namespace coterie::subspace::internal
