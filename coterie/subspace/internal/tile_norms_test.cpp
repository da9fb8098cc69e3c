#include "coterie/subspace/internal/tile_norms.hpp"

#include <bit>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"

namespace coterie::internal {
namespace {

struct Problem {
    Matrix<float> points;
    Matrix<float> shares;  // n x 2
};

Vector<double> mean_of(const Matrix<double>& points, const Vector<double>& weights) {
    return points.transpose() * weights / weights.sum();
}

// z_i = sqrt(A_i) (x_i - c), c the mean for these weights.
Matrix<double> deviations_of(const Problem& problem, Index cluster, Vector<double>& center) {
    const Matrix<double> points = problem.points.cast<double>();
    const Vector<double> weights = problem.shares.col(cluster).cast<double>();
    center = mean_of(points, weights);
    return weights.cwiseSqrt().asDiagonal() * (points.rowwise() - center.transpose());
}

ClusterMoments::Norms norms_of(const Matrix<double>& z) {
    const Matrix<double> scatter = z.transpose() * z;
    return {scatter.trace(), scatter.squaredNorm()};
}

ClusterMoments::Norms by_tiles(const Problem& problem, Index cluster, int threads = 2) {
    Vector<double> center;
    deviations_of(problem, cluster, center);
    const Vector<double> mean = problem.points.cast<double>().colwise().mean();
    TileNorms norms(PointsView(problem.points).as<float>(), mean, threads);
    return norms.norms(problem.shares, static_cast<std::int32_t>(cluster), center);
}

// Shares of cluster 0 from 1e-12 to 1, most of them small; of cluster 1 all alike.
template <class Value>
Problem make_problem(Index n, Index d, Value value) {
    RandomStream random(7, "test.tiles");
    Problem problem{Matrix<float>(n, d), Matrix<float>(n, 2)};
    for (Index i = 0; i < n; ++i) {
        for (Index p = 0; p < d; ++p) problem.points(i, p) = static_cast<float>(value(i, p, random));
        problem.shares(i, 0) = static_cast<float>(std::pow(10.0, -12.0 * random.uniform()));
        problem.shares(i, 1) = 0.3F;
    }
    return problem;
}

double normal(Index, Index p, RandomStream& random) {
    return (1.0 + static_cast<double>(p % 7)) * random.normal() + 0.2 * static_cast<double>(p);
}
// One of 8 values in each group of 8 columns, as 8 columns of 0 and 1; the groups depend on each other.
double one_hot(Index i, Index p, RandomStream& random) {
    return static_cast<Index>(random.below(4)) + i * (p / 8 + 1) % 5 == p % 8 ? 1.0 : 0.0;
}
double pixel(Index i, Index p, RandomStream& random) {
    return random.uniform() < 0.7 ? 0.0 : std::floor(255.0 * random.uniform()) / (i % 3 == 0 && p % 5 == 0 ? 2.0 : 1.0);
}
double isotropic(Index, Index, RandomStream& random) { return random.normal(); }
double line(Index i, Index, RandomStream&) { return static_cast<double>(i % 17); }

class Tiles : public testing::Test {
protected:
    void SetUp() override {
        if (!TileNorms::available()) GTEST_SKIP() << "no bfloat16 matrix unit";
    }
    // Few rows are summed up in float: only the lots' error is left.
    static void agrees(const Problem& problem, const std::string& what) {
        for (Index cluster = 0; cluster < 2; ++cluster) {
            Vector<double> center;
            const auto expected = norms_of(deviations_of(problem, cluster, center));
            const auto found = by_tiles(problem, cluster);
            SCOPED_TRACE(what + " cluster " + std::to_string(cluster));
            EXPECT_NEAR(found.trace, expected.trace, 4e-6 * expected.trace);
            EXPECT_NEAR(found.squared_frobenius, expected.squared_frobenius, 2e-5 * expected.squared_frobenius);
            // What OAS divides by: two deviations where W is near a multiple of the identity.
            const auto d = static_cast<double>(problem.points.cols());
            if (d > 1) {
                const double excess = expected.squared_frobenius - expected.trace * expected.trace / d;
                EXPECT_NEAR(found.squared_frobenius - found.trace * found.trace / d, excess,
                            (0x1p-6 / d + 2e-5) * excess);
            }
        }
    }
};

TEST_F(Tiles, NormsAreThoseOfTheScatter) {
    for (const Index d : {1, 2, 7, 31, 32, 33, 200})
        for (const Index n : {2, 3, 50, 1001, 20011}) {
            const std::string size = std::to_string(n) + " x " + std::to_string(d);
            agrees(make_problem(n, d, normal), "normal " + size);
            if (d < 31) continue;
            agrees(make_problem(n, d, one_hot), "one-hot " + size);
            agrees(make_problem(n, d, pixel), "pixels " + size);
            agrees(make_problem(n, d, isotropic), "isotropic " + size);
            agrees(make_problem(n, d, line), "line " + size);
        }
}

TEST_F(Tiles, ScalesAndOffsetsCostNothing) {
    for (const double scale : {1e-15, 1e-6, 1e6, 1e14})
        agrees(make_problem(5003, 70,
                            [&](Index i, Index p, RandomStream& random) { return scale * normal(i, p, random); }),
               "scale " + std::to_string(std::log10(scale)));
    // float leaves 10 bits of the deviations, and the mean lies between two floats.
    agrees(make_problem(5003, 70, [](Index i, Index p, RandomStream& random) { return 1e4 + normal(i, p, random); }),
           "offset");
    // One point is farther from all others than they from each other, and has the smallest of shares.
    Problem problem = make_problem(5003, 70, normal);
    problem.points.row(17) *= 300.0F;
    problem.shares(17, 0) = 1e-9F;
    problem.shares(17, 1) = 1e-4F;
    agrees(problem, "outlier");
    // Two tight clusters, far from each other and from the mean.
    Problem far = make_problem(8003, 70, [](Index i, Index p, RandomStream& random) {
        return (i % 2 == 0 ? -50.0 : 50.0) + normal(i, p, random);
    });
    for (Index i = 0; i < 8003; ++i) far.shares.row(i) *= i % 2 == 0 ? 1.0F : 1e-9F;
    agrees(far, "far");
}

float nearest_bfloat16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000U);
}

TEST_F(Tiles, DitherDoesWhatRoundingToTheNearestCannot) {
    // Columns of 0 and 1 in the same share of the points: all have the same error.
    Problem problem =
        make_problem(180000, 64, [](Index i, Index p, RandomStream&) { return (i + 7 * p) % 30 < 11 ? 1.0 : 0.0; });
    problem.shares.col(1).setConstant(0.74F);
    Vector<double> center;
    const Matrix<double> z = deviations_of(problem, 1, center);
    const double expected = norms_of(z).squared_frobenius;
    const Matrix<double> nearest =
        z.unaryExpr([](double x) { return static_cast<double>(nearest_bfloat16(static_cast<float>(x))); });
    EXPECT_GT(std::abs(norms_of(nearest).squared_frobenius / expected - 1.0), 1e-2);
    EXPECT_LT(std::abs(by_tiles(problem, 1).squared_frobenius / expected - 1.0), 1e-5);
}

TEST_F(Tiles, SameBitsWhateverTheThreads) {
    for (const Index n : {900, 30011}) {
        const Problem problem = make_problem(n, 75, normal);
        for (Index cluster = 0; cluster < 2; ++cluster) {
            const auto one = by_tiles(problem, cluster, 1);
            for (const int threads : {2, 3, 8}) {
                const auto many = by_tiles(problem, cluster, threads);
                EXPECT_EQ(one.trace, many.trace);
                EXPECT_EQ(one.squared_frobenius, many.squared_frobenius);
            }
        }
    }
}

TEST_F(Tiles, ClustersAreTakenOneAfterTheOther) {
    const Problem problem = make_problem(20011, 40, normal);
    const Vector<double> mean = problem.points.cast<double>().colwise().mean();
    TileNorms norms(PointsView(problem.points).as<float>(), mean, 2);
    Matrix<float> nothing = problem.shares;
    nothing.col(1).setZero();
    for (int round = 0; round < 2; ++round)
        for (const Index cluster : {1, 0}) {
            Vector<double> center;
            deviations_of(problem, cluster, center);
            const auto found = norms.norms(problem.shares, static_cast<std::int32_t>(cluster), center);
            EXPECT_EQ(found.trace, by_tiles(problem, cluster).trace);
            EXPECT_EQ(found.squared_frobenius, by_tiles(problem, cluster).squared_frobenius);
        }
    EXPECT_EQ(norms.norms(nothing, 1, mean).trace, 0.0);
    EXPECT_EQ(norms.norms(nothing, 1, mean).squared_frobenius, 0.0);
}

}  // namespace
}  // namespace coterie::internal
