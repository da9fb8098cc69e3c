#pragma once
// Internal: exact transportation of points to a few columns (groups of clusters, or clusters) with bounds on how many
// points a column takes, and its entropic form.
//
//     minimise sum_i cost(i, g_i)   subject to   low_g <= #{i : g_i = g} <= high_g
//
// It is a minimum-cost flow: points with a supply of 1, columns, and a sink. Points are contracted away: the residual
// graph has one node a column and one for the sink, and the arc g -> h costs the least  cost(i, h) - cost(i, g)  over
// the points i in g.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

struct Transport {
    Labels columns;              // n: g_i
    double cost = 0;             // sum_i cost(i, g_i), in double, in row order
    std::vector<double> prices;  // G: dual variables u_g. cost(i, g) + u_g is least at g_i; u_g > 0 only where column g
                                 // is full (high), u_g < 0 only where it is at its low. A certificate of optimality.
    std::int64_t augmentations = 0;
};

/// costs: n x G, of magnitude up to 1e300, or +infinity where a point may not go; every row has a finite entry. 0 <=
/// low_g <= high_g (an upper bound above n is none).
/// `start_prices` (G, or empty; those that are not finite count as 0): prices of a similar problem; they change the
/// time taken, not the optimum.
/// BadArgument when no assignment meets the bounds: it names columns that together can take too few points, or must
/// take too many, how many those are, and what the bounds ask for. Cancelled when the caller stops.
/// Among several optima the result depends on the input alone (start prices included; not on the threads): of points
/// that cost the same to move, the lowest moves first.
/// Memory beside the costs: at most twice theirs (a third, usually), and some 600 bytes for each pair of columns.
Transport transport(const Matrix<double>& costs, std::span<const Index> low, std::span<const Index> high,
                    const Run& run, std::span<const double> start_prices = {});

/// The exact hard assignment to groups. natural[i] is the group that point i would go to if nothing was bounded; where
/// those meet the bounds they are the answer. With two groups, the m points of least costs(i, group) - costs(i, other)
/// go to `group` (selection, O(n); ties go to the lowest point index), m being the natural number clamped to the
/// bounds; `group` is the bounded one, or 0 if both are. Else transport(). `prices` (empty, or of the last call) is
/// read by transport() and set to what proves the answer, as Transport::prices (0 where the natural one stands).
Labels assign_groups(const Matrix<double>& costs, const Labels& natural, std::span<const Index> low,
                     std::span<const Index> high, std::vector<double>& prices, const Run& run);

enum class GroupSolver {
    newton,  // safeguarded Newton on the multipliers, to machine precision
    bregman  // iterated Bregman projections (Benamou et al. 2015; the paper's Appendix B), ending on the rows
};

/// The entropic assignment to groups: A_ig proportional to exp(log_mass(i, g) + multiplier_g) in each row, with
/// low_g <= sum_i A_ig <= high_g.
struct GroupMultipliers {
    /// G numbers log theta_g: > 0 where the group is raised to low_g, < 0 where it is lowered to high_g, 0 where the
    /// bounds do not bind. -infinity: it takes only what can go nowhere else; +infinity: it takes all that may go to
    /// it. Where every group is held to a mass only differences count: the last finite one is 0, or nearest to 0 of
    /// what leaves the others the signs above.
    std::vector<double> log_theta;
    std::vector<double> mass;  // G: sum_i A_ig
    double residual = 0;       // largest violation of the bounds, in points
    int rounds = 0;            // newton: passes over the rows, about; bregman: group steps
    bool converged = true;     // newton: residual below 1e-10 n; bregman: as when its rounds are not limited
};

/// log_mass: n x G, log sum_{j in g} Z_ij exp(-D_ij / epsilon); -infinity where nothing in g is allowed; every row has
/// a finite entry. Bounds are masses, no whole numbers needed; an upper one may be +infinity; 32 roundings of n beside
/// a group's end count as the end. `rounds` (bregman only): how many; 0: until the bounds are missed by 1e-12 n in sum
/// or 100,000 rounds are done. Bregman's rounds are a first row step and then a group step and a row step each; near
/// the ends they gain next to nothing. `start` (G finite numbers, or empty) changes the time taken only (and where a
/// limited number of rounds ends). BadArgument when no assignment meets the bounds: exact where each row may go to one
/// group or to all, as labels have it; for other rows it is that Newton's method misses the bounds by 1e-9 n.
GroupMultipliers solve_group_multipliers(const Matrix<double>& log_mass, std::span<const double> low,
                                         std::span<const double> high, GroupSolver solver, int rounds, const Run& run,
                                         std::span<const double> start = {});

/// One row of A for given multipliers: shares (G) of the groups, which sum to 1. Infinite multipliers are tiers: groups
/// at +infinity come first, then finite ones, then those at -infinity; a row is shared within the first tier in which
/// it has a finite log_mass.
void group_shares_of_row(const double* log_mass, std::span<const double> log_theta, double* shares);

}  // namespace coterie::internal
