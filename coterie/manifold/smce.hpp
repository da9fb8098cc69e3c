#pragma once
// Sparse manifold clustering and embedding (SMCE: Elhamifar and Vidal 2011): represents every point as an affine
// combination of a few of its nearest neighbours, computed from the directions to them.
//
//     x_j      the K nearest neighbours of y, d_j = || x_j - y ||
//     q_j      (x_j - y) / d_j;  0 if d_j is 0
//     w_j      d_j / sum of the distances of y from all points. Every d_j counts as at least 1e-6 times the points'
//              root mean square distance from their mean
//
//     c = argmin  gamma ||W c||_1 + 1/2 || sum_j c_j q_j ||^2     subject to  sum_j c_j = 1
//
//     optimal:  with g = Q Q' c and some number mu,  mu - g_j = gamma w_j sign(c_j) where c_j != 0,
//                                                  |mu - g_j| <= gamma w_j            elsewhere
//
// The solution is exact. The constraint becomes the penalty rho / 2 (1 - sum c + u)^2 (method of multipliers; u is the
// sum of the errors so far). The active-set method of the lasso solves each of the few resulting problems.
//
// Time: n_q n d each for neighbours and sums of distances, and K^2 d per point. Memory: n K.

#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

struct SmceRepresentation {
    SparseMatrix coefficients;    // n_q x n: row i is c of query i
    std::vector<double> weights;  // w_j of every entry, in their order
    double worst_violation = 0;   // of the conditions, in units of gamma w_j
    double worst_sum = 0;         // largest | 1 - sum c |
};

/// Represents each point over the others; `neighbors` is at most n - 1, and gamma > 0. Throws BadArgument, BadData (not
/// finite), ResourceError, Cancelled. The result has the same bits for any number of threads.
COTERIE_API SmceRepresentation smce_represent(PointsView points, double gamma, Index neighbors, const Run& run);
/// Represents the queries over all points; `neighbors` is at most n.
COTERIE_API SmceRepresentation smce_represent(PointsView points, PointsView queries, double gamma, Index neighbors,
                                              const Run& run);

}  // namespace coterie
