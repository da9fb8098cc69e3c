// Each round is a weighted principal component analysis. Its result is the global minimum of an upper bound that
// touches J, so no step length is needed. For lengths below e, J uses their squares; this keeps weights finite if a
// point lies in the subspace.

#include "coterie/deformation/rpca_om.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie {
namespace {

struct Subspace {
    Vector<double> mean;        // b
    Matrix<double> axes;        // U, q x p
    Vector<double> residuals;   // r_i
    double squared_length = 0;  // sum || x_i - b ||^2
};

// The subspace with the least sum of weighted squared lengths: the minimum of the upper bound of J.
Subspace weighted_subspace(const Matrix<double>& x, const Vector<double>& weights, int dimensions, int threads) {
    Subspace out;
    const double total = weights.sum();
    out.mean = x.transpose() * weights / total;
    const Matrix<double> centred = x.rowwise() - out.mean.transpose();
    const Vector<double> roots = (weights / total).cwiseSqrt();
    const Matrix<double> weighted = roots.asDiagonal() * centred;
    const Matrix<double> covariance = internal::transposed_by(weighted, weighted, threads);
    out.axes = smallest_symmetric_eigen(Matrix<double>(-covariance), dimensions).vectors;
    // Uses the differences: || x - b ||^2 - || U'(x - b) ||^2 would lose small residuals to rounding.
    const Matrix<double> inside = deformation::internal::product(centred, out.axes, threads);
    out.residuals = (centred - internal::rows_by_rows(inside, out.axes, threads)).rowwise().norm();
    out.squared_length = centred.squaredNorm();
    return out;
}

}  // namespace

const OptionSet& RpcaOmOptions::described() {
    using Options = RpcaOmOptions;
    static const OptionSet set =
        describe_space(OptionSetFor<Options>()
                           .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
                           .letter('k')
                           .integer("dimensions", &Options::dimensions, at_least(1),
                                    "number of dimensions of the subspace",
                                    "k - 1, or all dimensions if there are fewer"))
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs of k-means in the subspace; the best run is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1), "maximum number of rounds")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when a round lowers the objective by at most this fraction");
    return set;
}

RpcaOmModel RpcaOmFits::fit(const RpcaOmOptions& options) const {
    const Run& run = this->run();

    RpcaOmModel model;
    model.options_ = options;
    RpcaOmOptions& used = model.options_;
    FitReport& report = model.report_;
    Stopwatch watch;
    const auto space = enter(used, options.clusters, PointSpace::Origin::mean, report, watch);
    model.space_ = space->space;
    const bool kernel = options.kernel == SpaceKernel::rbf;
    used.dimensions = internal::dimensions_of(options.dimensions, options.clusters, space->points->cols(),
                                              kernel ? "the kernel components of the data" : "the columns of the data");
    // With more columns than rows, the subspace lies in the space of the rows and is computed there.
    std::optional<deformation::internal::RowSpace> rows;
    if (space->points->rows() < space->points->cols() && *used.dimensions <= space->points->rows())
        rows = deformation::internal::row_space(*space->points);
    const Matrix<double>& x = rows ? rows->coordinates : *space->points;

    const auto n = static_cast<double>(x.rows());
    const double shortest = 1e-8 * std::sqrt(x.squaredNorm() / n);  // e
    Vector<double> weights = Vector<double>::Ones(x.rows());
    Subspace found;
    report.stopped = StopReason::iteration_limit;
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < options.max_iterations; ++round) {
        if (internal::stopped_between_iterations(report, "re-weighting", run)) break;
        found = weighted_subspace(x, weights, *used.dimensions, run.threads);
        double objective = 0;
        for (const double r : found.residuals) objective += r >= shortest ? r : 0.5 * (r * r / shortest + shortest);
        internal::add_iteration(report, objective, options.max_iterations, "re-weighting", run);
        if (before - report.objective <= options.tolerance * report.objective) {
            report.stopped = StopReason::converged;
            break;
        }
        before = report.objective;
        weights = (0.5 / found.residuals.array().max(shortest)).matrix();
    }
    report.seconds.emplace_back("re-weighting", watch.restart());

    model.directions_ = rows ? deformation::internal::product(rows->axes, found.axes, run.threads) : found.axes;
    model.offset_ = found.axes.transpose() * found.mean;
    const Matrix<double> inside = model.projected(*space->points, run.threads);
    const Matrix<double> given =
        given_start(*space, inside, [&](const Matrix<double>& later) { return model.projected(later, run.threads); });
    const auto clustered = [&] {
        if (report.stopped != StopReason::interrupted) try {
                return internal::cluster(inside, options.clusters, options.restarts, run, &given);
            } catch (const Cancelled&) {
            }
        // An interrupted fit still gets clusters for its subspace, from one quick k-means iteration.
        report.stopped = StopReason::interrupted;
        KMeansOptions quick;
        quick.clusters = options.clusters;
        quick.restarts = quick.max_iterations = 1;
        quick.seeding = Seeding::random;
        return fit_kmeans(PointsView(inside), quick, Run(run.seed, run.threads));
    };
    const KMeansModel clusters = clustered();
    if (clusters.fit_report().stopped == StopReason::interrupted) report.stopped = StopReason::interrupted;
    model.centroids_ = to_matrix<double>(clusters.centroids());
    model.labels_ = model.predict_checked(input(), run);
    report.seconds.emplace_back("k-means", watch.restart());

    report.empty_cluster_policy = clusters.fit_report().empty_cluster_policy;
    report.empty_clusters_repaired = clusters.fit_report().empty_clusters_repaired;
    internal::finish_report(report, input(), model.labels_, options.clusters, options.clusters, run);
    auto& details = report.details;
    space->report_to(report);
    details.emplace_back("dimensions", std::int64_t{*used.dimensions});
    details.emplace_back("lost_share", found.residuals.squaredNorm() / found.squared_length);
    details.emplace_back("inertia", clusters.inertia());
    return model;
}

}  // namespace coterie
