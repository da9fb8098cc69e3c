#pragma once
// Squared Euclidean distances between rows and a few centroids, fused with arg-min: scores never leave the registers.
// Kernels are compiled per instruction set and chosen at run time (SSE2, AVX2+FMA, AVX-512; plain C++ elsewhere).

#include <span>
#include <string_view>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

struct Nearest {
    Labels labels;                // the nearest centroid of each of this process' rows; ties go to the lowest
    std::vector<double> squared;  // their squared distances, computed from the differences; empty unless asked for
    double inertia = 0;           // sum_i w_i squared_i over all rows; 0 unless asked for
};
enum class NearestWants { labels, inertia, distances };

/// Nearest centroid of every row. Points and centroids of the same scalar type and dimension (BadArgument otherwise).
/// Cost n k d, memory O(k d) beside the results. A row's label does not depend on the other rows. Of sparse points
/// (base/sparse_points.hpp) the cost is k per entry, and k d.
Nearest nearest_centroids(PointsView points, PointsView centroids, int threads,
                          NearestWants wants = NearestWants::labels, std::span<const double> weights = {});

/// The same on run.threads; the caller may stop it (Cancelled).
Nearest nearest_centroids(PointsView points, PointsView centroids, const Run& run,
                          NearestWants wants = NearestWants::labels, std::span<const double> weights = {});

/// n x k: || x_i - c_j || in double, of the differences themselves: for what a caller is shown, not for loops.
/// BadArgument unless both have the same dimension.
Matrix<double> euclidean_distances(PointsView points, PointsView centroids, int threads);

/// The instruction set in use: "avx512", "avx2", "sse2" or "generic".
std::string_view instruction_set();

}  // namespace coterie
