#pragma once
// Orthogonal matching pursuit: represents every point as a combination of few other points, which are chosen one by one
// (SSC-OMP: You, Robinson and Vidal 2016).
//
//     x~_j = (x_j, sqrt(eta)),  y~: the point;   S = {},  r = y~
//     repeat   j = argmax_j |<x~_j, r>|  (the lowest if equal),  S = S + j,
//              c = argmin || y~ - sum_{j in S} c_j x~_j ||,          r = y~ - sum_{j in S} c_j x~_j
//     until    |S| = nonzeros,  or  ||r|| <= tolerance ||y~||,  or all columns are orthogonal to r
//
// Correlations are products of blocks in float. Columns that, within rounding, may have the largest correlation are
// measured in double. Time: nonzeros n_q n d.

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

struct MatchingPursuitOptions {
    int nonzeros = 6;
    double tolerance = 1e-3;
    double eta = 0;
};

struct MatchingPursuit {
    SparseMatrix coefficients;  // n_q x n: row i is c of query i
    double mean_residual = 0;   // mean ||r|| / ||y~||
};

/// Represents each point over the others. n >= 2. Throws BadArgument (options), BadData (not finite), ResourceError,
/// Cancelled. The result has the same bits for any number of threads.
COTERIE_API MatchingPursuit match(PointsView points, const MatchingPursuitOptions& options, const Run& run);
/// Represents the queries over all points.
COTERIE_API MatchingPursuit match(PointsView points, PointsView queries, const MatchingPursuitOptions& options,
                                  const Run& run);

}  // namespace coterie
