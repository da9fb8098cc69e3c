#include "coterie/linalg/distances.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "coterie/linalg/panels.hpp"

namespace coterie {
namespace {

template <class T>
Matrix<T> random_matrix(Index rows, Index columns, double spread, double offset, std::uint64_t seed) {
    RandomStream random(seed, "test.matrix");
    Matrix<T> out(rows, columns);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) out(i, j) = static_cast<T>(offset + spread * random.normal());
    return out;
}

template <class T>
double squared(const Matrix<T>& x, Index i, const Matrix<T>& c, Index j) {
    double sum = 0;
    for (Index p = 0; p < x.cols(); ++p) {
        const double e = static_cast<double>(x(i, p)) - static_cast<double>(c(j, p));
        sum += e * e;
    }
    return sum;
}

template <class T>
class Kernel : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Kernel, Scalars);

// Every instruction set that this machine runs, with shapes around every boundary of tiles, panels and unrolled loops.
TYPED_TEST(Kernel, FindsBestAndSecondLikeBruteForce) {
    using T = TypeParam;
    std::size_t count = 0;
    const auto* sets = internal::instruction_sets(count);
    ASSERT_GE(count, 1u);
    const double tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-12;
    for (std::size_t s = 0; s < count; ++s) {
        SCOPED_TRACE(sets[s].name);
        const internal::Kernels<T>* table;
        if constexpr (std::is_same_v<T, float>)
            table = sets[s].float32;
        else
            table = sets[s].float64;
        for (const Index d : {1, 2, 3, 4, 5, 15, 16, 17, 64, 67})
            for (const Index k : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 70})
                for (const Index n : {1, 4, 5, 6, 11, 12, 13, 23, 24, 25, 53}) {
                    const auto x = random_matrix<T>(n, d, 1, 2, static_cast<std::uint64_t>(n * 1000 + d));
                    const auto c = random_matrix<T>(k, d, 1, 2, static_cast<std::uint64_t>(k * 77 + d));
                    const Rows<T> centroids{c.data(), k, d, d};
                    internal::CentroidPanels<T> panels(*table);
                    panels.pack(centroids, internal::CentroidPanels<T>::amid(centroids));
                    std::vector<const T*> rows;
                    for (Index i = 0; i < n; ++i) rows.push_back(x.row(i).data());
                    std::vector<T> best(rows.size()), second(rows.size());
                    std::vector<std::int32_t> column(rows.size());
                    for (const auto& panel : panels.panels()) {
                        panels.best(panel, rows.data(), n, best.data(), column.data(), second.data());
                        std::vector<T> scores(rows.size() * static_cast<std::size_t>(panels.width(panel)));
                        panels.scores(panel, rows.data(), n, scores.data());
                        for (Index i = 0; i < n; ++i) {
                            double norm = 0;
                            for (Index p = 0; p < d; ++p) {
                                const double e = static_cast<double>(x(i, p)) - static_cast<double>(panels.origin()[p]);
                                norm += e * e;
                            }
                            double least = INFINITY;
                            double next = INFINITY;
                            for (int j = 0; j < panel.centroids; ++j) {
                                const double value = squared(x, i, c, panel.first + j);
                                if (value < least) {
                                    next = least;
                                    least = value;
                                } else {
                                    next = std::min(next, value);
                                }
                                const double score =
                                    static_cast<double>(scores[static_cast<std::size_t>(i * panels.width(panel) + j)]);
                                ASSERT_NEAR(norm + 2 * score, value, tolerance * (1 + value));
                            }
                            const auto r = static_cast<std::size_t>(i);
                            ASSERT_NEAR(norm + 2 * static_cast<double>(best[r]), least, tolerance * (1 + least));
                            ASSERT_LT(column[r], panel.centroids);
                            ASSERT_NEAR(squared(x, i, c, panel.first + column[r]), least, tolerance * (1 + least));
                            if (panel.centroids > 1)
                                ASSERT_NEAR(norm + 2 * static_cast<double>(second[r]), next, tolerance * (1 + next));
                            else
                                ASSERT_EQ(second[r], std::numeric_limits<T>::infinity());
                        }
                    }
                    ASSERT_NEAR(static_cast<double>(table->squared_distance(x.row(0).data(), c.row(0).data(), d)),
                                squared(x, 0, c, 0), tolerance * (1 + squared(x, 0, c, 0)));
                    const Matrix<double> centers = c.template cast<double>();
                    const double exact = squared(x, 0, c, 0);
                    ASSERT_NEAR(table->squared_deviation(x.row(0).data(), centers.row(0).data(), d), exact,
                                1e-13 * (1 + exact));
                    std::vector<double> sum(static_cast<std::size_t>(d), 1.0),
                        squares(static_cast<std::size_t>(d), 2.0);
                    table->add_moments(sum.data(), squares.data(), x.row(0).data(), centers.row(0).data(), 3, d);
                    for (Index p = 0; p < d; ++p) {
                        const double deviation = static_cast<double>(x(0, p)) - centers(0, p);
                        const auto q = static_cast<std::size_t>(p);
                        ASSERT_NEAR(sum[q], 1 + 3 * deviation, 1e-15 * (1 + 3 * std::abs(deviation)));
                        ASSERT_NEAR(squares[q], 2 + 3 * deviation * deviation, 1e-15 * (2 + 3 * deviation * deviation));
                    }
                }
    }
}

TYPED_TEST(Kernel, ErrorBoundCoversTheRoundingErrors) {
    using T = TypeParam;
    for (const double offset : {0.0, 10.0, 1000.0})
        for (const Index d : {3, 64, 500}) {
            const auto x = random_matrix<T>(300, d, 1, offset, 5);
            const auto c = random_matrix<T>(40, d, 1, offset, 6);
            const Rows<T> centroids{c.data(), c.rows(), d, d};
            internal::CentroidPanels<T> panels;
            panels.pack(centroids, internal::CentroidPanels<T>::amid(centroids));
            const auto error = panels.error_bound(std::sqrt(static_cast<double>(d)));
            for (Index i = 0; i < x.rows(); ++i) {
                const T* row = x.row(i).data();
                const auto norm =
                    static_cast<double>(panels.kernels().squared_distance(row, panels.origin().data(), d));
                for (const auto& panel : panels.panels()) {
                    std::vector<T> scores(static_cast<std::size_t>(panels.width(panel)));
                    panels.scores(panel, &row, 1, scores.data());
                    for (int j = 0; j < panel.centroids; ++j)
                        ASSERT_LE(std::abs(norm + 2 * static_cast<double>(scores[static_cast<std::size_t>(j)]) -
                                           squared(x, i, c, panel.first + j)),
                                  error.constant + error.slope * norm);
                }
            }
        }
}

TYPED_TEST(Kernel, NearestCentroidsHasTheSameBitsAtAnyNumberOfThreads) {
    using T = TypeParam;
    const auto x = random_matrix<T>(5003, 19, 1, 0, 1);
    const auto c = random_matrix<T>(37, 19, 1, 0, 2);
    const Nearest one = nearest_centroids(x, c, 1, NearestWants::distances);
    for (const int threads : {2, 8}) {
        const Nearest many = nearest_centroids(x, c, threads, NearestWants::distances);
        EXPECT_EQ(one.labels, many.labels);
        EXPECT_EQ(one.squared, many.squared);
        EXPECT_EQ(one.inertia, many.inertia);
    }
    double sum = 0;
    for (Index i = 0; i < x.rows(); ++i) {
        double least = INFINITY;
        for (Index j = 0; j < c.rows(); ++j) least = std::min(least, squared(x, i, c, j));
        ASSERT_NEAR(one.squared[static_cast<std::size_t>(i)], least, 1e-4);
        sum += least;
    }
    EXPECT_NEAR(one.inertia, sum, 1e-5 * sum);
}

TYPED_TEST(Kernel, TiesGoToTheLowestCentroid) {
    using T = TypeParam;
    const auto base = random_matrix<T>(50, 7, 1, 0, 3);
    Matrix<T> c(150, 7);
    c << base, base, base;
    const auto x = random_matrix<T>(500, 7, 1, 0, 4);
    for (const auto label : nearest_centroids(x, c, 2).labels) EXPECT_LT(label, 50);
}

TYPED_TEST(Kernel, LabelDoesNotDependOnOtherRows) {
    using T = TypeParam;
    const auto x = random_matrix<T>(300, 33, 1, 0, 3);
    const auto c = random_matrix<T>(21, 33, 1, 0, 4);
    const Nearest all = nearest_centroids(x, c, 2, NearestWants::distances);
    for (Index i = 0; i < x.rows(); ++i) {
        const Nearest alone = nearest_centroids(PointsView(x.row(i).data(), 1, 33), c, 1, NearestWants::distances);
        ASSERT_EQ(alone.labels[0], all.labels[static_cast<std::size_t>(i)]);
        ASSERT_EQ(alone.squared[0], all.squared[static_cast<std::size_t>(i)]);
    }
}

TYPED_TEST(Kernel, StridedRowsAreReadInPlace) {
    using T = TypeParam;
    const auto wide = random_matrix<T>(100, 20, 1, 0, 3);
    const Matrix<T> narrow = wide.leftCols(9);
    const auto c = random_matrix<T>(5, 9, 1, 0, 4);
    EXPECT_EQ(nearest_centroids(PointsView(wide.data(), 100, 9, 20), c, 2).labels,
              nearest_centroids(narrow, c, 2).labels);
}

TEST(NearestCentroids, RejectsWrongTypesAndShapes) {
    const Matrix<float> x = Matrix<float>::Zero(3, 2);
    EXPECT_THROW(nearest_centroids(x, Matrix<double>(Matrix<double>::Zero(1, 2)), 1), BadArgument);
    EXPECT_THROW(nearest_centroids(x, Matrix<float>(Matrix<float>::Zero(1, 3)), 1), BadArgument);
    EXPECT_THROW(nearest_centroids(x, Matrix<float>(Matrix<float>::Zero(0, 2)), 1), BadArgument);
    EXPECT_TRUE(nearest_centroids(Matrix<float>(0, 2), x, 1).labels.empty());
}

}  // namespace
}  // namespace coterie
