// k-means of rows scaled to length 1, with centroids scaled back to length 1 (Dhillon and Modha 2001). For unit vectors
// the nearest centroid is the one of largest cosine, so the iterations of k-means apply, also those with distance
// bounds. Rows read from files are scaled as they are read.

#include "coterie/kmeans/spherical_kmeans.hpp"

#include <string>

#include "coterie/base/derived_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {
namespace {

[[noreturn]] void refuse_zero_row(std::string_view option, Index number) {
    throw BadData(Code::zero_row, "all values are 0, so the row has no direction", "Leave the row out",
                  {.option = std::string(option), .row = number + 1});
}

template <class T>
Points unit_rows(PointsView points, std::string_view option, int threads) {
    if (const SparsePoints* sparse = as_sparse(points)) {
        std::vector<Index> zeros;
        SparsePoints scaled = internal::unit_rows(internal::values_as<T>(*sparse), threads, zeros);
        if (!zeros.empty()) refuse_zero_row(option, zeros.front());
        return Points(std::make_shared<const SparsePoints>(std::move(scaled)));
    }
    require_memory(static_cast<double>(points.rows()) * static_cast<double>(points.columns()) * sizeof(T),
                   "scaling rows to length 1");
    Matrix<T> out(points.rows(), points.columns());
    const RowBlocks blocks{points.rows(), 1024};
    points.visit([&](const auto& rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                if (!internal::scale_to_unit(rows.row(i), rows.columns, out.data() + i * rows.columns))
                    refuse_zero_row(option, i);
        });
    });
    return Points(std::move(out));
}

// The same for points that are read in blocks.
Points unit_rows_read(const Points& points, std::string_view option) {
    return internal::derived_rows(points, points.columns(), [option](PointsView rows, Index first, void* to) {
        rows.visit([&]<class T>(const Rows<T>& from) {
            for (Index i = 0; i < from.rows; ++i)
                if (!internal::scale_to_unit(from.row(i), from.columns, static_cast<T*>(to) + i * from.columns))
                    refuse_zero_row(option, first + i);
        });
    });
}

}  // namespace

const OptionSet& SphericalKMeansOptions::described() {
    using Options = SphericalKMeansOptions;
    static const OptionSet set = internal::describe_seeding(
        OptionSetFor<Options>()
            .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs from different starting centroids; the run with the smallest objective is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1), "maximum number of iterations per run")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when the sum of the squared movements of the centroids is at most this number times the mean "
                  "of the columns' variances (of the scaled rows); 0: stop when no label changes"));
    return set;
}

Points SphericalKMeansModel::unit_points(PointsView points, const Run& run) const {
    return centroids_.view().with_scalar([&]<class T>() { return unit_rows<T>(points, "points", run.threads); });
}

SphericalKMeansModel SphericalKMeansMethod::fit(const Problem& problem, const SphericalKMeansOptions& options,
                                                const Run& run) {
    const PointsView points = problem.points;
    check_clustering_input(points, options.clusters, problem.weights, run);
    internal::check_initial_centroids(problem.initial_centroids, points, options.clusters, options.restarts, run);
    return points.with_scalar([&]<class T>() {
        Stopwatch watch;
        const Points unit = points.resident() || as_sparse(points) != nullptr
                                ? unit_rows<T>(points, "points", run.threads)
                                : unit_rows_read(problem.points, "points");
        Problem scaled = problem;
        if (!problem.initial_centroids.empty())
            scaled.initial_centroids = unit_rows<T>(problem.initial_centroids, "initial_centroids", run.threads);
        const double scaling_seconds = watch.seconds();
        FitReport report;
        internal::KeptFit kept(name, SphericalKMeansOptions::described().values(&options), problem, run);
        const double& distinct = kept.distinct(options.clusters);
        const kmeans::internal::LloydProblem iterations{
            unit,
            problem.weights,
            {.max_iterations = options.max_iterations,
             .tolerance = options.tolerance,
             .bounds = kmeans::internal::bounds_pay(points.rows(), points.columns(), options.clusters),
             .unit_length = true},
            run};
        auto best = internal::best_of(
            options.restarts, report, kept,
            internal::starting_centroids<T>(unit, options.clusters, {options.seeding, options.seeding_candidates},
                                            scaled, run, kept),
            [&](const Matrix<T>& start, const internal::Restart& restart) {
                return kmeans::internal::lloyd(iterations, start, restart);
            });
        Points centroids(std::move(best.centroids));
        if (!best.labelled) best.labels = nearest_centroids(unit, centroids, run.unstopped()).labels;
        report.seconds.insert(report.seconds.begin(), {"scaling", scaling_seconds});
        report.empty_cluster_policy = "an empty cluster gets the row that adds most to the objective";
        internal::finish_report(report, points, best.labels, options.clusters, static_cast<Index>(distinct), run);
        return SphericalKMeansModel(std::move(centroids), std::move(best.labels), std::move(report), options);
    });
}

}  // namespace coterie
