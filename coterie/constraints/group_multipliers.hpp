#pragma once
// Internal: the entropic assignment of points to groups of clusters under bounds on the groups' masses. What bounds the
// mass of a group is one factor theta_g on its column: the dual of the problem has one number per group, whatever n.

#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

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
