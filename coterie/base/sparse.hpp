#pragma once
// Sparse matrices: graphs of affinities, sparse representations.

#include <vector>

#include <Eigen/SparseCore>

#include "coterie/base/points.hpp"

namespace coterie {

/// Compressed rows; in each row the column numbers ascend.
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;

/// Fills a matrix of as many rows: each has a list of pairs, (column, what value_of makes an entry of), columns
/// ascending.
template <class Row, class ValueOf>
void fill_rows(SparseMatrix& matrix, const std::vector<Row>& rows, ValueOf&& value_of) {
    Index entries = 0;
    for (const Row& row : rows) entries += static_cast<Index>(row.size());
    matrix.resizeNonZeros(entries);
    Index entry = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        matrix.outerIndexPtr()[i] = entry;
        for (const auto& [column, what] : rows[i]) {
            matrix.innerIndexPtr()[entry] = column;
            matrix.valuePtr()[entry++] = value_of(what);
        }
    }
    matrix.outerIndexPtr()[rows.size()] = entry;
}

}  // namespace coterie
