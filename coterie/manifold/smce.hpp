#pragma once
// Sparse manifold clustering and embedding (SMCE: Elhamifar and Vidal 2011): every point as an affine combination of a
// few of its nearest neighbours, from the directions to them.
//
//     x_j      the K nearest neighbours of y, d_j = || x_j - y ||
//     q_j      (x_j - y) / d_j;  0 if d_j is 0
//     w_j      d_j / sum of the distances of y from all points;  d_j at least 1e-6 of the points' root mean square
//              distance from their mean
//
//     c = argmin  gamma ||W c||_1 + 1/2 || sum_j c_j q_j ||^2     subject to  sum_j c_j = 1
//
//     optimal:  with g = Q Q' c and some number mu,  mu - g_j = gamma w_j sign(c_j) where c_j != 0,
//                                                  |mu - g_j| <= gamma w_j            elsewhere
//
// Solved exactly: the constraint becomes rho / 2 (1 - sum c + u)^2 (method of multipliers, u the sum of the errors so
// far). The active-set method of the lasso solves each of the few resulting problems.
//
// Time: n_q n d each for neighbours and sums of distances, and K^2 d for each point. Memory n K.

#include <vector>

#include "coterie/base/export.hpp"
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

/// All points over the others; neighbors at most n - 1. gamma > 0. Throws BadArgument, BadData (not finite),
/// ResourceError, Cancelled. The bits are the same for any number of threads.
COTERIE_API SmceRepresentation smce_represent(PointsView points, double gamma, Index neighbors, const Run& run);
/// Queries over all points; neighbors at most n.
COTERIE_API SmceRepresentation smce_represent(PointsView points, PointsView queries, double gamma, Index neighbors,
                                              const Run& run);

}  // namespace coterie
