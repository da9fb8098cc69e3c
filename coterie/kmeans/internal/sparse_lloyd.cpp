// Lloyd's iterations on the stored entries of the rows. Each computes all distances, and the sums of clusters from
// scratch. Distance bounds would not help: in many columns, they exclude few centroids, and they cost as much time per
// row as several entries.
//
// Invariants: labels, centroids and figures do not depend on threads. They equal those for dense points up to rounding;
// the stopping rule and the repair of empty clusters are the same.

#include <algorithm>
#include <limits>

#include "coterie/kmeans/internal/lloyd.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie::kmeans::internal {

namespace {

// The mean of n equal points differs from them by the rounding of n additions. Such a difference counts as 0.
double rounding_of_mean(const SparsePoints& points) { return 0x1.0p-53 * static_cast<double>(points.rows()); }

// w_i ||x_i - c_{a_i}||^2 of each row; 0 if the distance is no larger than rounding errors.
template <class T>
std::vector<double> costs_of_rows(const SparsePoints& points, const Labels& labels, const Matrix<T>& centroids,
                                  std::span<const double> weights) {
    const Index d = points.columns();
    std::vector<double> norms;
    for (Index j = 0; j < centroids.rows(); ++j) norms.push_back(squared_norm(centroids.data() + j * d, d));
    const double rounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) + rounding_of_mean(points);
    std::vector<double> cost(labels.size());
    for (Index i = 0; i < points.rows(); ++i) {
        const SparseRow<T> row = points.row<T>(i);
        const auto label = static_cast<Index>(labels[at(i)]);
        const double squared = squared_distance(row, centroids.data() + label * d, norms[at(label)]);
        if (squared > rounding * rounding * squared_norm(row.values, row.count))
            cost[at(i)] = weight_of(weights, i) * squared;
    }
    return cost;
}

struct Step {
    double movement;   // sum_j || movement of c_j ||^2
    double objective;  // after the movement
};

// Moves the centroids to the means of their clusters; for unit length, to the directions of the sums.
template <class T>
Step move_centroids(const ClusterSums& found, const Spread& spread, const LloydSettings& settings, Matrix<T>& centroids,
                    const Run& run) {
    const Index k = centroids.rows(), d = centroids.cols();
    std::vector<double> moved(at(k), 0.0);
    // What cluster j subtracts from the scatter about m, the mean of all points: w_j ||m_j - m||^2. For unit length:
    // what it subtracts from the total weight, || s_j ||.
    std::vector<double> between(at(k), 0.0);
    for_each_block(k, threads_for(8.0 * static_cast<double>(d) * static_cast<double>(k), run.threads),
                   [&](Index j, int) {
                       const double w = found.mass[at(j)];
                       const double divisor = settings.unit_length ? found.sums.row(j).norm() : w;
                       if (!(w > 0) || !(divisor > 0)) return;  // empty, or its rows cancel out: it keeps its centroid
                       if (settings.unit_length) between[at(j)] = divisor;
                       for (Index p = 0; p < d; ++p) {
                           const double mean = found.sums(j, p) / divisor;
                           const auto rounded = static_cast<T>(mean);
                           const double way = static_cast<double>(rounded) - static_cast<double>(centroids(j, p));
                           moved[at(j)] += way * way;
                           if (!settings.unit_length)
                               between[at(j)] += w * (mean - spread.mean[p]) * (mean - spread.mean[p]);
                           centroids(j, p) = rounded;
                       }
                   });
    const double scatter = spread.mean_variance * static_cast<double>(d) * spread.total_weight;
    Step out{0, settings.unit_length ? spread.total_weight : scatter};
    for (Index j = 0; j < k; ++j) {
        out.movement += moved[at(j)];
        out.objective -= between[at(j)];
    }
    return out;
}

}  // namespace

template <class T>
LloydResult<T> sparse_lloyd(const SparsePoints& points, const LloydProblem& problem, Matrix<T> centroids,
                            const Restart& restart) {
    const auto& [view, weights, settings, run] = problem;
    LloydResult<T> out;
    if (const Archive* from = restart.found()) {
        centroids = to_matrix<T>(from->points("centroids", -1, points.columns()));
        out.objectives = from->vector("objectives");
        out.iterations = static_cast<int>(out.objectives.size());
        out.repaired = static_cast<int>(from->vector("repaired", 1)[0]);
    }
    const auto k = static_cast<int>(centroids.rows());
    const Spread spread = spread_of(view, weights, run);
    const double unit = rounding_of_mean(points);
    const double threshold = std::max(settings.tolerance * spread.mean_variance,
                                      unit * unit * centroids.template cast<double>().squaredNorm());
    while (out.iterations < settings.max_iterations && out.stopped != StopReason::converged) {
        const Matrix<T> begun_with = centroids;
        const int repaired = out.repaired;
        Labels labels;
        ClusterSums found;
        try {
            run.throw_if_stopped("iterations");
            labels = nearest_centroids(view, centroids, run).labels;
            out.repaired += fill_empty_clusters(
                labels, k, weights, {0, points.rows()},
                [&] { return costs_of_rows(points, labels, centroids, weights); }, run.communicator());
            found = cluster_sums(view, labels, k, weights, run);
        } catch (const Cancelled&) {
            if (out.iterations == 0) throw;
            out.stopped = StopReason::interrupted;
            break;
        }
        const Step step = move_centroids(found, spread, settings, centroids, run);
        const bool settled = labels == out.labels || step.movement <= threshold;
        out.labels = std::move(labels);
        ++out.iterations;
        out.objectives.push_back(std::max(0.0, step.objective));
        restart.report(run, out.iterations, settings.max_iterations, out.objectives.back());
        if (settled) out.stopped = StopReason::converged;
        if (restart.kept != nullptr)
            restart.kept->after_iteration(
                [&](Archive& archive) {  // the state before this iteration: a resumed fit repeats it
                    archive.set_points("centroids", begun_with);
                    archive.set_vector("objectives", std::span(out.objectives).first(out.objectives.size() - 1));
                    archive.set_vector("repaired", as_doubles(repaired));
                });
    }
    out.distances_computed = out.iterations;
    out.labelled = true;
    if (out.stopped == StopReason::interrupted && !out.labels.empty()) {  // an interrupted fit makes no further pass
        out.objective = out.objectives.back();
    } else {
        auto last = nearest_centroids(view, centroids, run.unstopped(), NearestWants::inertia, weights);
        out.labels = std::move(last.labels);
        out.objective = settings.unit_length ? last.inertia / 2 : last.inertia;
    }
    out.centroids = std::move(centroids);
    return out;
}

template LloydResult<float> sparse_lloyd(const SparsePoints&, const LloydProblem&, Matrix<float>, const Restart&);
template LloydResult<double> sparse_lloyd(const SparsePoints&, const LloydProblem&, Matrix<double>, const Restart&);

}  // namespace coterie::kmeans::internal
