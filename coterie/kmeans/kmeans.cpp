#include "coterie/kmeans/kmeans.hpp"

#include <string>

#include "coterie/kmeans/lloyd.hpp"

namespace coterie {
namespace {

template <class T>
KMeansModel fit(const Rows<T>& points, const KMeansOptions& options, Run& run, const SideInformation& side) {
    internal::LloydSettings settings{options.max_iterations, options.tolerance,
                                     options.algorithm == KMeansAlgorithm::bounds};
    if (options.algorithm == KMeansAlgorithm::automatic)
        settings.bounds = internal::bounds_pay(points.rows, points.columns, options.clusters);
    FitReport report;
    int distinct = 0;
    auto best = internal::best_of_restarts(
        points,
        {options.clusters, options.restarts, {options.seeding, options.seeding_candidates, options.seeding_sample}},
        side, run, report, distinct, [&](const Matrix<T>& start, int restart) {
            return internal::lloyd(points, start, settings, side.weights, run, restart, options.restarts);
        });
    report.empty_cluster_policy = "an empty cluster takes the point that adds most to the inertia";
    report.details.push_back({"algorithm", std::string(settings.bounds ? "bounds" : "lloyd")});
    report.details.push_back({"distance_share", best.iterations > 0 ? best.distances_computed / best.iterations : 0.0});
    internal::finish_report(report, points, best.labels, options.clusters, distinct, run);
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
            .integer("seeding_candidates", &KMeansOptions::seeding_candidates, between(0, 10000),
                     "candidates a step of greedy k-means++; 0 chooses 2 + 2 ln k, 1 is plain k-means++")
            .integer("seeding_sample", &KMeansOptions::seeding_sample, at_least(0),
                     "points on which the candidates are compared; 0 chooses 32768, or 128 a cluster when that is more")
            .choice("algorithm", &KMeansOptions::algorithm, {"auto", "lloyd", "bounds"},
                    "how assignments are computed; the result is the same bit for bit");
    return set;
}

KMeansModel fit_kmeans(PointsView points, const KMeansOptions& options, Run& run, const SideInformation& side) {
    check_options(options);
    check_clustering_input(points, options.clusters, side.weights, run);
    internal::check_initial_centroids(side.initial_centroids, points, options.clusters, options.restarts, run.threads);
    return points.visit([&](const auto& rows) { return fit(rows, options, run, side); });
}

}  // namespace coterie
