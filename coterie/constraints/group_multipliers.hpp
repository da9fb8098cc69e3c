#pragma once
// Internal: the entropic assignment of points to groups of clusters under bounds on the groups' masses. One factor
// theta_g on the column of a group controls its mass. The dual of the problem therefore has one variable per group, for
// any n.

#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

enum class GroupSolver {
    newton,  // safeguarded Newton on the multipliers, to machine precision
    bregman  // iterated Bregman projections (Benamou et al. 2015; the paper's Appendix B), ending on the rows
};

/// The entropic assignment to groups: A_ig proportional to exp(log_mass(i, g) + multiplier_g) in each row, with low_g
/// <= sum_i A_ig <= high_g.
struct GroupMultipliers {
    /// G numbers log theta_g: > 0 if the group is raised to low_g, < 0 if it is lowered to high_g, 0 if the bounds do
    /// not bind.
    /// -infinity: the group takes only points that may go nowhere else; +infinity: it takes all points that may go to
    /// it.
    /// If every group has a fixed mass, only differences count. The last finite multiplier is then 0, or the value
    /// nearest to 0 that gives the others the signs above.
    std::vector<double> log_theta;
    std::vector<double> mass;  // G: sum_i A_ig
    double residual = 0;       // largest violation of the bounds, in points
    int rounds = 0;            // newton: approximate number of passes over the rows; bregman: group steps
    bool converged = true;     // newton: residual below 1e-10 n; bregman: the stopping rule of unlimited rounds is met
};

/// log_mass: n x G, log sum_{j in g} Z_ij exp(-D_ij / epsilon); -infinity where nothing in g is allowed; every row has
/// a finite entry.
/// Bounds are masses and need not be whole numbers; an upper bound may be +infinity. A bound within 32 roundings of n
/// of the end of a group's possible range counts as that end.
/// `rounds` (bregman only): their number; 0: until the summed violation of the bounds is at most 1e-12 n, or 100,000
/// rounds. Bregman starts with a row step; each round is a group step and a row step. Close to the ends of a group's
/// possible range, Bregman makes almost no progress.
/// `start` (G finite numbers, or empty) changes only the time, and the result of a limited number of rounds.
/// Throws BadArgument if no assignment meets the bounds. The check is exact if each row may go to one group or to all,
/// as with labels. Otherwise it throws if the result of Newton's method violates the bounds by more than 1e-9 n.
GroupMultipliers solve_group_multipliers(const Matrix<double>& log_mass, std::span<const double> low,
                                         std::span<const double> high, GroupSolver solver, int rounds, const Run& run,
                                         std::span<const double> start = {});

/// One row of A for given multipliers: shares (G) of the groups, which sum to 1. Infinite multipliers define tiers:
/// groups at +infinity come first, then finite ones, then those at -infinity. A row is shared within the first tier in
/// which it has a finite log_mass.
void group_shares_of_row(const double* log_mass, std::span<const double> log_theta, double* shares);

}  // namespace coterie::internal
