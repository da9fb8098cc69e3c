#pragma once
// The largest eigenvalues of a sparse symmetric matrix M, by block Lanczos with thick restarts (Wu and Simon 2000; Zhou
// and Saad 2008).
// A basis B with p columns grows by one block Q at a time: the part of M Q that is orthogonal to B. Its Ritz pairs, the
// eigenpairs of B'MB, converge to those of M from the ends. A full B is reduced to the best Ritz vectors.
// Every block is made orthogonal to all of B twice, so that no eigenvalue that was found appears again as a ghost. This
// is the expensive part. Therefore, the first times that B is full, the search restarts from the best Ritz vectors with
// p(M) instead of M. The Chebyshev polynomial p is small up to a cutoff below the required eigenvalues and grows beyond
// it, so the search needs fewer blocks but more products with M.
// A block contains at most as many directions of an eigenspace as it has columns. So the pairs found are put aside, and
// a new random block searches for eigenvalues above the smallest of them (to 1e-6), until there are none. Thus no copy
// of an eigenvalue is missed.

#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie::spectral::internal {

using namespace coterie::internal;

struct SparseEigenPairs {
    Vector<double> values;    // descending
    Matrix<double> vectors;   // n x count, orthonormal columns; their signs are arbitrary
    double residual = 0;      // largest measured || M v - lambda v ||
    std::int64_t blocks = 0;  // products of M with a block of sparse_eigen_block columns
    bool converged = false;   // whether every residual met the tolerance; after 60 restarts, 1000 times the tolerance
    int filter_degree = 1;    // degree of p at the end; 1: M itself
};

/// Columns of a block.
inline constexpr Index sparse_eigen_block = 4;

/// The `count` largest eigenvalues of symmetric `m` (n x n). The norm of m must be at most 1: p requires it, and
/// `tolerance` and rounding are absolute. `known`: an eigenvector of unit length to exclude, or empty.
/// Sizes: count + 2 blocks (and the known vector) must fit into n; the search for further copies needs 3 more blocks.
/// If the search has not converged after 300 restarts, the result is marked as not converged.
/// Time per block: 4 times the non-zeros times the degree of p, and 16 n times the columns of B (at most 2 count + 40).
/// Memory: n numbers per column and a copy of the matrix. The bits are the same for any number of threads.
/// Throws BadArgument (more than 2147483647 rows), ResourceError, Cancelled.
SparseEigenPairs largest_symmetric_eigen(const SparseMatrix& m, Index count, double tolerance,
                                         const Vector<double>& known, const Run& run);

}  // namespace coterie::spectral::internal
