#include "coterie/manifold/representation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <Eigen/LU>

#include "coterie/manifold/internal/reduced_lasso.hpp"
#include "coterie/manifold/matching_pursuit.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using manifold::internal::ReducedLasso;
using test::infinity;
using test::normal_points;

/// Points of `subspaces` linear subspaces of the given dimension, in turn.
Matrix<double> subspace_points(Index n, Index d, Index subspaces, Index dimension, std::uint64_t seed) {
    const Matrix<double> bases = normal_points(subspaces * dimension, d, seed);
    const Matrix<double> mixed = normal_points(n, dimension, seed + 1);
    Matrix<double> out(n, d);
    for (Index i = 0; i < n; ++i)
        out.row(i) = (mixed.row(i) * bases.middleRows(i % subspaces * dimension, dimension)).normalized();
    return out;
}

// The problem of one query as in the header, computed from the points only.
struct Plain {
    Matrix<double> x;           // allowed columns, homogenised
    Vector<double> y;           // homogenised
    Vector<double> w;           // of the columns
    std::vector<Index> number;  // of the columns among the points
    double lambda_zero = 0;

    Plain(const Matrix<double>& points, const Vector<double>& point, Index self, const RepresentationOptions& options,
          const Vector<double>& given = {}) {
        const Index d = points.cols();
        const double rms = std::sqrt((points.rowwise() - points.colwise().mean()).rowwise().squaredNorm().mean());
        for (Index j = 0; j < points.rows(); ++j)
            if (j != self) number.push_back(j);
        const auto m = static_cast<Index>(number.size());
        x.resize(m, d + 1);
        w.resize(m);
        y.resize(d + 1);
        y << point, std::sqrt(options.eta);
        for (Index i = 0; i < m; ++i) {
            const Index j = number[static_cast<std::size_t>(i)];
            x.row(i) << points.row(j), std::sqrt(options.eta);
            const double distance = (points.row(j).transpose() - point).norm();
            if (given.size() > 0)
                w[i] = given[j];
            else if (options.weights == RepresentationWeights::linear)
                w[i] = rms > 0 ? std::max(distance, 1e-6 * rms) : 1;
            else if (options.weights == RepresentationWeights::exponential)
                w[i] = std::exp(2 * distance);
            else
                w[i] = 1;
        }
        lambda_zero = options.l1_share / ((x * y).cwiseAbs().array() / w.array()).maxCoeff();
    }

    double objective(const Vector<double>& c, double lambda, double tau) const {
        return tau * w.dot(c.cwiseAbs()) + (1 - tau) / 2 * c.squaredNorm() +
               lambda / 2 * (y - x.transpose() * c).squaredNorm();
    }
    // Largest violation of the optimality conditions in units of tau w.
    double violation(const Vector<double>& c, double lambda, double tau) const {
        const Vector<double> g = lambda * (x * (y - x.transpose() * c)) - (1 - tau) * c;
        double worst = 0;
        for (Index j = 0; j < c.size(); ++j) {
            const double t = tau * w[j];
            worst = std::max(worst, c[j] == 0 ? std::abs(g[j]) / t - 1 : std::abs(g[j] - std::copysign(t, c[j])) / t);
        }
        return worst;
    }
    // Coordinate descent over the columns, until nothing moves.
    Vector<double> by_coordinates(double lambda, double tau, int sweeps) const {
        Vector<double> c = Vector<double>::Zero(w.size());
        Vector<double> r = y;
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            double moved = 0;
            for (Index j = 0; j < c.size(); ++j) {
                const double square = lambda * x.row(j).squaredNorm();
                if (square == 0) continue;
                const double pull = lambda * x.row(j).dot(r) + square * c[j];
                const double size = std::max(0.0, std::abs(pull) - tau * w[j]) / (square + 1 - tau);
                const double next = std::copysign(size, pull);
                moved = std::max(moved, std::abs(next - c[j]));
                r -= (next - c[j]) * x.row(j).transpose();
                c[j] = next;
            }
            if (moved < 1e-15) break;
        }
        return c;
    }
    Vector<double> row_of(const SparseMatrix& coefficients, Index row) const {
        Vector<double> out(w.size());
        for (Index i = 0; i < w.size(); ++i) out[i] = coefficients.coeff(row, number[static_cast<std::size_t>(i)]);
        return out;
    }
};

RepresentationOptions options_of(RepresentationWeights weights, double multiple, double eta, double tau = 1) {
    RepresentationOptions out;
    out.weights = weights;
    out.multiple = multiple;
    out.eta = eta;
    out.l1_share = tau;
    return out;
}

TEST(ReducedLasso, agrees_with_brute_force_over_signs) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (int round = 0; round < 300; ++round) {
        const Index m = 1 + round % 5;
        const Index d = 1 + round % 4;  // also fewer dimensions than columns
        Matrix<double> x = normal_points(m, d, 100 + static_cast<std::uint64_t>(round));
        if (round % 7 == 3 && m > 1) x.row(1) = x.row(0);
        if (round % 11 == 5 && m > 2) x.row(2).setZero();
        const Matrix<double> gram = x * x.transpose();
        Vector<double> y(d);
        for (double& each : y) each = normal(random);
        const Vector<double> b = x * y;
        Vector<double> t(m);
        for (double& each : t) each = 0.02 + std::abs(normal(random)) * 0.3;
        const double ridge = round % 3 == 0 ? 0.1 : 0.0;
        const auto value = [&](const Vector<double>& c) {
            return t.dot(c.cwiseAbs()) + 0.5 * c.dot(gram * c) + ridge / 2 * c.squaredNorm() - b.dot(c);
        };
        // Tries every assignment of -, 0, + to the columns. Its stationary point counts if the signs agree.
        double best = 0;
        const int all = static_cast<int>(std::pow(3, m));
        for (int code = 0; code < all; ++code) {
            std::vector<Index> inside;
            std::vector<double> signs;
            int rest = code;
            for (Index j = 0; j < m; ++j, rest /= 3)
                if (rest % 3 != 0) {
                    inside.push_back(j);
                    signs.push_back(rest % 3 == 1 ? 1 : -1);
                }
            const auto s = static_cast<Index>(inside.size());
            Matrix<double> system(s, s);
            Vector<double> right(s);
            for (Index i = 0; i < s; ++i) {
                const auto u = static_cast<std::size_t>(i);
                for (Index j = 0; j < s; ++j)
                    system(i, j) = gram(inside[u], inside[static_cast<std::size_t>(j)]) + (i == j ? ridge : 0);
                right[i] = b[inside[u]] - t[inside[u]] * signs[u];
            }
            Vector<double> c = Vector<double>::Zero(m);
            bool right_signs = true;
            if (s > 0) {
                const Eigen::FullPivLU<Eigen::MatrixXd> factor(system);
                if (factor.rank() < s) continue;
                const Vector<double> solved = factor.solve(right);
                for (Index i = 0; i < s; ++i) {
                    c[inside[static_cast<std::size_t>(i)]] = solved[i];
                    right_signs = right_signs && solved[i] * signs[static_cast<std::size_t>(i)] >= 0;
                }
            }
            if (right_signs) best = std::min(best, value(c));
        }
        Vector<double> c = Vector<double>::Zero(m);
        ReducedLasso lasso;
        ASSERT_TRUE(lasso.solve({gram.data(), m, m, b.data(), t.data(), ridge}, c.data()));
        EXPECT_NEAR(value(c), best, 1e-12 * (1 + std::abs(best))) << "case " << round;
        EXPECT_EQ((c.array() != 0).count(), static_cast<Index>(lasso.support().size()));
    }
}

TEST(ReducedLasso, solution_does_not_depend_on_the_start) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Matrix<double> x = normal_points(40, 15, seed);
        const Matrix<double> gram = x * x.transpose();
        const Vector<double> b = gram.col(3) + 0.3 * gram.col(9);
        const Vector<double> t = Vector<double>::Constant(40, 0.05 * b.cwiseAbs().maxCoeff());
        Vector<double> cold = Vector<double>::Zero(40);
        Vector<double> warm = normal_points(40, 1, seed + 50);
        ReducedLasso lasso;
        ASSERT_TRUE(lasso.solve({gram.data(), 40, 40, b.data(), t.data(), 0}, cold.data()));
        ASSERT_TRUE(lasso.solve({gram.data(), 40, 40, b.data(), t.data(), 0}, warm.data()));
        EXPECT_LT((cold - warm).cwiseAbs().maxCoeff(), 1e-10);
    }
}

TEST(Representation, is_optimal_and_no_worse_than_coordinate_descent) {
    std::mt19937_64 random(11);
    int cases = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Index n = 4 + static_cast<Index>(random() % 40);
        const Index d = 1 + static_cast<Index>(random() % 12);
        Matrix<double> x = normal_points(n, d, seed, seed % 3 == 0 ? 2.0 : 0.0);
        if (seed % 2 == 0) x.rowwise().normalize();
        const double etas[] = {0.0, 0.2, 1.0, 100.0};
        const double multiples[] = {0.7, 2, 20, 50, 400};
        RepresentationOptions options = options_of(static_cast<RepresentationWeights>(seed % 3), multiples[seed % 5],
                                                   etas[seed / 3 % 4], seed % 4 == 3 ? 0.9 : 1.0);
        options.start = 1 + static_cast<int>(random() % 8);  // small, so that several rounds are needed
        options.add = 1 + static_cast<int>(random() % 5);
        options.max_rounds = 1000;
        const Representation found = represent(x, options, coterie::Run(0, 2));
        EXPECT_EQ(found.unfinished, 0);
        EXPECT_LE(found.worst_violation, options.tolerance);
        Index entry = 0;
        for (Index i = 0; i < n; ++i) {
            const Plain plain(x, x.row(i).transpose(), i, options);
            const Vector<double> c = plain.row_of(found.coefficients, i);
            const double lambda = found.lambda[static_cast<std::size_t>(i)];
            EXPECT_NEAR(lambda, options.multiple * plain.lambda_zero, 1e-9 * lambda);
            EXPECT_LE(plain.violation(c, lambda, options.l1_share), 2e-7) << "seed " << seed << ", point " << i;
            for (SparseMatrix::InnerIterator it(found.coefficients, i); it; ++it, ++entry) {
                ASSERT_NE(it.col(), i);
                const auto place = std::find(plain.number.begin(), plain.number.end(), it.col());
                const double w = plain.w[place - plain.number.begin()];
                EXPECT_NEAR(found.weights[static_cast<std::size_t>(entry)], w, 1e-9 * w);
            }
            if (i % 5 != 0) continue;
            ++cases;
            const double objective = plain.objective(c, lambda, options.l1_share);
            const Vector<double> other = plain.by_coordinates(lambda, options.l1_share, 20000);
            EXPECT_LE(objective, plain.objective(other, lambda, options.l1_share) * (1 + 1e-10) + 1e-13);
            if (plain.violation(other, lambda, options.l1_share) < 1e-11) {
                EXPECT_NEAR(objective, plain.objective(other, lambda, options.l1_share), 1e-9 * objective + 1e-13);
            }
        }
    }
    EXPECT_GT(cases, 250);
}

TEST(Representation, given_weights_and_lambda) {
    const Matrix<double> x = normal_points(50, 6, 3);
    const Vector<double> given = normal_points(50, 1, 4).cwiseAbs().array() + 0.1;
    RepresentationOptions options = options_of(RepresentationWeights::linear, 20, 0.5);
    options.given = [&](Index query, std::span<double> weights) {
        for (std::size_t j = 0; j < weights.size(); ++j)
            weights[j] = given[static_cast<Index>(j)] * (1 + 0.01 * static_cast<double>(query));
        weights[7] = infinity;
    };
    options.lambda = 1.3;
    options.start = 4;
    const Representation found = represent(x, options, coterie::Run(0, 2));
    EXPECT_GT(found.coefficients.nonZeros(), 50);
    for (Index i = 0; i < 50; ++i) {
        Vector<double> weights = given * (1 + 0.01 * static_cast<double>(i));
        weights[7] = infinity;
        const Plain plain(x, x.row(i).transpose(), i, options, weights);
        EXPECT_EQ(found.lambda[static_cast<std::size_t>(i)], 1.3);
        EXPECT_EQ(found.coefficients.coeff(i, 7), 0);
        Vector<double> c = plain.row_of(found.coefficients, i);
        EXPECT_LE(plain.violation(c, 1.3, 1), 2e-7);
    }
    options.given = [](Index, std::span<double> weights) {
        std::fill(weights.begin(), weights.end(), 1.0);
        weights[2] = 0;
    };
    EXPECT_THROW(represent(x, options, coterie::Run(0, 1)), BadArgument);
}

TEST(Representation, does_not_depend_on_threads_and_screening) {
    Matrix<float> x = subspace_points(1500, 40, 6, 4, 2).cast<float>();
    for (const auto weights : {RepresentationWeights::linear, RepresentationWeights::exponential}) {
        RepresentationOptions options = options_of(weights, weights == RepresentationWeights::linear ? 20 : 50, 0.2);
        const Representation one = represent(x, options, coterie::Run(0, 1));
        EXPECT_GT(one.screened, 0.0);
        for (const int threads : {2, 8}) {
            const Representation other = represent(x, options, coterie::Run(0, threads));
            EXPECT_TRUE(one.coefficients.isApprox(other.coefficients, 0));
            EXPECT_EQ(one.weights, other.weights);
            EXPECT_EQ(one.lambda, other.lambda);
            EXPECT_EQ(one.violation, other.violation);
        }
        options.screening = false;
        const Representation all = represent(x, options, coterie::Run(0, 2));
        EXPECT_TRUE(one.coefficients.isApprox(all.coefficients, 0));
        EXPECT_EQ(one.violation, all.violation);
        EXPECT_EQ(one.rounds, all.rounds);
        EXPECT_GE(all.products, one.products);
    }
}

TEST(Representation, screening_skips_irrelevant_tiles) {
    // Two distant clusters, one after the other. With exponential weights, points use only their own cluster.
    Matrix<double> x = normal_points(4096, 5, 8) * 0.1;
    x.bottomRows(2048).array() += 3;
    RepresentationOptions options = options_of(RepresentationWeights::exponential, 5, 1);
    const Representation with = represent(x, options, coterie::Run(0, 2));
    options.screening = false;
    const Representation without = represent(x, options, coterie::Run(0, 2));
    EXPECT_LT(with.products, without.products);
    EXPECT_TRUE(with.coefficients.isApprox(without.coefficients, 0));
    EXPECT_EQ(with.violation, without.violation);
}

TEST(Representation, float_agrees_with_double) {
    const Matrix<float> single = subspace_points(400, 30, 5, 3, 4).cast<float>();
    const Matrix<double> wide = single.cast<double>();
    const RepresentationOptions options = options_of(RepresentationWeights::linear, 20, 0.2);
    const Representation a = represent(single, options, coterie::Run(0, 2));
    const Representation b = represent(wide, options, coterie::Run(0, 2));
    EXPECT_LT((a.coefficients - b.coefficients).norm(), 1e-9 * a.coefficients.norm());
}

TEST(Representation, is_invariant_to_order_offset_and_scale) {
    const Matrix<double> x = subspace_points(300, 20, 4, 3, 6);
    const RepresentationOptions options = options_of(RepresentationWeights::linear, 20, 0.2);
    const Representation straight = represent(x, options, coterie::Run(0, 2));
    std::vector<Index> order(300);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
    const Points mixed = rows_of(x, order);
    const Representation permuted = represent(mixed, options, coterie::Run(0, 2));
    for (Index i = 0; i < 300; ++i)
        for (SparseMatrix::InnerIterator it(permuted.coefficients, i); it; ++it)
            EXPECT_NEAR(it.value(),
                        straight.coefficients.coeff(order[static_cast<std::size_t>(i)],
                                                    order[static_cast<std::size_t>(it.col())]),
                        1e-8);
    // Linear weights: scaling the points by s and eta by s^2 does not change c.
    for (const double scale : {1e-12, 1e12}) {
        RepresentationOptions scaled = options;
        scaled.eta *= scale * scale;
        const Representation other = represent(Matrix<double>(x * scale), scaled, coterie::Run(0, 2));
        EXPECT_LT((other.coefficients - straight.coefficients).norm(), 1e-8 * straight.coefficients.norm());
    }
}

TEST(Representation, uses_only_points_of_the_same_subspace) {
    const Matrix<double> x = subspace_points(300, 50, 5, 3, 9);
    const Representation found = represent(x, options_of(RepresentationWeights::equal, 50, 0), coterie::Run(0, 2));
    for (Index i = 0; i < 300; ++i)
        for (SparseMatrix::InnerIterator it(found.coefficients, i); it; ++it) EXPECT_EQ(i % 5, it.col() % 5);
    EXPECT_EQ(found.empty, 0);
}

TEST(Representation, is_zero_up_to_lambda_zero) {
    const Matrix<double> x = normal_points(60, 4, 12);
    const Representation none = represent(x, options_of(RepresentationWeights::linear, 0.999, 1), coterie::Run(0, 1));
    EXPECT_EQ(none.coefficients.nonZeros(), 0);
    EXPECT_EQ(none.empty, 60);
    EXPECT_EQ(none.unfinished, 0);
    const Representation some = represent(x, options_of(RepresentationWeights::linear, 1.001, 1), coterie::Run(0, 1));
    EXPECT_EQ(some.coefficients.nonZeros(), 60);
}

TEST(Representation, duplicates_zero_vectors_and_collinear_points) {
    for (const auto weights :
         {RepresentationWeights::linear, RepresentationWeights::exponential, RepresentationWeights::equal})
        for (const double eta : {0.0, 1.0}) {
            Matrix<double> x = normal_points(60, 3, 21);
            x.row(1) = x.row(0);  // duplicates
            x.row(2) = x.row(0);
            x.row(3).setZero();  // zero vectors
            x.row(4).setZero();
            for (Index i = 5; i < 25; ++i) x.row(i) = x.row(5) * (0.1 * static_cast<double>(i) - 1.2);  // collinear
            RepresentationOptions options = options_of(weights, 200, eta);
            options.start = 8;
            options.max_rounds = 200;
            const Representation found = represent(x, options, coterie::Run(0, 2));
            EXPECT_EQ(found.unfinished, 0);
            for (Index i = 0; i < 60; ++i) {
                const Plain plain(x, x.row(i).transpose(), i, options);
                const double lambda = found.lambda[static_cast<std::size_t>(i)];
                const Vector<double> c = plain.row_of(found.coefficients, i);
                ASSERT_TRUE(c.allFinite());
                if (eta == 0 && x.row(i).isZero(0)) {
                    EXPECT_EQ(lambda, infinity);
                    EXPECT_TRUE(c.isZero(0));
                    continue;
                }
                EXPECT_LE(plain.violation(c, lambda, 1), 1e-6) << "point " << i;
            }
        }
}

TEST(Representation, equal_points_and_one_dimension) {
    const Matrix<double> same = Matrix<double>::Constant(10, 3, 2.5);
    for (const auto weights : {RepresentationWeights::linear, RepresentationWeights::exponential}) {
        const Representation found = represent(same, options_of(weights, 20, 1), coterie::Run(0, 1));
        EXPECT_EQ(found.unfinished, 0);
        for (Index i = 0; i < 10; ++i) EXPECT_NEAR(found.coefficients.row(i).sum(), 0.95, 1e-9);  // 1 - 1 / a
    }
    const Matrix<double> zeros = Matrix<double>::Zero(5, 2);
    const Representation none = represent(zeros, options_of(RepresentationWeights::linear, 20, 0), coterie::Run(0, 1));
    EXPECT_EQ(none.empty, 5);
    const Matrix<double> line = normal_points(40, 1, 2);
    EXPECT_EQ(represent(line, options_of(RepresentationWeights::linear, 50, 0.5), coterie::Run(0, 1)).unfinished, 0);
    const Matrix<double> pair = normal_points(2, 3, 2);
    EXPECT_EQ(represent(pair, options_of(RepresentationWeights::linear, 50, 9.0), coterie::Run(0, 1)).unfinished, 0);
}

TEST(Representation, large_offsets_and_scales_are_certified) {
    // Far from the origin, digits of the products cancel, and exponential weights exceed the range of float.
    Matrix<double> far = normal_points(200, 4, 31, 1e4);
    Matrix<double> wide = normal_points(200, 4, 32) * 300;
    for (const Matrix<double>* const x : {&far, &wide})
        for (const auto weights : {RepresentationWeights::linear, RepresentationWeights::exponential}) {
            const Representation found = represent(*x, options_of(weights, 20, 1), coterie::Run(0, 2));
            EXPECT_LE(found.worst_violation, 1e-5);
            for (const double w : found.weights) EXPECT_TRUE(std::isfinite(w));
            for (const double lambda : found.lambda) EXPECT_TRUE(std::isfinite(lambda));
        }
}

TEST(Representation, distant_tight_clusters_are_exact) {
    // Within a cluster all distances are below the rounding error of the large products in float.
    for (const double radius : {1e-2, 1e-4, 1e-6})
        for (const auto weights :
             {RepresentationWeights::linear, RepresentationWeights::exponential, RepresentationWeights::equal}) {
            Matrix<double> x = normal_points(450, 24, 51) * radius;
            for (Index i = 0; i < 450; ++i) x(i, i % 3) += 10;
            RepresentationOptions options = options_of(weights, 20, 1);
            options.start = 16;
            const Representation found = represent(x, options, coterie::Run(0, 2));
            EXPECT_EQ(found.unfinished, 0) << radius;
            for (Index i = 0; i < 450; i += 11) {
                const Plain plain(x, x.row(i).transpose(), i, options);
                const double lambda = found.lambda[static_cast<std::size_t>(i)];
                EXPECT_NEAR(lambda, 20 * plain.lambda_zero, 1e-6 * lambda) << radius;
                EXPECT_LE(plain.violation(plain.row_of(found.coefficients, i), lambda, 1), 1e-5) << radius;
            }
        }
}

TEST(Representation, new_points_equal_left_out_points) {
    const Matrix<double> x = subspace_points(200, 15, 3, 3, 14);
    const Matrix<double> rest = x.bottomRows(150);
    const RepresentationOptions options = options_of(RepresentationWeights::exponential, 50, 1);
    const Representation fresh = represent(rest, Matrix<double>(x.topRows(50)), options, coterie::Run(0, 2));
    ASSERT_EQ(fresh.coefficients.rows(), 50);
    ASSERT_EQ(fresh.coefficients.cols(), 150);
    for (Index i = 0; i < 50; ++i) {
        const Plain plain(rest, x.row(i).transpose(), -1, options);
        EXPECT_LE(plain.violation(plain.row_of(fresh.coefficients, i), fresh.lambda[static_cast<std::size_t>(i)], 1),
                  2e-7);
        const Representation alone = represent(rest, Matrix<double>(x.row(i)), options, coterie::Run(0, 1));
        for (SparseMatrix::InnerIterator it(alone.coefficients, 0); it; ++it)
            EXPECT_NEAR(it.value(), fresh.coefficients.coeff(i, it.col()), 1e-9);
    }
    // A training point that is used as a new point finds itself, at the smallest distance.
    const Representation itself = represent(rest, Matrix<double>(rest.topRows(1)), options, coterie::Run(0, 1));
    EXPECT_GT(itself.coefficients.coeff(0, 0), 0.5);
    EXPECT_EQ(represent(rest, Matrix<double>(0, 15), options, coterie::Run(0, 1)).coefficients.rows(), 0);
}

TEST(Representation, one_point_in_double_equals_the_block) {
    const Matrix<double> x = normal_points(80, 7, 17);
    for (const auto weights :
         {RepresentationWeights::linear, RepresentationWeights::exponential, RepresentationWeights::equal}) {
        const RepresentationOptions options = options_of(weights, 30, 0.7);
        const Representation block = represent(x, options, coterie::Run(0, 1));
        for (Index i = 0; i < 80; i += 7) {
            const Vector<double> y = x.row(i).transpose();
            const Vector<double> w = representation_weights(x, y, i, weights);
            double sum = 0;
            for (Index j = 0; j < 80; ++j) sum += j == i ? 0 : w[j];
            EXPECT_NEAR(sum, 1, 1e-12);
            EXPECT_EQ(w[i], infinity);
            const double lambda = 30 * smallest_lambda(x, y, w, 0.7);
            const PointRepresentation one = represent_point(x, y, w, lambda, 0.7);
            EXPECT_LE(one.violation, 1e-9);
            for (Index j = 0; j < 80; ++j) EXPECT_NEAR(one.coefficients[j], block.coefficients.coeff(i, j), 1e-7);
            const Plain plain(x, y, i, options, w);
            Vector<double> c(79);
            for (Index j = 0; j < 79; ++j) c[j] = one.coefficients[plain.number[static_cast<std::size_t>(j)]];
            EXPECT_NEAR(one.objective, plain.objective(c, lambda, 1), 1e-12 * one.objective);
            EXPECT_LE((one.dual - lambda * (plain.y - plain.x.transpose() * c)).norm(), 1e-10 * one.dual.norm());
        }
    }
}

TEST(Representation, reports_when_rounds_run_out) {
    RepresentationOptions options = options_of(RepresentationWeights::equal, 50, 0);
    options.start = 1;
    options.add = 1;
    options.max_rounds = 2;
    const Representation found = represent(normal_points(200, 30, 1), options, coterie::Run(0, 1));
    EXPECT_GT(found.unfinished, 0);
    EXPECT_GT(found.worst_violation, 1e-3);
}

TEST(Representation, rejects_bad_arguments) {
    const Matrix<double> x = normal_points(20, 3, 1);
    const auto refused = [&](auto change, const std::string& words) {
        RepresentationOptions options;
        change(options);
        try {
            represent(x, options, coterie::Run(0, 1));
            ADD_FAILURE() << "accepted: " << words;
        } catch (const BadArgument& error) {
            EXPECT_NE(std::string(error.message()).find(words), std::string::npos) << error.message();
        }
    };
    refused([](auto& o) { o.multiple = 0; }, "multiple");
    refused([](auto& o) { o.lambda = -1; }, "lambda");
    refused([](auto& o) { o.eta = -1; }, "eta");
    refused([](auto& o) { o.l1_share = 0; }, "l1_share");
    refused([](auto& o) { o.l1_share = 1.5; }, "l1_share");
    refused([](auto& o) { o.start = 0; }, "start");
    refused([](auto& o) { o.add = 0; }, "add");
    refused([](auto& o) { o.max_rounds = 0; }, "max_rounds");
    refused([](auto& o) { o.tolerance = 0; }, "tolerance");
    EXPECT_THROW(represent(normal_points(1, 3, 1), RepresentationOptions{}, coterie::Run(0, 1)), BadArgument);
    EXPECT_THROW(represent(x, normal_points(2, 4, 1), RepresentationOptions{}, coterie::Run(0, 1)), BadArgument);
    Matrix<double> bad = x;
    bad(4, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(represent(bad, RepresentationOptions{}, coterie::Run(0, 1)), BadData);
    EXPECT_THROW(represent(x, bad, RepresentationOptions{}, coterie::Run(0, 1)), BadData);
    EXPECT_THROW(represent(x, Matrix<double>(x * 1e20), RepresentationOptions{}, coterie::Run(0, 1)), BadData);
    coterie::Run stopped(0, 1);
    stopped.should_stop = [] { return true; };
    EXPECT_THROW(represent(x, RepresentationOptions{}, stopped), Cancelled);
    const Vector<double> y = x.row(0).transpose();
    EXPECT_THROW(represent_point(x, y, Vector<double>::Ones(19), 1, 1), BadArgument);
    EXPECT_THROW(represent_point(x, y, Vector<double>::Zero(20), 1, 1), BadArgument);
    EXPECT_THROW(represent_point(x, y, Vector<double>::Ones(20), 0, 1), BadArgument);
    EXPECT_THROW(represent_point(x, Vector<double>::Ones(2), Vector<double>::Ones(20), 1, 1), BadArgument);
}

}  // namespace
}  // namespace coterie
