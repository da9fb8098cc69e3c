#pragma once
// Nearest centroids by squared Euclidean distances. Distances and arg-min are computed in one loop, so scores stay in
// the registers. Kernels are compiled per instruction set and chosen at run time (SSE2, AVX2+FMA, AVX-512; else C++).

#include <span>
#include <string_view>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct Nearest {
    Labels labels;                // the nearest centroid of each of this process's rows; ties go to the lowest
    std::vector<double> squared;  // squared distances to them, computed from the differences; empty unless requested
    double inertia = 0;           // sum_i w_i squared_i over all rows; 0 unless requested
};
enum class NearestWants { labels, inertia, distances };

/// Nearest centroid of every row. Throws BadArgument unless points and centroids have the same scalar type and number
/// of columns. Time n k d, memory O(k d) besides the results. A row's label does not depend on the other rows. For
/// sparse points (base/sparse_points.hpp) the time is k per entry, plus k d.
Nearest nearest_centroids(PointsView points, PointsView centroids, int threads,
                          NearestWants wants = NearestWants::labels, std::span<const double> weights = {});

/// The same on run.threads. Throws Cancelled if the caller asks to stop.
Nearest nearest_centroids(PointsView points, PointsView centroids, const Run& run,
                          NearestWants wants = NearestWants::labels, std::span<const double> weights = {});

/// n x k: || x_i - c_j || in double, from the differences. For outputs; too slow for the loops of a fit. Throws
/// BadArgument unless both have the same number of columns.
Matrix<double> euclidean_distances(PointsView points, PointsView centroids, int threads);

/// The instruction set in use: "avx512", "avx2", "sse2" or "generic".
std::string_view instruction_set();

}  // namespace coterie
