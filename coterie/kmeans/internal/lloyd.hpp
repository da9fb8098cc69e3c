#pragma once
// Internal: Lloyd's iterations from given centroids.

#include <span>
#include <string>
#include <vector>

#include "coterie/base/run.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/model/fit_report.hpp"

namespace coterie::kmeans::internal {

using namespace coterie::internal;

struct LloydSettings {
    int max_iterations = 300;
    double tolerance = 1e-4;  // stop when sum_j ||c_j moved||^2 <= tolerance * mean column variance
    bool bounds = true;
    bool unit_length = false;  // rows and centroids have length 1: spherical k-means
};

template <class T>
struct LloydResult : Fitted<T> {    // objective: the inertia, or half of it for unit length; objectives: after each
                                    // move of the centroids
    Labels labels;                  // nearest_centroids(points, centroids); if interrupted: the labels whose means the
                                    // centroids are
    bool labelled = false;          // false if the result comes from a checkpoint, which does not hold labels
    bool optimal = true;            // whether the labels are a proven minimum under the pairs of rows
    double distances_computed = 0;  // row-centroid distances divided by n k; without bounds: the number of iterations
};
template <class T>
void store_fitted(Archive& archive, const LloydResult<T>& best) {
    store_fitted<T>(archive, static_cast<const Fitted<T>&>(best));
    archive.set_vector("best_work", std::vector<double>{best.distances_computed, best.optimal ? 1.0 : 0.0});
}
template <class T>
void load_fitted(const Archive& archive, LloydResult<T>& best) {
    load_fitted<T>(archive, static_cast<Fitted<T>&>(best));
    const auto work = archive.vector("best_work", 2);
    best.distances_computed = work[0];
    best.optimal = work[1] != 0;
}

/// Labels, centroids and inertia have the same bits with and without bounds and with any number of threads. `kept`
/// saves the state after every iteration. If it already holds iterations, the fit resumes from them and ignores
/// `start`.
template <class T>
LloydResult<T> lloyd(PointsView points, const Matrix<T>& start, const LloydSettings& settings,
                     std::span<const double> weights, const Run& run, int repetition, int repetitions,
                     KeptFit* kept = nullptr);

/// Whether bounds make the fit faster for n points of d dimensions and k clusters.
bool bounds_pay(Index n, Index d, int k);

}  // namespace coterie::kmeans::internal
