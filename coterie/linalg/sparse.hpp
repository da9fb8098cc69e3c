#pragma once
// Sparse matrices: graphs of affinities, sparse representations.

#include <Eigen/SparseCore>

#include "coterie/base/points.hpp"

namespace coterie {

/// Compressed rows; in each row the column numbers ascend.
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;

}  // namespace coterie
