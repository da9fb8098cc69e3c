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

// Throws BadData with the row's number if the row has no direction.
template <class From, class T>
void scale_row(const From* row, Index columns, T* to, std::string_view option, Index number) {
    if (!internal::scale_to_unit(row, columns, to)) refuse_zero_row(option, number);
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
                scale_row(rows.row(i), rows.columns, out.data() + i * rows.columns, option, i);
        });
    });
    return Points(std::move(out));
}

// The same for points that are read in blocks.
Points unit_rows_read(const Points& points, std::string_view option) {
    return internal::derived_rows(points, points.columns(), [option](PointsView rows, Index first, void* to) {
        rows.visit([&]<class T>(const Rows<T>& from) {
            for (Index i = 0; i < from.rows; ++i)
                scale_row(from.row(i), from.columns, static_cast<T*>(to) + i * from.columns, option, first + i);
        });
    });
}

// Rows of length 1 in the scalar type of the model.
Points unit_points(PointsView points, ScalarType scalar, int threads) {
    return scalar == ScalarType::float32 ? unit_rows<float>(points, "points", threads)
                                         : unit_rows<double>(points, "points", threads);
}

}  // namespace

const OptionSet& SphericalKMeansOptions::described() {
    static const OptionSet set =
        OptionSetFor<SphericalKMeansOptions>()
            .integer("clusters", &SphericalKMeansOptions::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .integer("restarts", &SphericalKMeansOptions::restarts, at_least(1),
                     "number of runs from different starting centroids; the run with the smallest objective is kept")
            .integer("max_iterations", &SphericalKMeansOptions::max_iterations, at_least(1),
                     "maximum number of iterations per run")
            .real("tolerance", &SphericalKMeansOptions::tolerance, at_least(0),
                  "stop when the sum of the squared movements of the centroids is at most this number times the mean "
                  "of the columns' variances (of the scaled rows); 0: stop when no label changes")
            .choice("seeding", &SphericalKMeansOptions::seeding, {"auto", "kmeans++", "kmeans-parallel", "random"},
                    "starting centroids: kmeans++ (greedy k-means++), kmeans-parallel (k-means||) or random (rows "
                    "drawn at random); auto: kmeans-parallel from 1000 clusters on, else kmeans++")
            .integer("seeding_candidates", &SphericalKMeansOptions::seeding_candidates, between(1, 10000),
                     "number of candidates that each step of greedy k-means++ compares; 1 is plain k-means++",
                     "2 + 2 ln k");
    return set;
}

Labels SphericalKMeansModel::predict_checked(PointsView points, const Run& run) const {
    return CentroidModel::predict_checked(unit_points(points, centroids_.scalar(), run.threads), run);
}

Matrix<double> SphericalKMeansModel::output_checked(Output which, PointsView points, const Run& run) const {
    return CentroidModel::output_checked(which, unit_points(points, centroids_.scalar(), run.threads), run);
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
        int distinct = 0;
        internal::KeptFit kept(name, SphericalKMeansOptions::described().values(&options), problem, run);
        const kmeans::internal::LloydSettings settings{
            .max_iterations = options.max_iterations,
            .tolerance = options.tolerance,
            .bounds = kmeans::internal::bounds_pay(points.rows(), points.columns(), options.clusters),
            .unit_length = true};
        auto best = internal::best_of_restarts<T>(
            unit, {options.clusters, options.restarts, {options.seeding, options.seeding_candidates}}, scaled, run,
            report, distinct,
            [&](const Matrix<T>& start, int restart) {
                return kmeans::internal::lloyd(unit.view(), start, settings, problem.weights, run, restart,
                                               options.restarts, &kept);
            },
            &kept);
        Points centroids(std::move(best.centroids));
        if (!best.labelled) best.labels = nearest_centroids(unit, centroids, run.unstopped()).labels;
        report.seconds.insert(report.seconds.begin(), {"scaling", scaling_seconds});
        report.empty_cluster_policy = "an empty cluster gets the row that adds most to the objective";
        internal::finish_report(report, points, best.labels, options.clusters, distinct, run);
        return SphericalKMeansModel(std::move(centroids), std::move(best.labels), std::move(report), options);
    });
}

}  // namespace coterie
