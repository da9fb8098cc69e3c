#pragma once
// Internal: exact transportation of points to a few columns (groups of clusters, or clusters) with bounds on how many
// points a column takes. Its entropic form: group_multipliers.hpp.
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

}  // namespace coterie::internal
