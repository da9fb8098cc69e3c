#pragma once
// Spectral clustering of an affinity (Ng, Jordan and Weiss 2001):
//
//     A       n x n   affinity: symmetric, no entry negative; its diagonal is ignored
//     D       n x n   diagonal, the degrees D_ii = sum_j A_ij
//     L       n x n   normalised Laplacian  I - D^-1/2 A D^-1/2, eigenvalues in [0, 2]
//     V       n x k   eigenvectors of the k smallest eigenvalues of L; the entry of largest magnitude of each (the
//                     first among equals) is positive
//     U       n x k   V with its rows scaled to norm 1: the input of k-means
//
// Components. L is block diagonal in the connected components of the graph of A. Each component has the eigenvalue 0
// once, with the vector D^1/2 1 on its points. The pairs are computed per component, so no multiplicity between
// components is missed.
// If there are more components (of at least two points) than k, the k smallest eigenvalues would belong to k
// components, even tiny ones, and no component would be divided. Instead, the components share the k pairs in
// proportion to their points (Sainte-Lague). Each component uses the pairs of its smallest eigenvalues; many components
// get no pair.
// With fewer components than k and `outliers`, the components share the pairs in the same way, but the first claim of
// each counts double. A component with fewer than about a quarter of the mean cluster's points gets no pair. With
// exactly k components, each gets one pair.
// An isolated point has D_ii = 0, and D_ii^-1/2 counts as 0. It is a component with the eigenvalue 1, which is rarely
// among the k smallest, so it is rarely a cluster. Unreached points (isolated points, and components without a pair)
// have a row of 0 in U. k-means ignores them, and they join the largest cluster.
//
// Time: a few hundred products of A with a vector, the orthogonalisation of as many vectors
// (spectral/internal/sparse_eigen.hpp), and k-means. A component gets a dense solver if it has up to 500 points, up to
// 2000 points and a tenth of all pairs, or up to 4000 points and eigenvalues too close for Lanczos, or if a third of
// its eigenvectors is needed. Memory: three copies of A and about 5 n k numbers.

#include <cstdint>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"
#include "coterie/model/fit_report.hpp"

namespace coterie {

struct AffinityClusterOptions {
    int clusters = 8;
    int restarts = 10;         // of k-means in U
    int max_iterations = 300;  // per k-means
    bool outliers = false;     // whether a component may be too small to get a cluster
};

struct AffinityClusters {
    Labels labels;                // n
    Matrix<double> embedding;     // n x k: U
    Vector<double> eigenvalues;   // k: of L, ascending; the k smallest, unless components share them
    Vector<double> degrees;       // n
    Matrix<double> centroids;     // k x k: of k-means in U
    double eigen_residual = 0;    // largest measured || L v - lambda v || of the k pairs; the goal of Lanczos is 1e-10
    std::int64_t components = 0;  // connected components of A, including isolated points
    std::int64_t isolated = 0;    // points of degree 0
    std::int64_t unreached = 0;   // points with a row of 0 in U; they join the largest cluster
    double inertia = 0;           // of k-means in U
    Vector<double> norms;         // n: norms of the rows of V
    FitReport kmeans;             // of k-means in U
};

/// 1 <= clusters <= n. The bits are the same for any number of threads. Throws BadData if A is not square, not
/// symmetric (to 1e-10 of the larger of A_ij and A_ji), or has a negative or non-finite entry; BadArgument if clusters
/// is out of range; ResourceError; Cancelled.
COTERIE_API AffinityClusters cluster_affinity(const SparseMatrix& affinity, const AffinityClusterOptions& options,
                                              const Run& run);

}  // namespace coterie
