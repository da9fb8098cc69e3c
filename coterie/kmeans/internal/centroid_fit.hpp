#pragma once
// Internal: what the fits of centroid models share: starting centroids, restarts, sums over clusters, the report.

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "coterie/base/parallel.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/report.hpp"
#include "coterie/base/run.hpp"
#include "coterie/kmeans/seeding.hpp"

namespace coterie::internal {

/// None, or k x d, finite, and restarts 1; BadArgument or BadData otherwise.
void check_initial_centroids(PointsView centroids, PointsView points, int clusters, int restarts, const Run& run);

/// Weighted mean of the points and the mean over columns of their variances.
struct Spread {
    Vector<double> mean;
    double mean_variance = 0;
    double total_weight = 0;
};
Spread spread_of(PointsView points, std::span<const double> weights, const Run& run);

/// sum_i w_i x_i and sum_i w_i over the rows of each label; `labels` are those of this process' rows.
struct ClusterSums {
    Matrix<double> sums;
    std::vector<double> mass;
};
ClusterSums cluster_sums(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                         const Run& run);

/// A row and what it costs where it is.
struct Costly {
    double cost;
    Index row;  // among all
    std::int32_t label;
};
/// The `wanted` rows of all processes that cost most, the most costly first, then the lowest. `cost` and `labels` are
/// those of this process' rows, of which `first` is the first.
std::vector<Costly> costliest(const std::vector<double>& cost, const Labels& labels, Index first, std::size_t wanted,
                              Communicator& communicator);

/// Means of the points of each cluster; an empty cluster keeps its row of `before`.
Matrix<double> means_of(const Matrix<double>& points, const Labels& labels, const Matrix<double>& before, int threads);

/// One restart's end.
template <class T>
struct Fitted {
    Matrix<T> centroids;
    double objective = 0;
    std::vector<double> objectives;
    int iterations = 0;
    int repaired = 0;
    StopReason stopped = StopReason::iteration_limit;
};

struct RestartSettings {
    int clusters = 1;
    int restarts = 1;
    SeedingOptions seeding;
};

/// Calls iterate(start(restart), restart) for every restart and keeps the result of least objective, the first among
/// equals. A result has what Fitted has beside centroids. Adds the report's objective, iterations, stopped, seconds and
/// details. Cancelled when the caller stops before there is a result.
template <class Start, class Iterate>
auto best_of(int restarts, FitReport& report, Start&& start, Iterate&& iterate) {
    using Result = std::invoke_result_t<Iterate&, std::invoke_result_t<Start&, int>, int>;
    Result best;
    int best_restart = -1;
    double seeding_seconds = 0;
    double iteration_seconds = 0;
    std::vector<double> objectives;
    Stopwatch watch;
    for (int restart = 0; restart < restarts; ++restart) {
        std::optional<Result> found;
        try {
            auto from = start(restart);
            seeding_seconds += watch.restart();
            found = iterate(std::move(from), restart);
            iteration_seconds += watch.restart();
        } catch (const Cancelled&) {
            if (best_restart < 0) throw;
            best.stopped = StopReason::interrupted;  // an earlier restart has a result
            break;
        }
        Result& result = *found;
        objectives.push_back(result.objective);
        report.empty_clusters_repaired += result.repaired;
        const bool interrupted = result.stopped == StopReason::interrupted;
        if (best_restart < 0 || result.objective < best.objective) {
            best = std::move(result);
            best_restart = restart;
        }
        if (interrupted) {
            best.stopped = StopReason::interrupted;
            break;
        }
    }
    report.objective = best.objective;
    report.objective_per_iteration = best.objectives;
    report.iterations = best.iterations;
    report.stopped = best.stopped;
    report.seconds.emplace_back("seeding", seeding_seconds);
    report.seconds.emplace_back("iterations", iteration_seconds);
    report.details.emplace_back("best_restart", static_cast<std::int64_t>(best_restart));
    report.details.emplace_back("objective_per_restart", objectives);
    return best;
}

/// The same from centroids: those given, or seeded. `distinct` receives the distinct starting rows of the last seeding.
template <class T, class Iterate>
auto best_of_restarts(PointsView points, const RestartSettings& settings, const Problem& problem, const Run& run,
                      FitReport& report, int& distinct, Iterate&& iterate) {
    distinct = settings.clusters;
    const auto start = [&](int restart) -> Matrix<T> {
        if (!problem.initial_centroids.empty()) return to_matrix<T>(problem.initial_centroids);
        const SeedingResult seeds = seed_centroids(points, settings.clusters, settings.seeding, problem.weights,
                                                   static_cast<std::uint64_t>(restart), run);
        distinct = seeds.distinct;
        return to_matrix<T>(seeds.centroids);
    };
    return best_of(settings.restarts, report, start, iterate);
}

/// Sizes, seed, threads, and the warnings about empty clusters.
void finish_report(FitReport& report, PointsView points, const Labels& labels, int clusters, Index distinct,
                   const Run& run);

}  // namespace coterie::internal
