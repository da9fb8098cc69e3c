#pragma once
// Starting centroids.

#include <optional>
#include <span>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

enum class Seeding {
    automatic,         // k-means|| from 1,000 clusters on, else greedy k-means++
    kmeans_plus_plus,  // greedy k-means++ (Arthur and Vassilvitskii 2007, with several candidates per step)
    parallel,          // k-means|| (Bahmani et al. 2012); weighted greedy k-means++ reduces its candidates to k
    random             // k different rows, uniformly or by weight
};

struct SeedingResult {
    Points centroids;  // k x d: rows of the points, in the points' scalar type
    int distinct = 0;  // number of distinct starting points; below k if the points have fewer distinct rows.
                       // Seeding::random does not check: always k
};

struct SeedingOptions {
    Seeding seeding = Seeding::automatic;
    std::optional<int> candidates = {};  // per greedy step; automatic: 2 + 2 ln k
    std::optional<Index> sample = {};    // rows on which candidates are compared; automatic: max(32768, 128 k)
};

/// 2 + 2 ln k, rounded: the default number of candidates per greedy step.
COTERIE_API int usual_candidates(int k);

/// Returns k starting centroids. Throws BadArgument unless 1 <= k <= number of points of positive weight. `repetition`:
/// number of the restart; every restart draws different random numbers.
/// Greedy k-means++ draws `candidates` rows per step, with probability proportional to w_i D_i^2. D_i is the distance
/// to the nearest centroid so far, exact over all rows. The candidate that lowers the inertia most becomes the next
/// centroid. If there are more than `sample` rows, the inertia is compared on a stratified random sample of that size.
/// Time: k * candidates * min(n, sample) * d + n k d, or less, because the triangle inequality excludes many rows.
/// Memory: 3 numbers per point.
/// Sparse points: automatic means greedy k-means++ for every k, Seeding::parallel throws BadArgument, and no row is
/// skipped.
/// `existing`: centroids that are kept, in the points' scalar type. Greedy k-means++ then draws k more.
COTERIE_API SeedingResult seed_centroids(PointsView points, int k, const SeedingOptions& options,
                                         std::span<const double> weights, std::uint64_t repetition, const Run& run,
                                         PointsView existing = {});

}  // namespace coterie
