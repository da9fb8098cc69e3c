#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "coterie/metrics/criteria.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

TEST(NormalizedCut, HandComputed) {
    // 0 - 1 - 2 - 3 - 4 on a line, each with its nearest neighbour: A has 0>1, 1>0, 2>1, 3>4, 4>3.
    Neighbors graph;
    graph.count = 1;
    graph.indices = {1, 0, 1, 4, 3};
    // W: 01 weighs 1, 12 weighs 1/2, 34 weighs 1; degrees 1, 3/2, 1/2, 1, 1.
    EXPECT_EQ(normalized_cut(graph, Labels{0, 0, 0, 1, 1}), 0.0);
    EXPECT_DOUBLE_EQ(normalized_cut(graph, Labels{0, 0, 1, 1, 1}), 0.5 / 2.5 + 0.5 / 2.5);
    EXPECT_DOUBLE_EQ(normalized_cut(graph, Labels{9, 9, 5, -1, -1}), 0.5 / 2.5 + 0.5 / 0.5);
    EXPECT_DOUBLE_EQ(normalized_cut(graph, Labels{0, 1, 2, 3, 4}), 5.0);
    EXPECT_THROW(normalized_cut(graph, Labels{1, 1, 1, 1, 1}), BadArgument);
    EXPECT_THROW(normalized_cut(graph, Labels{0, 1}), BadArgument);
    EXPECT_THROW(normalized_cut({}, Labels{0, 1}), BadArgument);
}

TEST(ScatterRatio, HandComputed) {
    Matrix<double> x(4, 1);
    x << 0, 2, 10, 12;
    const coterie::Run run;
    // Within: 1 + 1 + 1 + 1; about the mean 6: 36 + 16 + 16 + 36.
    EXPECT_DOUBLE_EQ(scatter_ratio(x, Labels{0, 0, 1, 1}, run), 4.0 / 104.0);
    EXPECT_DOUBLE_EQ(scatter_ratio(x, Labels{7, 7, 7, 7}, run), 1.0);
    EXPECT_DOUBLE_EQ(scatter_ratio(x, Labels{0, 1, 2, 3}, run), 0.0);
    const Matrix<float> moved = (x.array() + 1000.0).matrix().cast<float>();
    EXPECT_DOUBLE_EQ(scatter_ratio(moved, Labels{0, 0, 1, 1}, run), 4.0 / 104.0);
    EXPECT_TRUE(std::isnan(scatter_ratio(Matrix<double>(Matrix<double>::Ones(3, 2)), Labels{0, 1, 1}, run)));
    EXPECT_THROW(scatter_ratio(x, Labels{0, 1}, run), BadArgument);
}

TEST(PartitionCriteria, HandComputed) {
    Matrix<double> x(4, 1);
    x << 0, 2, 10, 12;
    const coterie::Run run;
    const Labels two = {0, 0, 1, 1};
    // Between: 4 points 5 from the mean 6; within 4; k - 1 = 1, n - k = 2.
    EXPECT_DOUBLE_EQ(calinski_harabasz(x, two, run), 100.0 / (4.0 / 2.0));
    // Both clusters: mean distance 1, means 10 apart.
    EXPECT_DOUBLE_EQ(davies_bouldin(x, two, run), 0.2);
    // One cluster: n (ln(2 pi v) + 1) + 2 ln n with v = 26.
    EXPECT_DOUBLE_EQ(spherical_mixture_bic(x, Labels{3, 3, 3, 3}, run),
                     4 * (std::log(2 * std::numbers::pi * 26) + 1) + 2 * std::log(4.0));
    const Matrix<double> equal = Matrix<double>::Ones(4, 2);
    EXPECT_TRUE(std::isnan(calinski_harabasz(equal, two, run)));
    EXPECT_EQ(davies_bouldin(equal, two, run), 0.0);
    EXPECT_EQ(spherical_mixture_bic(equal, two, run), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isinf(davies_bouldin(x, Labels{0, 1, 1, 0}, run)));
    for (const auto criterion : {&calinski_harabasz, &davies_bouldin}) {
        EXPECT_THROW(criterion(x, Labels{0, 0, 0, 0}, run), BadArgument);
        EXPECT_THROW(criterion(x, Labels{0, 1, 2, 3}, run), BadArgument);
        EXPECT_THROW(criterion(x, Labels{0, 1}, run), BadArgument);
    }
    EXPECT_THROW(spherical_mixture_bic(x, Labels{0, 1}, run), BadArgument);
}

TEST(PartitionCriteria, SameAtAnyNumberOfThreadsAndForShiftedFloats) {
    const Matrix<double> x = test::blob_points<double>(3000, 5, 4, 6, 1);
    Labels labels;
    for (Index i = 0; i < x.rows(); ++i) labels.push_back(static_cast<std::int32_t>(i % 7));
    const Matrix<double> moved = x.array() + 4096.0;
    for (const auto criterion : {&calinski_harabasz, &davies_bouldin, &spherical_mixture_bic}) {
        const double once = criterion(x, labels, coterie::Run(0, 1));
        EXPECT_EQ(criterion(x, labels, coterie::Run(0, 2)), once);
        EXPECT_EQ(criterion(x, labels, coterie::Run(0, 8)), once);
        EXPECT_NEAR(criterion(moved, labels, coterie::Run()), once, 1e-9 * std::abs(once));
    }
}

TEST(PredictionStrength, HandComputed) {
    // Cluster 0 has the pairs of {0, 1, 2}, of which only 01 keep a common label: 2 of 6 ordered pairs. Cluster 1 keeps
    // its one pair.
    EXPECT_DOUBLE_EQ(prediction_strength(Labels{0, 0, 0, 1, 1}, Labels{5, 5, 7, 7, 7}), 2.0 / 6.0);
    EXPECT_DOUBLE_EQ(prediction_strength(Labels{0, 0, 0, 1, 1}, Labels{3, 3, 3, 3, 3}), 1.0);
    EXPECT_DOUBLE_EQ(prediction_strength(Labels{0, 0, 0, 1, 2}, Labels{1, 1, 1, 2, 2}), 1.0);
    EXPECT_THROW(prediction_strength(Labels{0, 1}, Labels{0}), BadArgument);
}

}  // namespace
}  // namespace coterie
