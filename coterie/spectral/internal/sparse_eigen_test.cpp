#include "coterie/spectral/internal/sparse_eigen.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "coterie/linalg/eigen.hpp"
#include "coterie/spectral/internal/lanczos_kernels.hpp"

namespace coterie {
namespace {

// A path of n points with loops at both ends, over 2: cos(pi i / n), i < n, with vectors cos(pi i (j + 1/2) / n).
SparseMatrix path(Index n) {
    eigen::SparseMatrix out(n, n);
    for (Index i = 0; i < n; ++i) {
        if (i > 0) out.insert(i, i - 1) = 0.5;
        if (i == 0 || i + 1 == n) out.insert(i, i) = 0.5;
        if (i + 1 < n) out.insert(i, i + 1) = 0.5;
    }
    out.makeCompressed();
    return out;
}

// Blocks of ones of different sizes that hardly touch, scaled to norm at most 1 by the largest row sum.
SparseMatrix blocks(const std::vector<Index>& sizes, Index every) {
    Index n = 0;
    for (const Index size : sizes) n += size;
    eigen::SparseMatrix out(n, n);
    Index first = 0;
    for (const Index size : sizes) {
        for (Index i = first; i < first + size; ++i)
            for (Index j = first; j < first + size; ++j)
                if (i != j && (std::abs(i - j) % every) == 1) out.insert(i, j) = 1;
        if (first > 0) {
            out.insert(first, first - 1) = 0.1;
            out.insert(first - 1, first) = 0.1;
        }
        first += size;
    }
    const Vector<double> sums = out * Vector<double>::Ones(n);
    return out / sums.maxCoeff();
}

TEST(SparseEigen, FindsTheLargestEigenvaluesOfALongPath) {
    const Index n = 3000, count = 8;
    const spectral::internal::SparseEigenPairs found =
        spectral::internal::largest_symmetric_eigen(path(n), count, 1e-10, {}, coterie::Run(0, 2));
    EXPECT_TRUE(found.converged);
    EXPECT_GT(found.filter_degree, 1);  // eigenvalues are 5e-7 apart, which needs a filter
    EXPECT_LT(found.residual, 1e-9);
    for (Index i = 0; i < count; ++i) {
        const double angle = std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
        EXPECT_NEAR(found.values[i], std::cos(angle), 1e-13) << i;
        Vector<double> vector(n);
        for (Index j = 0; j < n; ++j) vector[j] = std::cos(angle * (static_cast<double>(j) + 0.5));
        vector.normalize();
        EXPECT_NEAR(std::abs(vector.dot(found.vectors.col(i))), 1, 1e-6) << i;
    }
    EXPECT_LT((found.vectors.transpose() * found.vectors - Matrix<double>::Identity(count, count)).norm(), 1e-11);
}

TEST(SparseEigen, AgreesWithTheDenseSolutionWithAndWithoutAKnownVector) {
    for (const Index every : {3, 11}) {
        const SparseMatrix m = blocks({90, 150, 210, 120, 260, 70}, every);
        const EigenPairs dense = symmetric_eigen(Matrix<double>(m));
        const Index n = m.rows();
        for (const Index count : {1, 7, 40}) {
            const spectral::internal::SparseEigenPairs found =
                spectral::internal::largest_symmetric_eigen(m, count, 1e-11, {}, coterie::Run(1, 2));
            EXPECT_TRUE(found.converged);
            EXPECT_LT(found.residual, 1e-10);
            for (Index i = 0; i < count; ++i) EXPECT_NEAR(found.values[i], dense.values[n - 1 - i], 1e-12) << i;
            const spectral::internal::SparseEigenPairs rest = spectral::internal::largest_symmetric_eigen(
                m, count, 1e-11, dense.vectors.col(n - 1), coterie::Run(1, 2));
            for (Index i = 0; i < count; ++i) EXPECT_NEAR(rest.values[i], dense.values[n - 2 - i], 1e-12) << i;
        }
    }
}

TEST(SparseEigen, SameBitsAtAnyNumberOfThreads) {
    const spectral::internal::SparseEigenPairs one =
        spectral::internal::largest_symmetric_eigen(path(3000), 5, 1e-10, {}, coterie::Run(3, 1));
    const spectral::internal::SparseEigenPairs three =
        spectral::internal::largest_symmetric_eigen(path(3000), 5, 1e-10, {}, coterie::Run(3, 3));
    EXPECT_EQ(one.values, three.values);
    EXPECT_EQ(one.vectors, three.vectors);
    EXPECT_EQ(one.blocks, three.blocks);
}

TEST(LanczosKernels, AgreeWithPlainLoops) {
    const spectral::internal::LanczosKernels& kernels = spectral::internal::lanczos_kernels();
    for (const Index rows : {1, 2, 3, 7, 64})
        for (const Index columns : {8, 16, 40}) {
            const Index stride = columns + 8;
            const Matrix<double> basis = Matrix<double>::Random(rows, stride);
            const Matrix<double> right = Matrix<double>::Random(rows, 4);
            Matrix<double> seen = Matrix<double>::Ones(4, columns);
            kernels.add_seen(basis.data(), stride, columns, right.data(), rows, seen.data());
            const Matrix<double> expected =
                Matrix<double>::Ones(4, columns) + right.transpose() * basis.leftCols(columns);
            EXPECT_LT((seen - expected).norm(), 1e-12);
            Matrix<double> rest = right;
            kernels.take_off(basis.data(), stride, columns, seen.data(), rows, rest.data());
            EXPECT_LT((rest - (right - basis.leftCols(columns) * seen.transpose())).norm(), 1e-11);
            Matrix<double> gram = Matrix<double>::Ones(4, 4);
            kernels.add_gram(right.data(), rows, gram.data());
            EXPECT_LT((gram - (Matrix<double>::Ones(4, 4) + right.transpose() * right)).norm(), 1e-12);
        }
    // Rows with no entry, one, an odd and an even number of entries.
    Matrix<double> dense = Matrix<double>::Zero(5, 5);
    dense.row(1)[3] = 2;
    dense.row(2) << 1, 0, -2, 0.5, 0;
    dense.row(4) << 1, 2, 3, 4, 5;
    const SparseMatrix sparse = dense.sparseView();
    const std::vector<std::int64_t> starts(sparse.outerIndexPtr(), sparse.outerIndexPtr() + 6);
    const std::vector<std::int32_t> columns(sparse.innerIndexPtr(), sparse.innerIndexPtr() + sparse.nonZeros());
    const Matrix<double> x = Matrix<double>::Random(5, 4), before = Matrix<double>::Random(5, 4);
    Matrix<double> to = before;
    kernels.multiply(starts.data(), columns.data(), sparse.valuePtr(), 1, 5, x.data(), 3, 0.25, -1, to.data());
    Matrix<double> expected = 3 * (dense * x - 0.25 * x) - before;
    expected.row(0) = before.row(0);
    EXPECT_LT((to - expected).norm(), 1e-14);
}

}  // namespace
}  // namespace coterie
