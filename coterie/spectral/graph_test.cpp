#include "coterie/spectral/graph.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::message_of;

// Affinities from all distances, by definition.
Matrix<double> plain_graph(const Matrix<double>& x, const NeighborGraphOptions& options) {
    const Index n = x.rows();
    const auto k = static_cast<std::size_t>(options.neighbors);
    std::vector<std::vector<std::pair<double, Index>>> near(static_cast<std::size_t>(n));
    std::vector<double> scale, last;
    for (Index i = 0; i < n; ++i) {
        auto& own = near[static_cast<std::size_t>(i)];
        for (Index j = 0; j < n; ++j)
            if (j != i) own.emplace_back((x.row(i) - x.row(j)).norm(), j);
        std::sort(own.begin(), own.end());
        own.resize(k);
        scale.push_back(own[std::min<std::size_t>(7, k) - 1].first);
        last.push_back(own.back().first);
    }
    std::sort(last.begin(), last.end());
    const double width = options.width.value_or(last[static_cast<std::size_t>(n / 2)]);
    Matrix<double> w = Matrix<double>::Zero(n, n);
    for (Index i = 0; i < n; ++i)
        for (const auto& [distance, j] : near[static_cast<std::size_t>(i)])
            w(i, j) = options.edge_weights == EdgeWeights::connectivity ? 1
                      : options.edge_weights == EdgeWeights::gaussian
                          ? std::exp(-distance * distance / (2 * width * width))
                          : std::exp(-distance * distance /
                                     (scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)]));
    if (options.symmetry == Symmetry::mean) return 0.5 * (w + w.transpose());
    if (options.symmetry == Symmetry::maximum) return w.cwiseMax(w.transpose());
    return w.cwiseMin(w.transpose());
}

TEST(NeighborGraph, AgreesWithTheDefinition) {
    const Matrix<double> x = test::blob_points<double>(90, 4, 3, 2, 1);
    for (const auto edge_weights : {EdgeWeights::connectivity, EdgeWeights::gaussian, EdgeWeights::self_tuning})
        for (const auto symmetry : {Symmetry::mean, Symmetry::maximum, Symmetry::mutual})
            for (const Index neighbors : {1, 5, 12, 89})
                for (const std::optional<double> width : {std::optional<double>(), std::optional(0.7)}) {
                    const NeighborGraphOptions options{neighbors, edge_weights, symmetry, width};
                    const SparseMatrix found = neighbor_graph(x, options, coterie::Run(0, 2)).affinity;
                    const Matrix<double> expected = plain_graph(x, options);
                    EXPECT_LT((Matrix<double>(found) - expected).cwiseAbs().maxCoeff(), 1e-13);
                    EXPECT_EQ(Matrix<double>(found), Matrix<double>(SparseMatrix(found.transpose())));
                    EXPECT_EQ(found.nonZeros(), (expected.array() > 0).count());
                }
}

TEST(NeighborGraph, ByHand) {
    Matrix<float> x(4, 1);
    x << 0, 1, 3, 7;
    const SparseMatrix mean = neighbor_graph(x, {.neighbors = 1}, coterie::Run(0, 1)).affinity;
    Matrix<double> expected(4, 4);
    expected << 0, 1, 0, 0, 1, 0, 0.5, 0, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0;
    EXPECT_EQ(Matrix<double>(mean), expected);
    const SparseMatrix mutual =
        neighbor_graph(x, {.neighbors = 1, .symmetry = Symmetry::mutual}, coterie::Run(0, 1)).affinity;
    EXPECT_EQ(mutual.nonZeros(), 2);
    EXPECT_EQ(mutual.coeff(0, 1), 1);
}

TEST(NeighborGraph, AcceptsDuplicates) {
    Matrix<double> x = test::blob_points<double>(60, 3, 2, 3, 2);
    for (Index i = 1; i < 20; ++i) x.row(i) = x.row(0);
    for (const auto edge_weights : {EdgeWeights::gaussian, EdgeWeights::self_tuning}) {
        const NeighborGraph graph = neighbor_graph(x, {.neighbors = 8, .edge_weights = edge_weights}, coterie::Run());
        for (Index i = 0; i < 60; ++i)
            for (SparseMatrix::InnerIterator entry(graph.affinity, i); entry; ++entry) {
                EXPECT_GT(entry.value(), 0);
                EXPECT_LE(entry.value(), 1);
            }
        EXPECT_EQ(graph.affinity.coeff(0, 1), 1);
    }
    const Matrix<double> equal = Matrix<double>::Constant(30, 2, 4);
    for (const auto edge_weights : {EdgeWeights::gaussian, EdgeWeights::self_tuning}) {
        const NeighborGraph graph =
            neighbor_graph(equal, {.neighbors = 3, .edge_weights = edge_weights}, coterie::Run());
        EXPECT_EQ(graph.affinity.coeff(0, 1), 1);
    }
}

TEST(NeighborGraph, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> x = test::blob_points<float>(1500, 9, 5, 2, 3);
    const NeighborGraphOptions options{.neighbors = 10, .edge_weights = EdgeWeights::self_tuning};
    const Matrix<double> one = Matrix<double>(neighbor_graph(x, options, coterie::Run(0, 1)).affinity);
    for (const int threads : {2, 8})
        EXPECT_EQ(Matrix<double>(neighbor_graph(x, options, coterie::Run(0, threads)).affinity), one);
}

TEST(RbfAffinity, IsTheKernelWithoutItsDiagonal) {
    const Matrix<float> x = test::blob_points<float>(70, 5, 3, 2, 4, 100);
    const Matrix<double> found = Matrix<double>(rbf_affinity(x, 1.5, coterie::Run(0, 2)));
    const Matrix<double> wide = x.cast<double>();
    for (Index i = 0; i < 70; ++i)
        for (Index j = 0; j < 70; ++j)
            EXPECT_NEAR(found(i, j), i == j ? 0 : std::exp(-(wide.row(i) - wide.row(j)).squaredNorm() / 4.5), 1e-10);
    EXPECT_EQ(found, Matrix<double>(found.transpose()));
    // Entries that underflow are omitted.
    EXPECT_EQ(rbf_affinity(x, 1e-3, coterie::Run(0, 2)).nonZeros(), 0);
}

TEST(Graph, RejectsBadArguments) {
    const Matrix<double> x = test::blob_points<double>(10, 2, 2, 2, 5);
    const auto message = [&](NeighborGraphOptions options) {
        return message_of([&] { neighbor_graph(x, options, coterie::Run()); });
    };
    EXPECT_NE(message({.neighbors = 0}).find("0 neighbours requested, but there are 10 rows. Use 1 to 9"),
              std::string::npos);
    EXPECT_NE(message({.neighbors = 10}).find("10 neighbours requested, but there are 10 rows. Use 1 to 9"),
              std::string::npos);
    EXPECT_NE(message({.neighbors = 3, .width = -1}).find("width: -1"), std::string::npos);
    EXPECT_NE(message({.neighbors = 3, .width = std::nan("")}).find("width"), std::string::npos);
    for (const double width : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THROW(rbf_affinity(x, width, coterie::Run()), BadArgument);
    // Ten million points: the pairs are an error before anything is allocated; all points share the memory of one row.
    const std::vector<float> row(4, 1);
    const PointsView million(Rows<float>{row.data(), 10'000'000, 4, 0});
    EXPECT_THROW(rbf_affinity(million, 1, coterie::Run()), ResourceError);
}

}  // namespace
}  // namespace coterie
