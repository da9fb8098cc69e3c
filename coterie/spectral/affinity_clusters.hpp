#pragma once
// Spectral clustering of an affinity (Ng, Jordan and Weiss 2001):
//
//     A       n x n   affinity: symmetric, no entry negative; its diagonal is not looked at
//     D       n x n   diagonal, the degrees D_ii = sum_j A_ij
//     L       n x n   normalised Laplacian  I - D^-1/2 A D^-1/2, eigenvalues in [0, 2]
//     V       n x k   eigenvectors of the k smallest eigenvalues of L; of each the entry of largest magnitude (the
//                     first among equals) is positive
//     U       n x k   V with its rows scaled to norm 1: what k-means clusters
//
// L falls apart as the graph of A does. Eigenvalue 0 comes once a connected component, with the vector D^1/2 1 on its
// points; the pairs are found component by component, so that no multiplicity between components is missed. With more
// components (of two points and more) than k, the k smallest eigenvalues would be those of k of them, tiny ones
// perhaps, and no component would ever be cut. Then the k pairs are shared among the components in proportion to their
// points (Sainte-Lague), and a component's are those of its smallest eigenvalues; many have none. With `outliers` the
// same is done where there are fewer components than k, but the first claim of each counts double: one of less than
// about a quarter of the mean cluster's points has none. With exactly k each has its own. An isolated point has
// D_ii = 0, and 0 for D_ii^-1/2: it is a component and an eigenvector of eigenvalue 1, which hardly ever is among the k
// smallest, so that it does not take a cluster for itself. What no column of V reaches, isolated points and components
// without a share, has a row of 0 in U, stays out of k-means and is put into the largest cluster.
//
// Cost: a few hundred products of A with a vector and what keeps as many vectors orthogonal (linalg/sparse_eigen.hpp),
// then k-means. Components of up to 500 points are solved as dense matrices; so are those of which a third of the
// eigenvectors is wanted, those of up to 2000 with a tenth of all pairs, and those of up to 4000 whose eigenvalues lie
// too close for Lanczos. Memory: three copies of A and some 5 n k numbers.

#include <cstdint>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"
#include "coterie/model/fit_report.hpp"

namespace coterie {

struct AffinityClusterOptions {
    int clusters = 8;
    int restarts = 10;         // of k-means in U
    int max_iterations = 300;  // of a k-means
    bool outliers = false;     // whether components may be too small to be a cluster
};

struct AffinityClusters {
    Labels labels;                // n
    Matrix<double> embedding;     // n x k: U
    Vector<double> eigenvalues;   // k: of L, ascending; the k smallest, but where they are shared
    Vector<double> degrees;       // n
    Matrix<double> centroids;     // k x k: of k-means in U
    double eigen_residual = 0;    // largest || L v - lambda v || of the k pairs, measured; Lanczos aims at 1e-10
    std::int64_t components = 0;  // connected components of A, isolated points among them
    std::int64_t isolated = 0;    // points of degree 0
    std::int64_t unreached = 0;   // points with a row of 0 in U, put into the largest cluster
    double inertia = 0;           // of k-means in U
    Vector<double> norms;         // n: of the rows of V
    FitReport kmeans;             // of k-means in U
};

/// 1 <= clusters <= n. The same bits at any number of threads. BadData: A not square, not symmetric (to 1e-10 of the
/// larger of A_ij and A_ji), an entry negative or not finite. BadArgument: clusters out of range. ResourceError.
/// Cancelled.
COTERIE_API AffinityClusters cluster_affinity(const SparseMatrix& affinity, const AffinityClusterOptions& options,
                                              const Run& run);

}  // namespace coterie
