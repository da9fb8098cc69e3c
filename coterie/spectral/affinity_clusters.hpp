#pragma once
// Spectral clustering of an affinity (Ng, Jordan and Weiss 2001):
//
//     A       n x n   affinity: symmetric, no entry negative; its diagonal is not looked at
//     D       n x n   diagonal, the degrees D_ii = sum_j A_ij
//     L       n x n   normalised Laplacian  I - D^-1/2 A D^-1/2, eigenvalues in [0, 2]
//     V       n x k   eigenvectors of the k smallest eigenvalues of L
//     U       n x k   V with its rows scaled to norm 1: what k-means clusters

#include <cstdint>
#include <vector>

#include "coterie/base/run.hpp"
#include "coterie/linalg/sparse.hpp"

namespace coterie {

struct AffinityClusterOptions {
    int clusters = 8;
    int restarts = 10;         // of k-means in U
    int max_iterations = 300;  // of a k-means
};

struct AffinityClusters {
    Labels labels;                // n
    Matrix<double> embedding;     // n x k: U
    Vector<double> eigenvalues;   // k: of L, ascending
    Vector<double> degrees;       // n
    Matrix<double> centroids;     // k x k: of k-means in U
    double eigen_residual = 0;    // largest || L v - lambda v || of the k pairs
    std::int64_t components = 0;  // connected components of A, isolated points among them
    std::int64_t isolated = 0;    // points of degree 0
    double inertia = 0;           // of k-means in U
};

/// 1 <= clusters <= n. The same bits at any number of threads. BadArgument: A not square, not symmetric, an entry
/// negative or not finite, clusters out of range. Cancelled.
AffinityClusters cluster_affinity(const SparseMatrix& affinity, const AffinityClusterOptions& options, const Run& run);

}  // namespace coterie
