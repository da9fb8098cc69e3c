#include <cmath>

#include <gtest/gtest.h>

#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {

TEST(NormalizedCut, HandComputed) {
    // 0 - 1 - 2 - 3 - 4 on a line, each pointing at its nearest neighbour: A has 0>1, 1>0, 2>1, 3>4, 4>3.
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

}  // namespace
}  // namespace coterie
