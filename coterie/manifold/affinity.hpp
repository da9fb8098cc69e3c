#pragma once
// Affinities of sparse representations: what spectral clustering is given.
//
//     C   n x n   representations; row i is c of point i (the paper's columns), signs are left aside: |C| from here on
//     N           every row to Euclidean norm 1 (a row of 0 stays)
//     S           1/2 (C + C')
//     K           of every row the `keep` largest entries (the lower column first among equals), 0 for the others
//
// in one of the 15 orders that there are of one, two or three of them. What does not end symmetric is made so, 1/2 (A +
// A'), as the Laplacian needs.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

enum class AffinityStrategy { N, S, K, NK, KN, SN, NS, SK, KS, SNK, SKN, KSN, KNS, NSK, NKS };
/// Their names, in this order: the steps as they are done.
COTERIE_API const std::vector<std::string>& affinity_strategies();

struct SymmetricAffinity {
    SparseMatrix matrix;       // n x n, symmetric, entries above 0
    bool symmetrised = false;  // the strategy's own result was not symmetric
};

/// C square. keep >= 1, used by K alone. BadArgument. Cost: the entries of C, sorted.
COTERIE_API SymmetricAffinity affinity_of(const SparseMatrix& representations, AffinityStrategy strategy, int keep);

namespace internal {
/// K: entries at least 0; of every row only the largest stay.
COTERIE_API SparseMatrix keep_largest(const SparseMatrix& entries, int keep);
}  // namespace internal

}  // namespace coterie
