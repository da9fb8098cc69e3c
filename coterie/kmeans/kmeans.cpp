// The entry point of k-means: chooses the iteration that a problem needs (with or without constraints), runs the
// restarts and fills the report. The two iterations differ only in their assignment step.

#include "coterie/kmeans/kmeans.hpp"

#include <string>

#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"
#include "coterie/kmeans/starting_prototypes.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {
namespace {

using kmeans::internal::LloydProblem;

SeedingOptions seeding_of(const KMeansOptions& options) {
    return {options.seeding, options.seeding_candidates, options.seeding_sample};
}

template <class T>
KMeansModel fit_constrained(const KMeansOptions& options, const internal::Constraints& constraints, const Run& run,
                            const Problem& problem) {
    const PointsView points = problem.points;
    const LloydProblem iterations{points, problem.weights, {options.max_iterations, options.tolerance, false}, run};
    internal::KeptFit kept(KMeansMethod::name, KMeansOptions::described().values(&options), problem, run, true);
    FitReport report;
    const int k = *options.clusters;
    const double& distinct = kept.distinct(k);
    const auto seeded = internal::starting_centroids<double>(points, k, seeding_of(options), problem, run, kept);
    auto best = internal::best_of(
        options.restarts, report, kept,
        [&](int restart) {
            return problem.initial_centroids.empty() && !constraints.labels.empty()
                       ? starting_prototypes(points, constraints, problem.weights, run,
                                             static_cast<std::uint64_t>(restart))
                       : seeded(restart);
        },
        [&](const Matrix<double>& start, const internal::Restart& restart) {
            return constrained_lloyd<T>(iterations, start, constraints, restart);
        });
    report.empty_cluster_policy = "an empty cluster keeps its centroid";
    report.details.push_back({"algorithm", std::string("constrained")});
    if (!best.optimal)
        report.warnings.push_back({.code = Code::not_optimal, .problem = std::string(internal::linked_too_densely)});
    internal::finish_report(report, points, best.labels, k, static_cast<Index>(distinct), run);
    return KMeansModel(Points(std::move(best.centroids)), std::move(best.labels), std::move(report), options,
                       constraints.cluster_labels());
}

template <class T>
KMeansModel fit_free(const KMeansOptions& options, const Run& run, const Problem& problem) {
    const PointsView points = problem.points;
    const int k = *options.clusters;
    LloydProblem iterations{points,
                            problem.weights,
                            {options.max_iterations, options.tolerance, options.algorithm == KMeansAlgorithm::bounds},
                            run};
    bool& bounds = iterations.settings.bounds;
    const bool sparse = as_sparse(points) != nullptr;
    if (sparse && bounds)
        throw BadArgument(Code::not_supported, "bounds is not available for sparse data", "Use auto or lloyd",
                          {.option = "algorithm", .value = "bounds", .accepted = "auto, lloyd"});
    if (options.algorithm == KMeansAlgorithm::automatic && !sparse)
        bounds = kmeans::internal::bounds_pay(points.rows(), points.columns(), k);
    internal::KeptFit kept(KMeansMethod::name, KMeansOptions::described().values(&options), problem, run);
    FitReport report;
    const double& distinct = kept.distinct(k);
    auto best = internal::best_of(
        options.restarts, report, kept,
        internal::starting_centroids<T>(points, k, seeding_of(options), problem, run, kept),
        [&](const Matrix<T>& start, const internal::Restart& restart) { return lloyd(iterations, start, restart); });
    const Points centroids(std::move(best.centroids));
    if (!best.labelled) best.labels = nearest_centroids(points, centroids, run.unstopped()).labels;
    report.empty_cluster_policy = "an empty cluster gets the row that adds most to the inertia";
    report.details.push_back({"algorithm", std::string(bounds ? "bounds" : "lloyd")});
    report.details.push_back({"distance_share", best.iterations > 0 ? best.distances_computed / best.iterations : 0.0});
    internal::finish_report(report, points, best.labels, k, static_cast<Index>(distinct), run);
    return KMeansModel(centroids, std::move(best.labels), std::move(report), options);
}

}  // namespace

const OptionSet& KMeansOptions::described() {
    using Options = KMeansOptions;
    static const OptionSet set =
        internal::describe_seeding(
            OptionSetFor<Options>()
                .integer("clusters", &Options::clusters, at_least(1), "number of clusters k",
                         "one per label of `partial_labels` (see `clusters_per_label`)")
                .letter('k')
                .integer("restarts", &Options::restarts, at_least(1),
                         "number of runs from different starting centroids; the run with the smallest inertia is kept")
                .integer("max_iterations", &Options::max_iterations, at_least(1),
                         "maximum number of iterations per run")
                .real(
                    "tolerance", &Options::tolerance, at_least(0),
                    "stop when the sum of the squared movements of the centroids is at most this number times the mean "
                    "of the columns' variances; 0: stop when no label changes"))
            .integer("seeding_sample", &Options::seeding_sample, at_least(1),
                     "number of rows on which the candidates of greedy k-means++ are compared",
                     "32768, or 128 per cluster if that is more")
            .choice("algorithm", &Options::algorithm, {"auto", "lloyd", "bounds"},
                    "how rows are assigned: lloyd computes all distances; bounds skips distances that cannot change a "
                    "label; auto: the faster one for this data size; the result is the same, bit for bit")
            .choice("share_rounding", &Options::share_rounding, {"floor", "nearest"},
                    "how a label's share of the rows becomes a whole number of rows: rounded down, or to the nearest");
    return set;
}

KMeansModel KMeansMethod::fit(const Problem& problem, const KMeansOptions& options, const Run& run) {
    const PointsView points = problem.points;
    const internal::Constraints constraints =
        internal::compile_constraints(points.rows(), options.clusters, problem, options.share_rounding);
    if (constraints.any() && as_sparse(points) != nullptr)
        throw BadArgument(Code::not_supported,
                          "constraints (labels, shares, sizes, pairs) are not available for sparse data",
                          "Leave the constraints out, or convert the data to a dense matrix",
                          {.option = !problem.partial_labels.empty() ? "partial_labels"
                                     : problem.sizes                 ? "sizes"
                                     : !problem.label_shares.empty() ? "label_share"
                                     : problem.must_links.empty()    ? "cannot_links"
                                                                     : "must_links"});
    KMeansOptions used = options;
    used.clusters = constraints.clusters();
    check_clustering_input(points, *used.clusters, problem.weights, run);
    internal::check_initial_centroids(problem.initial_centroids, points, *used.clusters, options.restarts, run);
    if (constraints.bounded && !problem.weights.empty())
        throw BadArgument(Code::conflict,
                          internal::filled("`weights` cannot be combined with {}, which counts rows instead of weights",
                                           problem.sizes ? "`sizes`" : "`label_share`"),
                          "Leave one out", {.option = "weights"});
    return points.with_scalar([&]<class T>() {
        return constraints.any() ? fit_constrained<T>(used, constraints, run, problem)
                                 : fit_free<T>(used, run, problem);
    });
}

}  // namespace coterie
