// The kernel form of a method is the method itself on kernel principal components; only the space knows the difference.
// Columns are relative to the mean, or unchanged if a method asks for it. k-means in a space can be stopped but reports
// no progress, because it is part of another fit.

#include "coterie/deformation/point_space.hpp"

#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {

PointSpace::PointSpace(PointsView points, SpaceOptions& options, Origin origin, std::string_view method,
                       const Run& run) {
    const ColumnMoments moments = column_moments(points, run);
    const double radius = std::sqrt(moments.variance.sum());
    if (!(radius > 0))
        throw BadData(Code::constant_column, "all rows are equal, so " + std::string(method) + " cannot separate them",
                      "", {.option = "points"});
    if (options.kernel == SpaceKernel::rbf) {
        if (!options.kernel_width) options.kernel_width = radius;
        kernel_pca_.emplace(points, *options.kernel_width, options.components, options.landmarks_for(points.rows()),
                            run);
        if (kernel_pca_->components() == 0)
            throw BadArgument(
                Code::not_accepted,
                to_text(*options.kernel_width) + " is so large that all kernel values are equal up to rounding",
                "Use a value well below " + to_text(1e8 * radius) +
                    ", 1e8 times the root mean square distance of the rows from their mean",
                {.option = "kernel_width",
                 .value = to_text(*options.kernel_width),
                 .accepted = "well below " + to_text(1e8 * radius)});
        origin_ = Vector<double>::Zero(kernel_pca_->components());
    } else {
        require_memory(
            4.0 * sizeof(double) * static_cast<double>(points.rows()) * static_cast<double>(points.columns()),
            std::string(method) + " of " + counted(points.rows(), "row") + " and " +
                counted(points.columns(), "column"));
        origin_ = origin == Origin::mean ? moments.mean : Vector<double>(Vector<double>::Zero(points.columns()));
    }
}

Matrix<double> PointSpace::shifted(PointsView points) const { return deformation::internal::less(points, origin_); }

void PointSpace::parts(Parts& parts, SpaceKernel kernel) {
    if (kernel == SpaceKernel::rbf) {
        if (parts.reading()) kernel_pca_.emplace();
        kernel_pca_->parts(parts);
    }
    parts.add("origin", origin_, "p", "the values subtracted from every row in the space");
}

namespace internal {

std::shared_ptr<const FittedSpace> SpaceFits::enter(SpaceOptions& options, int clusters, PointSpace::Origin origin,
                                                    FitReport& report, Stopwatch& watch) const {
    check_clustering_input(points_, clusters, {}, run_);
    check_initial_centroids(problem_.initial_centroids, points_, clusters, 1, run_);
    const auto fitted = space_({options, origin}, [&] {
        SpaceOptions used = options;
        const auto space = std::make_shared<const PointSpace>(points_, used, origin, method_, run_);
        const auto points = std::make_shared<const Matrix<double>>(space->fitted(points_));
        return std::shared_ptr<const FittedSpace>(new FittedSpace{space, points, used});
    });
    options.kernel_width = fitted->options.kernel_width;
    if (options.kernel == SpaceKernel::rbf) report.seconds.emplace_back("kernel PCA", watch.restart());
    return fitted;
}

void FittedSpace::report_to(FitReport& report) const {
    if (options.kernel != SpaceKernel::rbf) return;
    report.details.emplace_back("kernel_width", *options.kernel_width);
    report.details.emplace_back("components", static_cast<std::int64_t>(space->dimensions()));
}

std::shared_ptr<const KMeansModel> SpaceFits::start(const FittedSpace& in, int clusters, int restarts) const {
    return in.start({clusters, restarts}, [&] {
        const Matrix<double> given = given_start(in, *in.points, [](const Matrix<double>& rows) { return rows; });
        return std::make_shared<const KMeansModel>(cluster(*in.points, clusters, restarts, run_, &given));
    });
}

Matrix<double> SpaceFits::given_start(const FittedSpace& in, const Matrix<double>& rows,
                                      FunctionRef<Matrix<double>(const Matrix<double>&)> place) const {
    if (problem_.initial_centroids.empty()) return {};
    const Labels labels =
        nearest_centroids(to_matrix<double>(points_), to_matrix<double>(problem_.initial_centroids), run_.threads)
            .labels;
    return means_of(rows, labels, place(in.space->transform(problem_.initial_centroids, run_)), run_.threads);
}

KMeansModel cluster(const Matrix<double>& rows, int clusters, int restarts, const Run& run,
                    const Matrix<double>* start) {
    const bool given = start != nullptr && start->size() > 0;
    KMeansOptions options;
    options.clusters = clusters;
    options.restarts = given ? 1 : restarts;
    Run quiet(run.seed, run.threads);
    quiet.should_stop = run.should_stop;
    Problem problem{.points = Points::borrow(rows)};
    if (given) problem.initial_centroids = Points::borrow(*start);
    return fit_kmeans(problem, options, quiet);
}

}  // namespace internal
}  // namespace coterie
