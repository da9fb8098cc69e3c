#pragma once
// The largest eigenvalues of a sparse symmetric matrix, by block Lanczos with thick restarts (Wu and Simon 2000; Zhou
// and Saad 2008): a basis B, p columns, grows a block Q at a time by what M Q has that B has not; its Ritz pairs, the
// eigenpairs of B'MB, converge to those of M from the ends; when B is full it is cut down to the best of them. Every
// block is made orthogonal to all of B twice, so that no eigenvalue comes as a ghost of one that was found: that is the
// dear part. So the first times that B is full it begins anew from its best Ritz vectors, with p(M) for M, p a
// Chebyshev polynomial that is small up to a cutoff below the eigenvalues wanted and grows beyond it: fewer blocks,
// more products. One block holds no more directions of an eigenspace than it has columns; so what was found is put
// aside and a new random block is asked for anything above the last of it (to 1e-6), until there is nothing: no copy of
// an eigenvalue is missed.

#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

struct SparseEigenPairs {
    Vector<double> values;    // descending
    Matrix<double> vectors;   // n x count, orthonormal columns; their signs are as they come
    double residual = 0;      // largest || M v - lambda v ||, measured
    std::int64_t blocks = 0;  // products of M with a block of sparse_eigen_block columns
    bool converged = false;   // whether every residual met the tolerance, after 60 restarts 1000 times it
    int filter_degree = 1;    // of p at the end; 1: M itself
};

/// Columns of a block.
inline constexpr Index sparse_eigen_block = 4;

/// The `count` largest eigenvalues of symmetric `m` (n x n, norm at most 1: p needs it, and `tolerance` and rounding
/// are absolute). One eigenvector may be known beforehand (unit length; empty: none): it is left out. count + 2 blocks
/// (and the one known) at most n; for copies beyond a block to be looked for, 3 blocks more. Not having converged after
/// 300 restarts is a result. Cost: of a block 4 x the non-zeros times the degree of p, and 16 n columns for at most
/// 2 count + 40 columns; memory n numbers per column and a copy of the matrix. The same bits at any number of threads.
/// BadArgument (sizes), ResourceError, Cancelled.
SparseEigenPairs largest_symmetric_eigen(const SparseMatrix& m, Index count, double tolerance,
                                         const Vector<double>& known, const Run& run);

}  // namespace coterie
