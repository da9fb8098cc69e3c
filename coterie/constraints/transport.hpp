#pragma once
// Internal: exact transportation of points to a few columns (groups of clusters, or clusters) with bounds on the number
// of points per column. Its entropic form: group_multipliers.hpp.
//
//     minimise sum_i cost(i, g_i)   subject to   low_g <= #{i : g_i = g} <= high_g
//
// This is a minimum-cost flow: points with a supply of 1, columns, and a sink. Points are contracted: the residual
// graph has one node per column and one for the sink. The arc g -> h has the least  cost(i, h) - cost(i, g)  over the
// points i in g.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

struct Transport {
    Labels columns;              // n: g_i
    double cost = 0;             // sum_i cost(i, g_i), in double, in row order
    std::vector<double> prices;  // G: dual variables u_g, a certificate of optimality. cost(i, g) + u_g is least at
                                 // g_i; u_g > 0 only where column g is at high, u_g < 0 only where it is at low.
    std::int64_t augmentations = 0;
};

/// costs: n x G, of magnitude up to 1e300, or +infinity where a point may not go; every row has a finite entry.
/// Bounds: 0 <= low_g <= high_g; an upper bound above n has no effect.
/// `start_prices` (G, or empty; non-finite ones count as 0): prices of a similar problem. They change the time, not the
/// optimum.
/// Throws BadArgument if no assignment meets the bounds. The message names columns that together can take too few
/// points or must take too many, with the number of points and the bounds. Throws Cancelled if the caller stops.
/// Among several optima, the result depends only on the input (including start prices), not on threads. Of points with
/// the same cost of moving, the lowest moves first.
/// Memory in addition to the costs: at most twice that of the costs (usually a third), and about 600 bytes per pair of
/// columns.
Transport transport(const Matrix<double>& costs, std::span<const Index> low, std::span<const Index> high,
                    const Run& run, std::span<const double> start_prices = {});

/// The exact hard assignment to groups. natural[i] is the group of point i without bounds; if these groups meet the
/// bounds, they are the result.
/// Two groups: the m points of least costs(i, group) - costs(i, other) go to `group`. m is the natural number clamped
/// to the bounds; `group` is the bounded one, or 0 if both are. This selection takes O(n); ties go to the lowest point
/// index.
/// More groups: transport(). `prices` (empty, or from the previous call) is the start of transport(). On return it is a
/// certificate as in Transport::prices (0 if the natural groups are the result).
Labels assign_groups(const Matrix<double>& costs, const Labels& natural, std::span<const Index> low,
                     std::span<const Index> high, std::vector<double>& prices, const Run& run);

}  // namespace coterie::internal
