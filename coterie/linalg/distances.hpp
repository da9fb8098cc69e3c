#pragma once
// Squared Euclidean distances between rows and a few centroids, fused with arg-min: scores never leave the registers.
// Kernels are compiled per instruction set and chosen at run time (SSE2, AVX2+FMA, AVX-512; plain C++ elsewhere).

#include <string_view>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Nearest centroid of every row: labels and squared distances. Ties go to the lowest centroid. Cost n k d, memory k d beside the results.
struct Nearest {
    Labels labels;                // n
    std::vector<double> squared;  // n: max(0, ||x||^2 - 2 x'c + ||c||^2) about the centroids' mean; empty unless asked for
};
Nearest nearest_centroids(PointsView points, PointsView centroids, int threads, bool with_distances = false);

/// The instruction set in use: "avx512", "avx2", "sse2" or "generic".
std::string_view instruction_set();

}  // namespace coterie
