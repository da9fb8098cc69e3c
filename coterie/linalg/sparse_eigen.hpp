#pragma once
// The largest eigenvalues of a sparse symmetric matrix, by block Lanczos with thick restarts (Wu and Simon 2000; Zhou
// and Saad 2008): a basis B, p columns, grows a block Q at a time by what M Q has that B has not; its Ritz pairs, the
// eigenpairs of B'MB, converge to those of M from the ends; when B is full it is cut down to the best of them. Every
// block is made orthogonal to all of B twice, so that no eigenvalue comes as a ghost of one that was found. One block
// holds no more directions of an eigenspace than it has columns; so what was found is put aside and a new random block
// is asked for anything above the last of it (to 1e-6), until there is nothing: no copy of an eigenvalue is missed.

#include "coterie/base/run.hpp"
#include "coterie/linalg/sparse.hpp"

namespace coterie {

struct SparseEigenPairs {
    Vector<double> values;    // descending
    Matrix<double> vectors;   // n x count, orthonormal columns; their signs are as they come
    double residual = 0;      // largest || M v - lambda v ||, measured
    std::int64_t blocks = 0;  // products of M with a block of sparse_eigen_block columns
    bool converged = false;   // whether every residual met the tolerance, after 60 restarts 1000 times it
};

/// Columns of a block.
inline constexpr Index sparse_eigen_block = 4;

/// The `count` largest eigenvalues of symmetric `m` (n x n, norm about 1: `tolerance` and rounding are absolute). One
/// eigenvector may be known beforehand (unit length; empty: none): it is left out. count + 2 blocks (and the one known)
/// at most n; for copies beyond a block to be looked for, 3 blocks more. Not having converged after 300 restarts is a
/// result. Cost: of a block 4 x the non-zeros and 16 n p for p <= 2 count + 60 columns; memory n p numbers and a copy
/// of the matrix. The same bits at any number of threads. BadArgument (sizes), ResourceError, Cancelled.
SparseEigenPairs largest_symmetric_eigen(const SparseMatrix& m, Index count, double tolerance,
                                         const Vector<double>& known, const Run& run);

}  // namespace coterie
