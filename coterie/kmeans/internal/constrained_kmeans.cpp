// Lloyd's iterations with an exact assignment under constraints instead of the nearest centroid. Both steps minimise
// the objective, so it never rises, and the iteration ends when labels repeat. Centroids are rounded to the model's
// scalar type before the assignment, so the labels belong to the saved centroids.
//
// A checkpoint is written as soon as the sums belong to the last labels, because everything later follows from this
// state.

#include "coterie/constraints/constrained_assignment.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"
#include "coterie/kmeans/moving_sums.hpp"

namespace coterie::kmeans::internal {

template <class T>
LloydResult<T> constrained_lloyd(const LloydProblem& problem, const Matrix<double>& start,
                                 const Constraints& constraints, const Restart& restart) {
    const auto& [points, weights, settings, run] = problem;
    const Spread spread = spread_of(points, weights, run);
    const double threshold = settings.tolerance * spread.mean_variance;
    std::vector<double> prices;
    const auto assign = [&](const Matrix<double>& centroids) {
        return assign_hard(points, PrototypeDistances(centroids, spread.mean, {}), constraints, weights, prices, run);
    };
    LloydResult<T> out;
    MovingSums sums(points, constraints.clusters(), weights, run);
    Matrix<double> centroids;
    HardAssignment assignment;
    const Archive* from = restart.found();
    if (from != nullptr) {
        centroids = to_matrix<double>(from->points("centroids", constraints.clusters(), points.columns()));
        prices = from->vector("prices");
        out.objectives = from->vector("objectives");
        out.iterations = static_cast<int>(out.objectives.size());
        sums.load(*from);
        const auto figures = from->vector("assignment", 2);
        assignment = {sums.labels(), figures[0], figures[1] != 0};
    } else {
        centroids = start.template cast<T>().template cast<double>();
        assignment = assign(centroids);
    }
    while (out.iterations < settings.max_iterations) {
        if (from == nullptr && sums.assign(assignment.labels) == 0) {
            out.stopped = StopReason::converged;
            break;
        }
        from = nullptr;
        const std::vector<double> prices_before = prices;
        const auto keep = [&](bool now) {
            restart.kept->at_iteration(now, [&](Archive* archive) {
                sums.store(archive);
                if (archive == nullptr) return;
                archive->set_points("centroids", centroids);
                archive->set_vector("prices", prices_before);
                archive->set_vector("objectives", out.objectives);
                archive->set_vector("assignment", as_doubles(assignment.objective, assignment.optimal));
            });
        };
        const bool stop = run.stop_requested();
        keep(stop);
        if (stop) {
            out.stopped = StopReason::interrupted;
            break;
        }
        // Rounded to the model's scalar type, so that the labels belong to the saved centroids.
        const Matrix<double> moved = sums.means(centroids).template cast<T>().template cast<double>();
        const double movement = (moved - centroids).squaredNorm();
        try {
            assignment = assign(moved);
        } catch (const Cancelled&) {  // interrupted during an assignment: the previous one is the result
            out.stopped = StopReason::interrupted;
            keep(true);
            break;
        }
        centroids = moved;
        ++out.iterations;
        out.objectives.push_back(assignment.objective);
        restart.report(run, out.iterations, settings.max_iterations, assignment.objective);
        if (movement <= threshold) {
            out.stopped = StopReason::converged;
            break;
        }
    }
    out.centroids = centroids.template cast<T>();
    out.labels = std::move(assignment.labels);
    out.labelled = true;
    out.optimal = assignment.optimal;
    out.objective = assignment.objective;
    out.distances_computed = out.iterations;
    return out;
}

template LloydResult<float> constrained_lloyd(const LloydProblem&, const Matrix<double>&, const Constraints&,
                                              const Restart&);
template LloydResult<double> constrained_lloyd(const LloydProblem&, const Matrix<double>&, const Constraints&,
                                               const Restart&);

}  // namespace coterie::kmeans::internal
