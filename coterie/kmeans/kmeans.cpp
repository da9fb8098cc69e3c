#include "coterie/kmeans/kmeans.hpp"

#include <string>

#include "coterie/kmeans/lloyd.hpp"

namespace coterie {
namespace {

void check_initial_centroids(PointsView centroids, PointsView points, const KMeansOptions& options, int threads) {
    if (centroids.rows() != options.clusters || centroids.columns() != points.columns())
        throw BadArgument("initial centroids: " + std::to_string(centroids.rows()) + " x " +
                          std::to_string(centroids.columns()) + " given, " + std::to_string(options.clusters) + " x " +
                          std::to_string(points.columns()) + " needed (clusters x columns of the points)");
    if (options.restarts != 1)
        throw BadArgument(
            "option --restarts: with initial centroids every restart would be the same; it must be 1, not " +
            std::to_string(options.restarts));
    check_points(centroids, "initial centroids", threads);
}

template <class T>
KMeansModel fit(const Rows<T>& points, const KMeansOptions& options, Run& run, const SideInformation& side) {
    internal::LloydSettings settings{options.max_iterations, options.tolerance,
                                     options.algorithm == KMeansAlgorithm::bounds};
    if (options.algorithm == KMeansAlgorithm::automatic)
        settings.bounds = internal::bounds_pay(points.rows, points.columns, options.clusters);
    FitReport report;
    double seeding_seconds = 0;
    double iteration_seconds = 0;
    int distinct = options.clusters;
    std::vector<double> inertias;
    internal::LloydResult<T> best;
    int best_restart = -1;
    for (int restart = 0; restart < options.restarts; ++restart) {
        Stopwatch watch;
        Matrix<T> start;
        if (!side.initial_centroids.empty()) {
            start = to_matrix<T>(side.initial_centroids);
        } else {
            try {
                const SeedingResult seeds = seed_centroids(
                    points, options.clusters, {options.seeding, options.seeding_candidates, options.seeding_sample},
                    side.weights, static_cast<std::uint64_t>(restart), run);
                start = to_matrix<T>(seeds.centroids);
                distinct = seeds.distinct;
            } catch (const Cancelled&) {
                if (best_restart < 0) throw;
                best.stopped = StopReason::interrupted;  // an earlier restart has a result
                break;
            }
        }
        seeding_seconds += watch.restart();
        auto result = internal::lloyd(points, start, settings, side.weights, run, restart, options.restarts);
        iteration_seconds += watch.seconds();
        inertias.push_back(result.inertia);
        report.empty_clusters_repaired += result.empty_clusters_repaired;
        const bool interrupted = result.stopped == StopReason::interrupted;
        if (best_restart < 0 || result.inertia < best.inertia) {
            best = std::move(result);
            best_restart = restart;
        }
        if (interrupted) {
            best.stopped = StopReason::interrupted;
            break;
        }
    }
    report.points = points.rows;
    report.dimensions = points.columns;
    count_clusters(report, best.labels, options.clusters);
    report.objective = best.inertia;
    report.objective_per_iteration = std::move(best.inertia_per_iteration);
    report.iterations = best.iterations;
    report.stopped = best.stopped;
    report.empty_cluster_policy = "an empty cluster takes the point that adds most to the inertia";
    report.seconds = {{"seeding", seeding_seconds}, {"iterations", iteration_seconds}};
    report.seed = run.seed;
    report.threads = run.threads;
    if (distinct < options.clusters)
        report.warnings.push_back("the points have only " + std::to_string(distinct) +
                                  " distinct rows: " + std::to_string(options.clusters - distinct) + " of " +
                                  std::to_string(options.clusters) + " clusters are empty");
    else if (report.clusters_found < options.clusters)
        report.warnings.push_back(std::to_string(options.clusters - report.clusters_found) + " of " +
                                  std::to_string(options.clusters) + " clusters are empty");
    report.details = {{"algorithm", std::string(settings.bounds ? "bounds" : "lloyd")},
                      {"distance_share", best.iterations > 0 ? best.distances_computed / best.iterations : 0.0},
                      {"best_restart", static_cast<std::int64_t>(best_restart)},
                      {"inertia_per_restart", inertias}};
    return KMeansModel(Points(std::move(best.centroids)), std::move(best.labels), std::move(report), options);
}

}  // namespace

const OptionSet& KMeansOptions::described() {
    static const OptionSet set =
        OptionSetFor<KMeansOptions>()
            .integer("clusters", &KMeansOptions::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .integer("restarts", &KMeansOptions::restarts, at_least(1),
                     "runs from different seedings; the one of least inertia is kept")
            .integer("max_iterations", &KMeansOptions::max_iterations, at_least(1), "iterations a restart at most")
            .real("tolerance", &KMeansOptions::tolerance, at_least(0),
                  "stop when the centroids' summed squared movement is at most this many mean column variances; 0: "
                  "when no label changes")
            .choice("seeding", &KMeansOptions::seeding, {"auto", "kmeans++", "kmeans-parallel", "random"},
                    "starting centroids: greedy k-means++, k-means|| (auto: from 1000 clusters on), or random rows")
            .integer("seeding_candidates", &KMeansOptions::seeding_candidates, at_least(0),
                     "candidates a step of greedy k-means++; 0 chooses 2 + 2 ln k, 1 is plain k-means++")
            .integer("seeding_sample", &KMeansOptions::seeding_sample, at_least(0),
                     "points on which the candidates are compared; 0 chooses 32768, or 128 a cluster when that is more")
            .choice("algorithm", &KMeansOptions::algorithm, {"auto", "lloyd", "bounds"},
                    "how assignments are computed; the result is the same bit for bit");
    return set;
}

void KMeansModel::store(Archive& archive) const {
    archive.set_options(KMeansOptions::described().values(&options_));
    store_centroids(archive);
}

KMeansModel KMeansModel::from(const Archive& archive) {
    KMeansModel model;
    model.options_ = archive.options_as<KMeansOptions>();
    model.load_centroids(archive);
    if (model.clusters() != model.options_.clusters)
        throw BadData("model: " + std::to_string(model.clusters()) + " centroids for " +
                      std::to_string(model.options_.clusters) + " clusters");
    return model;
}

KMeansModel fit_kmeans(PointsView points, const KMeansOptions& options, Run& run, const SideInformation& side) {
    check_options(options);
    check_clustering_input(points, options.clusters, side.weights, run.threads);
    if (!side.initial_centroids.empty()) check_initial_centroids(side.initial_centroids, points, options, run.threads);
    return points.visit([&](const auto& rows) { return fit(rows, options, run, side); });
}

}  // namespace coterie
