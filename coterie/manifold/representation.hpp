#pragma once
// Sparse representations: every point is a combination of few other points, and near points cost less (weighted
// manifold clustering: L-WMC, E-WMC; sparse subspace clustering; elastic-net subspace clustering).
//
//     X        n x d   points (rows) x_j, homogenised: x~_j = (x_j, sqrt(eta))
//     y        d       the represented point: x_i (which is then not used as a column), or a new point
//     d_j              || x_j - y ||
//     w_j              weight of column j:  d_j (linear), exp(2 d_j) (exponential), 1 (equal), or given
//     lambda           a lambda_0,   lambda_0 = tau min_j w_j / |<x~_j, y~>|; c = 0 for lambda up to lambda_0
//
//     c = argmin  tau ||W c||_1 + (1 - tau) / 2 ||c||^2 + lambda / 2 || y~ - sum_j c_j x~_j ||^2
//
//     nu = lambda (y~ - sum_j c_j x~_j);     optimal:  <x~_j, nu> - (1 - tau) c_j = tau w_j sign(c_j)  where c_j != 0,
//                                                     |<x~_j, nu>| <= tau w_j                          elsewhere
//
// The solution is exact. An oracle-based active-set method (You, Li, Robinson and Vidal 2016) solves a reduced problem
// of a few columns to working precision. It then searches, for a block of points at once, for other columns that
// violate the conditions, and adds them. It ends when no column violates a condition. Products of blocks are in float.
// If rounding hides whether a column violates its condition, the column is measured in double. The certificate of a
// point is its largest remaining violation, in units of the column's tau w_j.
//
// The linear weight of a column equal to y would be 0. So every distance counts as at least 1e-6 times the points' root
// mean square distance from their mean. If all points are equal, linear weights are 1.
//
// Time: n_q n d per round, usually 1 to 4 rounds, and per point a lasso of a few hundred columns. Memory: the
// coefficients, a copy of the points in float, and per thread a block of 128 x n numbers in float.

#include <functional>
#include <span>
#include <vector>

#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

enum class RepresentationWeights { linear, exponential, equal };

struct COTERIE_API RepresentationOptions {
    RepresentationWeights weights = RepresentationWeights::linear;
    double multiple = 20;               // a
    std::optional<double> lambda = {};  // lambda itself, for every point; automatic: `multiple` times its lambda_0
    double eta = 0;                     // square of the homogenising coordinate
    double l1_share = 1;                // tau, in (0, 1]
    int start = 64;           // columns of the first reduced problem: those with the largest |<x~_j, y~>| / w_j
    int add = 60;             // maximum number of columns added per round
    int max_rounds = 30;      // maximum number of checks of all columns
    double tolerance = 1e-7;  // accepted violation, in units of the column's tau w_j
    /// Skips tiles of columns whose lengths alone prove that they violate no condition. Changes no result.
    bool screening = true;
    /// Replaces `weights`: writes the n weights of query `query`, each above 0 (infinity: never used). Called from
    /// several threads.
    std::function<void(Index query, std::span<double> weights)> given = {};

    static const OptionSet& described();
};

struct Representation {
    SparseMatrix coefficients;    // n_q x n: row i is c of query i
    std::vector<double> weights;  // w_j of every entry of the coefficients, in their order; at most 1e300
    /// n_q, for the weights above, which are not divided by their sum. If all columns are orthogonal to the point,
    /// lambda is infinite and c = 0.
    std::vector<double> lambda;
    std::vector<double> violation;     // n_q: the certificate, in units of tau w_j
    std::vector<std::int32_t> rounds;  // n_q: number of checks of all columns
    double mean_rounds = 0;
    double worst_violation = 0;
    double screened = 0;   // fraction of the checked pairs that were skipped because of their lengths
    double products = 0;   // number of n_q x n x d products, including the first; parts count as fractions
    Index unfinished = 0;  // points with a violation above the tolerance after max_rounds
    Index inexact = 0;     // points with a violation above the tolerance because of rounding; if there is no finite c,
                           // c = 0
    Index empty = 0;       // points with c = 0
};

/// Represents each point over the others, n >= 2. Throws BadArgument, BadData (not finite), ResourceError, Cancelled.
COTERIE_API Representation represent(PointsView points, const RepresentationOptions& options, const Run& run);
/// Represents the queries over all points. The representation of a query does not depend on the other queries.
COTERIE_API Representation represent(PointsView points, PointsView queries, const RepresentationOptions& options,
                                     const Run& run);

// ---------------------------------------------------------------- one point, all in double

/// n weights w of sum 1, as in the paper (exponential: exp(2 (d_j - d_min)) divided by their sum). Distances have the
/// lower limit above. `self` is the row of y, whose weight is infinity and not in the sum; -1: y is not a row.
COTERIE_API Vector<double> representation_weights(PointsView points, const Vector<double>& y, Index self,
                                                  RepresentationWeights weights);
/// lambda_0 = min_j w_j / |<x~_j, y~>|; infinity if all products are 0.
COTERIE_API double smallest_lambda(PointsView points, const Vector<double>& y, const Vector<double>& weights,
                                   double eta);

struct PointRepresentation {
    Vector<double> coefficients;  // n
    Vector<double> dual;          // d + 1: nu = lambda (y~ - sum_j c_j x~_j), the homogenising coordinate last
    double objective = 0;         // ||W c||_1 + lambda / 2 || y~ - sum_j c_j x~_j ||^2
    double violation = 0;         // largest violation of the conditions, in units of w_j
};
/// Represents y over the points; n weights above 0 (infinity: column not used), 0 < lambda. Time: n d per round.
COTERIE_API PointRepresentation represent_point(PointsView points, const Vector<double>& y,
                                                const Vector<double>& weights, double lambda, double eta);

}  // namespace coterie
