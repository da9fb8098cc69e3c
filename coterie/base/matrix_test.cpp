// Matrices that own their memory behave like Eigen's own matrices.

#include "coterie/base/matrix.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "coterie/base/points.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {
namespace {

TEST(Matrix, CopiesMovesAndSwaps) {
    Matrix<double> a{{1, 2}, {3, 4}};
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
    const double* const numbers = a.data();
    Matrix<double> b = a;
    EXPECT_NE(b.data(), numbers);
    EXPECT_EQ(b, a);
    Matrix<double> c = std::move(a);
    EXPECT_EQ(c.data(), numbers);
    EXPECT_EQ(a.size(), 0);  // NOLINT: checks the state after a move
    b(0, 0) = 9;
    swap(b, c);
    EXPECT_EQ(b.data(), numbers);
    EXPECT_EQ(c(0, 0), 9);
    b = b;  // NOLINT
    EXPECT_EQ(b.data(), numbers);
    a = std::move(b);
    EXPECT_EQ(a.data(), numbers);
    std::vector<Matrix<float>> many;
    for (int i = 0; i < 20; ++i) many.push_back(Matrix<float>::Constant(i, 3, static_cast<float>(i)));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(many[internal::at(i)].sum(), static_cast<float>(3 * i * i));
}

TEST(Matrix, AssignsExpressionsOfOtherShapes) {
    Matrix<double> a = Matrix<double>::Identity(3, 3);
    a = a.topRows(2).eval();
    EXPECT_EQ(a.rows(), 2);
    a = (a * a.transpose()).eval();
    EXPECT_EQ(a, (Matrix<double>::Identity(2, 2)));
    // The source of an assignment may be the matrix itself, in another shape.
    Matrix<double> b{{1, 2, 3}, {4, 5, 6}};
    b = b.transpose();
    EXPECT_EQ(b, (Matrix<double>{{1, 4}, {2, 5}, {3, 6}}));
    b = b.bottomRows(1);
    EXPECT_EQ(b, (Matrix<double>{{3, 6}}));
    b = b * Matrix<double>{{1, 0}, {0, 2}};
    EXPECT_EQ(b, (Matrix<double>{{3, 12}}));
    const Vector<double> row = b.row(0);  // a row becomes a column
    EXPECT_EQ(row.size(), 2);
    const eigen::Matrix<double> eigens = b;
    EXPECT_EQ(Matrix<double>(eigens), b);
    EXPECT_EQ((Matrix<float>(b.cast<float>())(0, 1)), 12.0F);
    const SparseMatrix sparse = b.sparseView();
    EXPECT_EQ(Matrix<double>(sparse), b);
}

TEST(Matrix, ResizesLikeEigen) {
    Matrix<double> a{{1, 2}, {3, 4}};
    a.conservativeResize(3, 1);
    EXPECT_EQ(a(0, 0), 1);
    EXPECT_EQ(a(1, 0), 3);
    const double* const numbers = a.data();
    a.resize(1, 3);  // the same count of numbers: the same memory
    EXPECT_EQ(a.data(), numbers);
    a.setZero(4, 5);
    EXPECT_EQ(a.rows(), 4);
    EXPECT_EQ(a.sum(), 0);
    Vector<float> v(7);
    v.setConstant(2, 3.0F);
    EXPECT_EQ(v.sum(), 6);
    v.resize(0);
    EXPECT_EQ(v.size(), 0);
    EXPECT_EQ((Matrix<double>(0, 5).cols()), 5);
    EXPECT_THROW(Matrix<double>(Index{1} << 40, Index{1} << 40), std::bad_alloc);
}

TEST(Matrix, PointsViewDoesNotCopyEigenMatrices) {
    const eigen::Matrix<float> mine = eigen::Matrix<float>::Ones(4, 2);
    EXPECT_EQ(PointsView(mine).data(), mine.data());
    EXPECT_EQ(PointsView(mine).scalar(), ScalarType::float32);
}

TEST(SparseMatrix, ConstructsCopiesMovesAndAssigns) {
    const SparseMatrix empty;
    EXPECT_EQ(empty.rows(), 0);
    SparseMatrix a(2, 3, {0, 2, 3}, {0, 2, 1}, {1, 2, 3});
    const Matrix<double> dense{{1, 0, 2}, {0, 3, 0}};
    EXPECT_EQ(Matrix<double>(a), dense);
    SparseMatrix b = a;
    EXPECT_NE(b.valuePtr(), a.valuePtr());
    const double* const values = a.valuePtr();
    SparseMatrix c = std::move(a);
    EXPECT_EQ(c.valuePtr(), values);
    EXPECT_EQ(a.nonZeros(), 0);  // NOLINT: checks the state after a move
    b = c.transpose();
    EXPECT_EQ(Matrix<double>(b), Matrix<double>(dense.transpose()));
    b = b;  // NOLINT
    EXPECT_EQ(b.nonZeros(), 3);
    const SparseMatrix none(2, 3);
    EXPECT_EQ(Matrix<double>(none), (Matrix<double>::Zero(2, 3)));
    const std::vector<std::vector<std::pair<Index, double>>> rows = {{{0, 1}, {2, 2}}, {{1, 3}}};
    EXPECT_EQ(Matrix<double>(sparse_of_rows(rows, 3, [](double v) { return v; })), dense);
}

}  // namespace
}  // namespace coterie
