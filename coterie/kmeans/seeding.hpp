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
    kmeans_plus_plus,  // greedy k-means++ (Arthur and Vassilvitskii 2007, with several candidates a step)
    parallel,          // k-means|| (Bahmani et al. 2012), its candidates reduced by weighted greedy k-means++
    random             // distinct rows, uniformly (by weight)
};

struct SeedingResult {
    Points centroids;  // k x d rows of the points, in the points' scalar type
    int distinct = 0;  // how many are distinct points: fewer than k when the points have fewer than k distinct rows
};

struct SeedingOptions {
    Seeding seeding = Seeding::automatic;
    std::optional<int> candidates = {};  // per greedy step; automatic: 2 + 2 ln k
    std::optional<Index> sample = {};    // rows on which candidates are compared; automatic: max(32768, 128 k)
};

/// 2 + 2 ln k: what a greedy step compares unless it is told.
COTERIE_API int usual_candidates(int k);

/// k <= number of points with positive weight (BadArgument otherwise). `repetition` tells restarts apart.
/// Greedy k-means++ picks each next centroid among `candidates` rows drawn with probability proportional to w_i D_i^2
/// (D_i the distance to the nearest centroid so far, exact over all rows): the one that lowers the inertia most, as
/// judged on all rows or, where there are more, on a stratified random sample of `sample` rows. Cost k candidates
/// min(n, sample) d + n k d; a row that no candidate can reach (triangle inequality) is skipped. Memory 3 numbers a
/// point.
/// Sparse points: automatic is greedy k-means++ whatever k, parallel is refused, rows are never skipped.
/// `beside`: centroids that are there already, in the points' scalar type; the k are drawn in addition to them, always
/// by greedy k-means++.
COTERIE_API SeedingResult seed_centroids(PointsView points, int k, const SeedingOptions& options,
                                         std::span<const double> weights, std::uint64_t repetition, const Run& run,
                                         PointsView beside = {});

}  // namespace coterie
