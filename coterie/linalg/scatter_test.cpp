#include "coterie/linalg/scatter.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie {
namespace {
template <class Scalar>
Matrix<Scalar> random_points(Index n, Index d, std::uint64_t seed, double offset = 0.0) {
    RandomStream random(seed, "test.scatter");
    Matrix<Scalar> points(n, d);
    for (Index i = 0; i < n; ++i)
        for (Index p = 0; p < d; ++p)
            points(i, p) = static_cast<Scalar>(offset + random.normal() / (1.0 + 0.3 * static_cast<double>(p)));
    return points;
}

struct Naive {
    Vector<double> mean;
    Matrix<double> total;
    Matrix<double> within;
    Matrix<double> between;
};

// Reference in long double, directly from the definitions.
template <class Scalar>
Naive naive(const Matrix<Scalar>& points, const Labels& labels, int clusters, const std::vector<double>& weights) {
    using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Index n = points.rows();
    const Index d = points.cols();
    const Wide x = points.template cast<long double>();
    const auto w = [&](Index i) {
        return weights.empty() ? 1.0L : static_cast<long double>(weights[static_cast<std::size_t>(i)]);
    };
    Wide centroid = Wide::Zero(clusters + 1, d);
    std::vector<long double> weight(static_cast<std::size_t>(clusters) + 1, 0.0L);
    for (Index i = 0; i < n; ++i) {
        for (const Index j : {static_cast<Index>(labels[static_cast<std::size_t>(i)]), static_cast<Index>(clusters)}) {
            centroid.row(j) += w(i) * x.row(i);
            weight[static_cast<std::size_t>(j)] += w(i);
        }
    }
    for (Index j = 0; j <= clusters; ++j)
        if (weight[static_cast<std::size_t>(j)] > 0) centroid.row(j) /= weight[static_cast<std::size_t>(j)];
    Wide total = Wide::Zero(d, d);
    Wide within = Wide::Zero(d, d);
    for (Index i = 0; i < n; ++i) {
        const Wide a = x.row(i) - centroid.row(clusters);
        const Wide b = x.row(i) - centroid.row(labels[static_cast<std::size_t>(i)]);
        total += w(i) * a.transpose() * a;
        within += w(i) * b.transpose() * b;
    }
    const Wide between = total - within;
    return {centroid.row(clusters).transpose().cast<double>(), total.cast<double>(), within.cast<double>(),
            between.cast<double>()};
}

TEST(Scatter, ByHand) {
    Matrix<double> points(4, 2);
    points << 0, 0, 2, 0, 0, 4, 2, 4;
    const coterie::Run run(0, 1);
    Matrix<double> expected(2, 2);
    expected << 4, 0, 0, 16;
    EXPECT_EQ(total_scatter(points, run), expected);
    const ScatterPair pair = class_scatter(points, Labels{0, 0, 1, 1}, 2, run);
    expected << 4, 0, 0, 0;
    EXPECT_EQ(pair.within, expected);
    expected << 0, 0, 0, 16;
    EXPECT_EQ(pair.between, expected);
    EXPECT_EQ(column_moments(points, run).variance, (Vector<double>(2) << 1, 4).finished());
}

TEST(Scatter, AgreesWithTheDefinitions) {
    for (const Index n : {1, 2, 255, 256, 257, 3000}) {
        for (const Index d : {1, 7, 64, 260}) {
            if ((n > 300 && d > 7) || (d == 260 && n != 255)) continue;  // the long double reference is slow
            RandomStream random(static_cast<std::uint64_t>(n * d), "test.weights");
            Labels labels;
            std::vector<double> weights;
            for (Index i = 0; i < n; ++i) {
                labels.push_back(static_cast<std::int32_t>(random.below(5)));
                weights.push_back(random.below(4) == 0 && i > 0 ? 0.0 : random.uniform() + 0.1);
            }
            const coterie::Run run(0, 2);
            for (const bool weighted : {false, true}) {
                const std::vector<double> w = weighted ? weights : std::vector<double>{};
                for (const double offset : {0.0, 1e3}) {
                    const Matrix<double> points = random_points<double>(n, d, 3, offset);
                    const Naive expected = naive(points, labels, 7, w);
                    const double scale = 1e-12 * (1.0 + expected.total.norm());
                    EXPECT_LE((mean(points, run, w) - expected.mean).norm(), 1e-14 * (1 + expected.mean.norm()));
                    EXPECT_LE((total_scatter(points, run, w) - expected.total).norm(), scale);
                    const ScatterPair pair = class_scatter(points, labels, 7, run, w);
                    EXPECT_LE((pair.within - expected.within).norm(), scale);
                    EXPECT_LE((pair.between - expected.between).norm(), scale);
                    EXPECT_EQ(pair.within, pair.within.transpose());
                    const ColumnMoments moments = column_moments(points, run, w);
                    const double weight = weighted ? std::accumulate(w.begin(), w.end(), 0.0) : static_cast<double>(n);
                    EXPECT_LE((moments.variance * weight - expected.total.diagonal()).norm(), scale);
                }
                const Matrix<float> narrow = random_points<float>(n, d, 4, 5.0);
                const Naive expected = naive(narrow, labels, 7, w);
                EXPECT_LE((total_scatter(narrow, run, w) - expected.total).norm(),
                          1e-12 * (1.0 + expected.total.norm()));
            }
        }
    }
}

TEST(Scatter, LargeOffsetIsExact) {
    // Multiples of 1/2 near 2^40 are exact in double, so the scatter must be the same as without the offset.
    Matrix<double> points(1000, 3);
    RandomStream random(1, "test.offset");
    for (Index i = 0; i < points.size(); ++i) points.data()[i] = static_cast<double>(random.below(16)) * 0.5;
    const coterie::Run run(0, 2);
    const Matrix<double> plain = total_scatter(points, run);
    const Matrix<double> moved = total_scatter(Matrix<double>(points.array() + 0x1p40), run);
    EXPECT_LE((moved - plain).norm(), 1e-6 * plain.norm());
}

TEST(Scatter, ConstantColumnsHaveZeroVariance) {
    Matrix<float> points = random_points<float>(2000, 4, 5);
    points.col(2).setConstant(0.1f);
    std::vector<double> weights(2000, 0.3);
    for (const auto& w : {std::vector<double>{}, weights}) {
        const ColumnMoments moments = column_moments(points, coterie::Run(0, 2), w);
        EXPECT_EQ(moments.mean[2], static_cast<double>(0.1f));
        EXPECT_EQ(moments.variance[2], 0.0);
        EXPECT_EQ(total_scatter(points, coterie::Run(0, 2), w).row(2).norm(), 0.0);
    }
}

TEST(Scatter, WeightsActAsCopies) {
    const Matrix<double> points = random_points<double>(50, 4, 6);
    Matrix<double> copied(100, 4);
    copied << points, points;
    const std::vector<double> weights(50, 2.0);
    const coterie::Run run(0, 1);
    EXPECT_LE((total_scatter(points, run, weights) - total_scatter(copied, run)).norm(), 1e-12);
}

TEST(Scatter, SameBitsAtAnyNumberOfThreads) {
    for (const Index d : {5, 300, 700}) {
        const Matrix<float> points = random_points<float>(3000, d, 8, 10.0);
        Labels labels(3000);
        for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 6);
        const coterie::Run one(0, 1);
        const Matrix<double> total = total_scatter(points, one);
        const ScatterPair pair = class_scatter(points, labels, 6, one);
        const PrincipalAxes axes = principal_axes(points, 3, one);
        for (const int threads : {2, 8}) {
            const coterie::Run run(0, threads);
            EXPECT_EQ(total_scatter(points, run), total);
            EXPECT_EQ(class_scatter(points, labels, 6, run).within, pair.within);
            EXPECT_EQ(class_scatter(points, labels, 6, run).between, pair.between);
            EXPECT_EQ(principal_axes(points, 3, run).axes, axes.axes);
            EXPECT_EQ(project(points, axes, run), project(points, axes, one));
            EXPECT_EQ(column_moments(points, run).variance, column_moments(points, one).variance);
        }
    }
}

TEST(Scatter, AcceptsStridedRows) {
    const Matrix<double> wide = random_points<double>(100, 10, 9);
    const PointsView part(wide.data() + 3, 100, 4, 10);
    const Matrix<double> copy = wide.middleCols(3, 4);
    EXPECT_EQ(total_scatter(part, coterie::Run(0, 1)), total_scatter(copy, coterie::Run(0, 1)));
}

TEST(Scatter, BadArguments) {
    const Matrix<double> points = random_points<double>(3, 2, 1);
    const coterie::Run run(0, 1);
    EXPECT_THROW(mean(Matrix<double>(0, 2), run), BadArgument);
    EXPECT_THROW(mean(points, run, std::vector<double>{1, 1}), BadArgument);
    EXPECT_THROW(mean(points, run, std::vector<double>{0, 0, 0}), BadArgument);
    EXPECT_THROW(mean(points, run, std::vector<double>{1, -1, 1}), BadArgument);
    EXPECT_THROW(mean(points, run, std::vector<double>{1, NAN, 1}), BadArgument);
    EXPECT_THROW(class_scatter(points, Labels{0, 1}, 2, run), BadArgument);
    EXPECT_THROW(class_scatter(points, Labels{0, 1, 2}, 2, run), BadArgument);
    EXPECT_THROW(class_scatter(points, Labels{0, 1, -1}, 2, run), BadArgument);
    EXPECT_THROW(class_scatter(points, Labels{0, 0, 0}, 0, run), BadArgument);
    EXPECT_THROW(principal_axes(points, 0, run), BadArgument);
    EXPECT_THROW(principal_axes(points, 3, run), BadArgument);
    EXPECT_THROW(project(random_points<double>(3, 4, 1), principal_axes(points, 1, run), run), BadArgument);
    Matrix<double> infinite = points;
    infinite(1, 1) = std::numeric_limits<double>::infinity();
    EXPECT_THROW(total_scatter(infinite, run), BadArgument);
}

void expect_axes(const Matrix<double>& points, const PrincipalAxes& axes, Index count) {
    const Index n = points.rows();
    ASSERT_EQ(axes.axes.rows(), count);
    EXPECT_LE((axes.axes * axes.axes.transpose() - Matrix<double>::Identity(count, count)).cwiseAbs().maxCoeff(),
              1e-12);
    const Matrix<double> centered = points.rowwise() - axes.mean.transpose();
    const Matrix<double> covariance = centered.transpose() * centered / static_cast<double>(n);
    const Matrix<double> residual =
        covariance * axes.axes.transpose() - axes.axes.transpose() * axes.variances.asDiagonal();
    EXPECT_LE(residual.norm(), 1e-11 * covariance.norm());
    for (Index j = 0; j + 1 < count; ++j) EXPECT_GE(axes.variances[j], axes.variances[j + 1]);
    const Vector<double> all = symmetric_eigen(covariance).values.reverse();
    EXPECT_LE((all.head(count) - axes.variances).norm(), 1e-11 * all.norm());
    for (Index j = 0; j < count; ++j) {
        Index largest = 0;
        axes.axes.row(j).cwiseAbs().maxCoeff(&largest);
        EXPECT_GT(axes.axes(j, largest), 0.0);
    }
}

TEST(PrincipalAxes, ResidualsForTallAndWidePoints) {
    const coterie::Run run(0, 2);
    for (const auto& [n, d, count] : {std::tuple<Index, Index, int>{500, 20, 20},
                                      {20, 500, 15},
                                      {20, 21, 21},
                                      {3, 40, 10},
                                      {1, 5, 5},
                                      {300, 301, 10}}) {
        const Matrix<double> points = random_points<double>(n, d, static_cast<std::uint64_t>(n + d), 3.0);
        expect_axes(points, principal_axes(points, count, run), count);
    }
    const Matrix<double> equal = Matrix<double>::Constant(10, 30, 0.1);
    expect_axes(equal, principal_axes(equal, 4, run), 4);
}

TEST(PrincipalAxes, TooManyColumnsForACovariance) {
    Matrix<double> points = random_points<double>(4100, 4050, 2);
    const coterie::Run run(0, 2);
    for (Index i = 0; i < points.rows(); ++i)
        for (Index j = 0; j < 2; ++j) points(i, j) *= 20.0 - 5.0 * static_cast<double>(j);
    const PrincipalAxes axes = principal_axes(points, 2, run);
    const Matrix<double> centered = points.rowwise() - axes.mean.transpose();
    const Matrix<double> image = (axes.axes * centered.transpose()) * centered / static_cast<double>(points.rows());
    EXPECT_LE((image - axes.variances.asDiagonal() * axes.axes).norm(), 1e-9 * axes.variances[0]);
    EXPECT_NEAR(axes.axes(0, 0), 1.0, 0.01);
    EXPECT_EQ(principal_axes(points, 2, coterie::Run(0, 1)).axes, axes.axes);
}

TEST(PrincipalAxes, RepeatedVariancesInManyColumns) {
    // Rows 3 e_j and -3 e_j for the first five j, e_j and -e_j for the others. The variances are 18 / n, five times,
    // and 2 / n.
    const Index d = 4050;
    Matrix<float> points = Matrix<float>::Zero(2 * d, d);
    for (Index j = 0; j < d; ++j) {
        points(2 * j, j) = j < 5 ? 3.0F : 1.0F;
        points(2 * j + 1, j) = -points(2 * j, j);
    }
    const PrincipalAxes axes = principal_axes(points, 7, coterie::Run(0, 2));
    for (Index j = 0; j < 7; ++j) {
        EXPECT_NEAR(axes.variances[j] * static_cast<double>(2 * d), j < 5 ? 18.0 : 2.0, 1e-10) << j;
        EXPECT_NEAR(axes.axes.row(j).head(5).norm(), j < 5 ? 1.0 : 0.0, 1e-9) << j;
    }
    EXPECT_LE((axes.axes * axes.axes.transpose() - Matrix<double>::Identity(7, 7)).cwiseAbs().maxCoeff(), 1e-12);
    // Points without any variance have axes too.
    const Matrix<float> equal = Matrix<float>::Constant(4001, 4001, 0.5F);
    const PrincipalAxes none = principal_axes(equal, 2, coterie::Run(0, 2));
    EXPECT_EQ(none.variances.norm(), 0.0);
    EXPECT_NEAR(none.axes.norm(), std::sqrt(2.0), 1e-12);
}

TEST(PrincipalAxes, ProjectionHasTheVariances) {
    const Matrix<float> points = random_points<float>(1000, 12, 14, 100.0);
    const coterie::Run run(0, 2);
    const PrincipalAxes axes = principal_axes(points, 5, run);
    const Matrix<double> projected = project(points, axes, run);
    const ColumnMoments moments = column_moments(projected, run);
    EXPECT_LE(moments.mean.norm(), 1e-12);
    EXPECT_LE((moments.variance - axes.variances).norm(), 1e-12 * axes.variances.norm());
}

}  // namespace
}  // namespace coterie
