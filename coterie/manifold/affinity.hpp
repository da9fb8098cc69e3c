#pragma once
// Affinities from sparse representations, the input of spectral clustering.
//
//     C   n x n   representations; row i is c of point i (in the paper, column i). Signs are ignored: C means |C|
//     N           scale every row to Euclidean norm 1 (a row of 0 does not change)
//     S           1/2 (C + C')
//     K           keep the `keep` largest entries per row (the lower column if equal); the others become 0
//
// A strategy is one of the 15 ordered selections of one, two or three of these steps. The Laplacian needs symmetry. So
// if the result A is not symmetric, it is replaced by 1/2 (A + A').

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

enum class AffinityStrategy { N, S, K, NK, KN, SN, NS, SK, KS, SNK, SKN, KSN, KNS, NSK, NKS };
/// The names of the strategies, in this order. A name lists the steps in the order of execution.
COTERIE_API const std::vector<std::string>& affinity_strategies();

struct SymmetricAffinity {
    SparseMatrix matrix;       // n x n, symmetric, all stored entries above 0
    bool symmetrised = false;  // whether the strategy's own result was not symmetric
};

/// C must be square, and keep >= 1. Only K uses `keep`. Throws BadArgument. Time: that of sorting the entries of C.
COTERIE_API SymmetricAffinity affinity_of(const SparseMatrix& representations, AffinityStrategy strategy, int keep);

namespace internal {
/// Step K alone: keeps the largest entries of each row. All entries must be at least 0.
COTERIE_API SparseMatrix keep_largest(const SparseMatrix& entries, int keep);
}  // namespace internal

}  // namespace coterie
