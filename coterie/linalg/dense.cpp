// A task computes its part of the result over the whole inner dimension on one thread. No sum is split, so the bits do
// not depend on the number of threads. Rows are made orthonormal by Gram-Schmidt, twice, because one pass leaves
// rounding errors if rows are nearly dependent.

#include "coterie/linalg/dense.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/linalg/products.hpp"

namespace coterie::internal {
namespace {
// The block of a result that one task computes.
constexpr Index kRows = 96;
constexpr Index kColumns = 384;

int threads_of(Index rows, Index columns, Index depth, int threads) {
    return threads_for(static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth), threads);
}
}  // namespace

Matrix<double> rows_by_rows(const Matrix<double>& a, const Matrix<double>& b, int threads, bool symmetric) {
    Matrix<double> c(a.rows(), b.rows());
    const RowBlocks blocks{a.rows(), kRows};
    for_each_block(blocks.count(), threads_of(a.rows(), b.rows(), a.cols(), threads), [&](Index task, int) {
        const Index block = blocks.count() - 1 - task;  // of a triangle, the longest rows first
        const Index begin = blocks.begin(block);
        const Index end = blocks.end(block);
        products().float64.rows_by_rows(a.data() + begin * a.cols(), end - begin, a.cols(), b.data(),
                                        symmetric ? end : b.rows(), b.cols(), a.cols(), c.data() + begin * c.cols(),
                                        c.cols());
    });
    if (symmetric) c = c.triangularView<Eigen::Lower>();
    return c;
}

void add_transposed_by(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads) {
    const RowBlocks rows{a.cols(), kRows};
    const RowBlocks columns{b.cols(), kColumns};
    for_each_block(
        rows.count() * columns.count(), threads_of(a.cols(), b.cols(), a.rows(), threads), [&](Index task, int) {
            const Index row = rows.begin(task / columns.count());
            const Index column = columns.begin(task % columns.count());
            products().float64.add_transposed_by(a.data() + row, rows.end(task / columns.count()) - row, a.cols(),
                                                 b.data() + column, columns.end(task % columns.count()) - column,
                                                 b.cols(), a.rows(), c.data() + row * c.cols() + column, c.cols());
        });
}

bool orthonormalize(Matrix<double>& rows, Index j, double least) {
    const double before = rows.row(j).norm();
    for (int pass = 0; pass < 2; ++pass)
        for (Index i = 0; i < j; ++i) rows.row(j) -= rows.row(j).dot(rows.row(i)) * rows.row(i);
    const double after = rows.row(j).norm();
    if (!(after > least * before)) return false;
    rows.row(j) /= after;
    return true;
}

void make_largest_positive(Matrix<double>& rows) {
    for (Index j = 0; j < rows.rows(); ++j) {
        Index largest = 0;
        for (Index p = 1; p < rows.cols(); ++p)
            if (std::abs(rows(j, p)) > std::abs(rows(j, largest))) largest = p;
        if (rows(j, largest) < 0.0) rows.row(j) = -rows.row(j);
    }
}

double norm_of(const double* x, Index count) {
    double largest = 0;
    for (Index i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
    if (!(largest > 0)) return 0;
    double sum = 0;
    for (Index i = 0; i < count; ++i) sum += (x[i] / largest) * (x[i] / largest);
    return largest * std::sqrt(sum);
}

}  // namespace coterie::internal
