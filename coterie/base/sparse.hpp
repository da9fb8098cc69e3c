#pragma once
// Sparse matrices, for affinity graphs and sparse representations. Like dense matrices (base/matrix.hpp), they are
// Eigen maps over memory that Eigen does not own.

#include <utility>
#include <vector>

#include <Eigen/SparseCore>

#include "coterie/base/matrix.hpp"

namespace coterie {

namespace eigen {
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;
}  // namespace eigen

/// Compressed rows of double; the column numbers of each row ascend. Built from an Eigen matrix (eigen::SparseMatrix,
/// which has insert and setFromTriplets) or from its three arrays.
class SparseMatrix : public Eigen::Map<eigen::SparseMatrix> {
    using Map = Eigen::Map<eigen::SparseMatrix>;

public:
    SparseMatrix() : SparseMatrix(0, 0) {}
    /// No entries.
    SparseMatrix(Index rows, Index columns)
        : SparseMatrix(rows, columns, std::vector<Index>(static_cast<std::size_t>(rows) + 1), {}, {}) {}
    /// Row i consists of entries starts[i] to starts[i + 1] - 1 of `columns_of` and `values`.
    SparseMatrix(Index rows, Index columns, std::vector<Index> starts, std::vector<Index> columns_of,
                 std::vector<double> values)
        : Map(rows, columns, static_cast<Index>(values.size()), nullptr, nullptr, nullptr),
          starts_(std::move(starts)),
          columns_(std::move(columns_of)),
          values_(std::move(values)) {
        map(rows, columns);
    }
    template <class Other>
    SparseMatrix(const Eigen::SparseMatrixBase<Other>& other)  // NOLINT: an expression becomes a matrix
        : SparseMatrix(compressed(eigen::SparseMatrix(other.derived()))) {}
    SparseMatrix(const SparseMatrix& other)
        : SparseMatrix(other.rows(), other.cols(), other.starts_, other.columns_, other.values_) {}
    SparseMatrix(SparseMatrix&& other) noexcept : SparseMatrix() { swap(other); }
    ~SparseMatrix() = default;
    SparseMatrix& operator=(SparseMatrix other) noexcept {
        swap(other);
        return *this;
    }
    void swap(SparseMatrix& other) noexcept {
        starts_.swap(other.starts_);
        columns_.swap(other.columns_);
        values_.swap(other.values_);
        const Index rows = this->rows();
        const Index columns = this->cols();
        map(other.rows(), other.cols());
        other.map(rows, columns);
    }

private:
    void map(Index rows, Index columns) {
        ::new (static_cast<Map*>(this))
            Map(rows, columns, static_cast<Index>(values_.size()), starts_.data(), columns_.data(), values_.data());
    }
    static SparseMatrix compressed(eigen::SparseMatrix from) {
        from.makeCompressed();
        const auto entries = from.nonZeros();
        return SparseMatrix(from.rows(), from.cols(),
                            std::vector<Index>(from.outerIndexPtr(), from.outerIndexPtr() + from.rows() + 1),
                            std::vector<Index>(from.innerIndexPtr(), from.innerIndexPtr() + entries),
                            std::vector<double>(from.valuePtr(), from.valuePtr() + entries));
    }

    std::vector<Index> starts_;
    std::vector<Index> columns_;
    std::vector<double> values_;
};

/// A matrix with `columns` columns and one row per item of `rows`. An item is a list of pairs (column, x), columns
/// ascending; the entry is value_of(x).
template <class Row, class ValueOf>
SparseMatrix sparse_of_rows(const std::vector<Row>& rows, Index columns, ValueOf&& value_of) {
    std::vector<Index> starts = {0};
    std::vector<Index> columns_of;
    std::vector<double> values;
    std::size_t entries = 0;
    for (const Row& row : rows) entries += row.size();
    starts.reserve(rows.size() + 1);
    columns_of.reserve(entries);
    values.reserve(entries);
    for (const Row& row : rows) {
        for (const auto& [column, what] : row) {
            columns_of.push_back(column);
            values.push_back(value_of(what));
        }
        starts.push_back(static_cast<Index>(values.size()));
    }
    return SparseMatrix(static_cast<Index>(rows.size()), columns, std::move(starts), std::move(columns_of),
                        std::move(values));
}

}  // namespace coterie
