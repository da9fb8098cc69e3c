#include "coterie/linalg/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {
// The same eight partial sums as in the library, so that ties and near ties have the same bits.
double squared_distance(PointsView a, Index i, PointsView b, Index j) {
    double lane[8] = {};
    const Index whole = a.columns() / 8 * 8;
    for (Index p = 0; p < a.columns(); ++p) {
        const double difference = a.at(i, p) - b.at(j, p);
        lane[p < whole ? p % 8 : 0] += difference * difference;
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

void expect_exact(PointsView points, PointsView queries, Index count, bool among_themselves, int threads = 2) {
    const coterie::Run run(0, threads);
    const Neighbors found =
        among_themselves ? nearest_neighbors(points, count, run) : nearest_neighbors(points, queries, count, run);
    ASSERT_EQ(found.count, count);
    ASSERT_EQ(static_cast<Index>(found.indices.size()), queries.rows() * count);
    for (Index i = 0; i < queries.rows(); ++i) {
        std::vector<std::pair<double, std::int32_t>> all;
        for (Index j = 0; j < points.rows(); ++j)
            if (!among_themselves || i != j)
                all.emplace_back(squared_distance(queries, i, points, j), static_cast<std::int32_t>(j));
        std::partial_sort(all.begin(), all.begin() + count, all.end());
        for (Index c = 0; c < count; ++c) {
            const auto at = static_cast<std::size_t>(i * count + c);
            ASSERT_EQ(found.indices[at], all[static_cast<std::size_t>(c)].second)
                << "query " << i << ", neighbour " << c;
            ASSERT_EQ(found.squared[at], all[static_cast<std::size_t>(c)].first);
        }
    }
}

template <class Scalar>
Matrix<Scalar> normal_points(Index n, Index d, std::uint64_t seed, double offset = 0.0) {
    RandomStream random(seed, "test.neighbors");
    Matrix<Scalar> points(n, d);
    for (Index i = 0; i < points.size(); ++i) points.data()[i] = static_cast<Scalar>(offset + random.normal());
    return points;
}

TEST(Neighbors, ByHand) {
    Matrix<double> points(4, 1);
    points << 0, 10, 4, 5;
    const Neighbors found = nearest_neighbors(points, 2, coterie::Run(0, 1));
    EXPECT_EQ(found.indices, (std::vector<std::int32_t>{2, 3, 3, 2, 3, 0, 2, 0}));
    EXPECT_EQ(found.squared, (std::vector<double>{16, 25, 25, 36, 1, 16, 1, 25}));
}

TEST(Neighbors, AgreeWithBruteForce) {
    for (const Index n : {2, 5, 511, 512, 513, 1300}) {
        for (const Index d : {1, 3, 8, 40}) {
            for (const Index count : {Index{1}, std::min<Index>(7, n - 1), n - 1}) {
                if (n > 600 && count > 600) continue;
                const Matrix<float> narrow = normal_points<float>(n, d, 1);
                expect_exact(narrow, narrow, count, true);
                const Matrix<double> wide = normal_points<double>(n, d, 2);
                expect_exact(wide, wide, count, true);
                const Matrix<float> queries = normal_points<float>(37, d, 3);
                expect_exact(narrow, queries, count + 1, false);
                expect_exact(wide, queries, count, false);
            }
        }
    }
}

TEST(Neighbors, TiesGoToTheLowerIndex) {
    // Few distinct values: most distances are tied.
    RandomStream random(5, "test.ties");
    Matrix<float> points(1100, 3);
    for (Index i = 0; i < points.size(); ++i) points.data()[i] = static_cast<float>(random.below(3));
    expect_exact(points, points, 5, true);
    expect_exact(points, points, 200, true);
    expect_exact(points, points, 10, false);
    const Matrix<double> equal = Matrix<double>::Constant(700, 4, 0.3);
    expect_exact(equal, equal, 4, true);
    expect_exact(equal, equal, 4, false);
}

TEST(Neighbors, DuplicatesAreNeighboursButNotThePointItself) {
    Matrix<double> points(3, 2);
    points << 1, 1, 1, 1, 5, 5;
    const Neighbors found = nearest_neighbors(points, 1, coterie::Run(0, 1));
    EXPECT_EQ(found.indices, (std::vector<std::int32_t>{1, 0, 0}));
    EXPECT_EQ(found.squared[0], 0.0);
}

TEST(Neighbors, OffsetsOutliersAndScales) {
    const Matrix<double> moved = normal_points<double>(600, 5, 7, 1e7);
    expect_exact(moved, moved, 6, true);
    const Matrix<float> moved_narrow = normal_points<float>(600, 5, 7, 1e4);
    expect_exact(moved_narrow, moved_narrow, 6, true);
    Matrix<float> outliers = normal_points<float>(1200, 6, 8);
    for (Index i = 0; i < 1200; i += 100) outliers.row(i) *= 1e7f;
    expect_exact(outliers, outliers, 4, true);
    for (const double scale : {1e-30, 1e30}) {
        const Matrix<float> scaled = (normal_points<double>(300, 4, 9) * scale).cast<float>();
        expect_exact(scaled, scaled, 3, true);
    }
    // Tight groups far apart: products lose the distances within a group, so they must be measured directly.
    Matrix<float> groups = normal_points<float>(900, 4, 10) * 1e-4f;
    for (Index i = 0; i < 900; ++i) groups.row(i).array() += static_cast<float>(10 * (i % 3));
    expect_exact(groups, groups, 5, true);
}

TEST(Neighbors, FewQueriesAgainstManyPoints) {
    const Matrix<float> points = normal_points<float>(40'000, 6, 11);
    const Matrix<float> queries = normal_points<float>(5, 6, 12);
    expect_exact(points, queries, 9, false);
    const Neighbors one = nearest_neighbors(points, queries, 9, coterie::Run(0, 1));
    EXPECT_EQ(nearest_neighbors(points, queries, 9, coterie::Run(0, 8)).indices, one.indices);
    EXPECT_TRUE(nearest_neighbors(points, Matrix<float>(0, 6), 3, coterie::Run(0, 2)).indices.empty());
}

TEST(Neighbors, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = normal_points<float>(3000, 30, 13);
    const Neighbors one = nearest_neighbors(points, 10, coterie::Run(0, 1));
    for (const int threads : {2, 8}) {
        const Neighbors found = nearest_neighbors(points, 10, coterie::Run(0, threads));
        EXPECT_EQ(found.indices, one.indices);
        EXPECT_EQ(found.squared, one.squared);
    }
}

TEST(Neighbors, BadArguments) {
    const Matrix<double> points = normal_points<double>(5, 2, 1);
    const coterie::Run run(0, 1);
    EXPECT_THROW(nearest_neighbors(points, 0, run), BadArgument);
    EXPECT_THROW(nearest_neighbors(points, 5, run), BadArgument);
    EXPECT_THROW(nearest_neighbors(points, points, 6, run), BadArgument);
    EXPECT_THROW(nearest_neighbors(points, normal_points<double>(5, 3, 1), 1, run), BadArgument);
    EXPECT_THROW(nearest_neighbors(Matrix<double>(0, 2), points, 1, run), BadArgument);
    Matrix<double> bad = points;
    bad(1, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(nearest_neighbors(bad, 1, run), BadArgument);
    EXPECT_THROW(nearest_neighbors(points, bad, 1, run), BadArgument);
    coterie::Run stopped(0, 1);
    stopped.should_stop = [] { return true; };
    EXPECT_THROW(nearest_neighbors(points, 1, stopped), Cancelled);
}

}  // namespace
}  // namespace coterie
