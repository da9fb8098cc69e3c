#pragma once
// Affinities from sparse representations, the input of spectral clustering.
//
//     C   n x n   representations; row i is c of point i (the paper's columns). Signs are ignored: C stands for |C|
//     N           scale every row to Euclidean norm 1 (a row of 0 does not change)
//     S           1/2 (C + C')
//     K           in every row keep the `keep` largest entries (the lower column first among equals); the others become
//     0
//
// A strategy is one of the 15 orders of one, two or three of these steps. A result that is not symmetric becomes 1/2 (A
// + A'), because the Laplacian needs symmetry.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

enum class AffinityStrategy { N, S, K, NK, KN, SN, NS, SK, KS, SNK, SKN, KSN, KNS, NSK, NKS };
/// Their names, in this order. A name lists the steps in the order of execution.
COTERIE_API const std::vector<std::string>& affinity_strategies();

struct SymmetricAffinity {
    SparseMatrix matrix;       // n x n, symmetric, all stored entries above 0
    bool symmetrised = false;  // whether the strategy's own result was not symmetric
};

/// C must be square. keep >= 1, used by K only. Throws BadArgument. Time: sorting the entries of C.
COTERIE_API SymmetricAffinity affinity_of(const SparseMatrix& representations, AffinityStrategy strategy, int keep);

namespace internal {
/// Step K for entries that are at least 0: keeps the largest entries of each row.
COTERIE_API SparseMatrix keep_largest(const SparseMatrix& entries, int keep);
}  // namespace internal

}  // namespace coterie
