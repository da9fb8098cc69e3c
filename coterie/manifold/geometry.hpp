#pragma once
// What the geometry around a point guarantees about its sparse representation (weighted manifold clustering, Section
// 2). Computes the quantities of Lemmas 1 to 3 and Corollary 1, and whether the representation stays on its manifold.
//
//     y        d       the point: row i of X (which is then not used as a column), or a new sample. Its manifold is M_1
//     X        n x d   points (rows) x_j; ~: homogenised, x~_j = (x_j, sqrt(eta)). All norms use homogenised points
//     w_j              weights as representation_weights() defines them, with sum 1 (equal: 1 each)
//     d_1              dimension of M_1
//     N                points in the smallest ball around y with d_1 + 1 points of M_1
//     zeta             its radius
//     S                affine hull of the points in both N and M_1; S~: the span of these points, homogenised
//     nu*      d + 1   dual direction: lambda (y~ - X_S c*), with the solution c* over only these points (2.5, 2.6)
//     r_W              inradius of conv(+-x~_j / w_j) over these points, within S~ (2.7)
//     dist             distance of y from S
//     gamma_W          min over x_k outside M_1 of (w_k r_W - |<x~_k, P nu*>| / ||P nu*||) / ||x~_k||, P onto S~
//     lambda_l         1 / (r_W (||y~|| - dist))
//     lambda_u         gamma_W / (r_W dist)
//     mu               max over x_k outside M_1 of |<x~_k, P nu*>| / ||P nu*||. In Corollary 1 (w = 1, all norms 1),
//                      gamma_W = r - mu
//
// Lemma 1 claims: if lambda_l < lambda < lambda_u, every solution of the whole problem is manifold preserving (c_j = 0
// outside M_1) and non-zero. As printed, Lemma 1 is false: its proof omits the condition |<x~_j, nu*>| <= w_j for the
// points of M_1 outside N. `guaranteed` requires interval and condition. The representation is also computed.
//
// Lemma 2 bounds dist by 1/kappa - sqrt(1/kappa^2 - zeta^2). It holds for curves (d_1 = 1), with kappa the largest
// curvature within the ball. It fails for surfaces: three points of a sphere that lie almost on a great circle span a
// plane far from y. Lemma 3 is Lemma 1 with this bound instead of dist, so it also holds only for curves.

#include <optional>
#include <span>
#include <vector>

#include "coterie/manifold/representation.hpp"

namespace coterie {

enum class LambdaUnit {
    lambda_0,  // the smallest lambda with a representation other than 0
    lambda_l   // the lower end of Lemma 1's interval
};

struct COTERIE_API GeometryOptions {
    int dim = 1;  // d_1
    RepresentationWeights weights = RepresentationWeights::linear;
    double eta = 1;                     // square of the homogenising coordinate
    std::optional<double> lambda = {};  // lambda itself; automatic: `multiple` times its unit
    double multiple = 20;               // a: lambda = a times the unit
    LambdaUnit unit = LambdaUnit::lambda_0;
    double curvature = 0;  // kappa, for Lemmas 2 and 3; only for curves; 0: omit these lemmas
    double reach = 0;      // of the curves; 0 stands for 1 / curvature, the largest possible value

    static const OptionSet& described();
};

struct LambdaInterval {
    double lower = 0;
    double upper = 0;
    bool empty() const { return !(lower < upper); }
    bool contains(double lambda) const { return lower < lambda && lambda < upper; }
};

struct PointGeometry {
    std::vector<Index> neighbors;  // points in both N and M_1, nearest first; more than d_1 + 1 if distances tie
    Index others_in_ball = 0;      // points of N outside M_1
    Index rank = 0;                // dim S~
    bool full_rank = false;        // whether rank is d_1 + 1 (Assumption 2); no other value needs this
    double radius = 0;             // zeta
    double norm = 0;               // ||y~||
    double inradius = 0;           // r_W; 0 if all the neighbours are 0
    double distance = 0;           // dist; 0 if it is only a rounding error
    double lambda_0 = 0;           // infinite if y~ is orthogonal to all points
    double lambda = 0;             // infinite if its unit is infinite; values that depend on it are then not computed
    bool solved = false;           // lambda is finite

    // With lambda:
    double separation = 0;    // gamma_W; infinite if there is no point outside M_1
    double coherence = 0;     // mu
    LambdaInterval interval;  // lower: infinite if r_W (||y~|| - dist) is not above 0. upper: if dist is 0, infinite
                              // with the sign of gamma_W; 0 if r_W or gamma_W is 0
    bool separated = false;   // (2.8): gamma_W > 0
    bool near = false;        // (2.9): dist < ||y~|| gamma_W / (1 + gamma_W), for gamma_W above 0
    double own_reach = 0;  // max over x_j in M_1 outside N of |<x~_j, nu*>| / w_j; must be <= 1, which the proof omits
    double foreign_reach = 0;  // max over x_k outside M_1 of |<x~_k, nu*>| / w_k; below 1 according to (A.37)
    bool inside() const { return solved && interval.contains(lambda); }
    bool own_condition() const { return solved && own_reach <= 1; }
    /// Also false if `violation` is so large that the dual direction is inaccurate: the other conditions then prove
    /// nothing.
    bool guaranteed() const { return inside() && own_condition() && violation < 1e-6; }

    // The representation over all points. If own_reach and foreign_reach are below 1, this is the representation over
    // the neighbours. Otherwise it is computed over all points.
    bool nonzero = false;
    bool preserving = false;
    double foreign_share = 0;  // sum |c_k| outside M_1 divided by sum |c_j|; 0 if c is 0
    double violation = 0;      // of the optimality conditions, in units of w_j; the larger violation of both problems

    // Only with `curvature`, and if zeta is at most `reach`:
    std::optional<double> distance_bound;              // Lemma 2
    std::optional<LambdaInterval> curvature_interval;  // Lemma 3

    Vector<double> dual;  // nu*, the homogenising coordinate last
};

/// The geometry of row `row` of the points. labels[j]: the manifold of x_j, at least 0. Time: a few times n d, and
/// 2^(d_1) sign vectors for r_W. Memory: a copy of the points.
/// Throws BadArgument for wrong options, a wrong row, a wrong number of labels, or neighbours that need more than 2^20
/// sign vectors. Throws BadData for numbers that are not finite or beyond 1e100, a point without a label, fewer than
/// d_1 + 1 other points of M_1, or weights whose range exceeds that of double.
COTERIE_API PointGeometry point_geometry(PointsView points, const Labels& labels, Index row,
                                         const GeometryOptions& options);
/// The geometry of a new sample y on the manifold `label`.
COTERIE_API PointGeometry point_geometry(PointsView points, const Labels& labels, const Vector<double>& y,
                                         std::int32_t label, const GeometryOptions& options);

/// point_geometry() of each of these rows, on several threads; `dual` is empty. Time: a few n d per row. May also throw
/// Cancelled.
COTERIE_API std::vector<PointGeometry> geometry(PointsView points, const Labels& labels, std::span<const Index> rows,
                                                const GeometryOptions& options, const Run& run);

/// 1/kappa - sqrt(1/kappa^2 - zeta^2) (2.11); 0 for a straight line. Throws BadArgument unless kappa and zeta are at
/// least 0 and kappa zeta is at most 1.
COTERIE_API double curvature_bound(double curvature, double radius);

/// Radius of the largest ball around 0, in the span of the rows, that conv(+-rows) contains; 0 if all rows are 0.
/// `rows` is m x d of rank k. Tries C(m, k) 2^(k-1) candidates, and throws BadArgument if these are more than 2^20.
COTERIE_API double symmetric_inradius(const Matrix<double>& rows);

}  // namespace coterie
