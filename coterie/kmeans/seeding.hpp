#pragma once
// Starting centroids.

#include <span>

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
    Points centroids;   // k x d rows of the points, in the points' scalar type
    int distinct = 0;   // how many are distinct points: fewer than k when the points have fewer than k distinct rows
};

/// k <= number of points with positive weight (BadArgument otherwise). `candidates` a greedy step: 0 chooses 2 + 2 ln k.
/// `repetition` tells restarts apart. Greedy k-means++ picks each next centroid among `candidates` points drawn with probability
/// proportional to w_i D_i^2 (D_i the distance to the nearest centroid so far): the one that lowers the inertia most.
/// Cost n d k candidates, one pass over the points a step; a point that no candidate can reach (triangle inequality) is skipped.
/// Memory 3 numbers a point.
SeedingResult seed_centroids(PointsView points, int k, Seeding seeding, int candidates, std::span<const double> weights,
                             std::uint64_t repetition, const Run& run);

}  // namespace coterie
