#pragma once
// Internal: Lloyd's iterations from given centroids.

#include <span>

#include "coterie/base/run.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/constraints/constraints.hpp"
#include "coterie/kmeans/centroid_fit.hpp"

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
    archive.set_vector("best_work", as_doubles(best.distances_computed, best.optimal));
}
template <class T>
void load_fitted(const Archive& archive, LloydResult<T>& best) {
    load_fitted<T>(archive, static_cast<Fitted<T>&>(best));
    const auto work = archive.vector("best_work", 2);
    best.distances_computed = work[0];
    best.optimal = work[1] != 0;
}

/// Lloyd's iterations for points of scalar type T.
struct LloydProblem {
    PointsView points;
    std::span<const double> weights;  // n, or empty
    LloydSettings settings;
    const Run& run;
};

/// Labels, centroids and inertia have the same bits with and without bounds and with any number of threads. The state
/// is saved after every iteration. If a checkpoint already holds iterations, the fit resumes from them and ignores
/// `start`.
template <class T>
LloydResult<T> lloyd(const LloydProblem& problem, const Matrix<T>& start, const Restart& restart = {});

/// Does what lloyd() does, for sparse points: lloyd() calls it. settings.bounds is ignored.
template <class T>
LloydResult<T> sparse_lloyd(const SparsePoints& points, const LloydProblem& problem, Matrix<T> centroids,
                            const Restart& restart);

/// The same under partial labels, label shares, size bounds and pairs of rows. The returned labels and objective belong
/// to the returned centroids, which are in the points' scalar type. Neither an assignment nor a move of the centroids
/// raises the inertia. settings.bounds is ignored. The state is saved by row.
template <class T>
LloydResult<T> constrained_lloyd(const LloydProblem& problem, const Matrix<double>& start,
                                 const Constraints& constraints, const Restart& restart);

/// Whether bounds make the fit faster for n points of d dimensions and k clusters.
bool bounds_pay(Index n, Index d, int k);

}  // namespace coterie::kmeans::internal
