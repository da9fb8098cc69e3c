// On whitened points (ridge_basis.hpp), the paper's kernel k-means is ordinary k-means of n x p rows, without an n x n
// kernel. W and J come from the k cluster sums. A round is either complete or has no effect. Fits of a grid share the
// space and its k-means start.

#include "coterie/deformation/aml.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "coterie/deformation/internal/ridge_basis.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie {
namespace {

using deformation::internal::RidgeBasis;

// L'A, k x r: the cluster sums of the whitened points divided by sqrt(n_c). The row of an empty cluster is 0.
Matrix<double> indicated(const Matrix<double>& rows, const Labels& labels, int clusters, int threads) {
    internal::ClusterSums sums = internal::cluster_sums(rows, labels, clusters, {}, Run(0, threads));
    for (Index c = 0; c < clusters; ++c) {
        const double mass = sums.mass[static_cast<std::size_t>(c)];
        if (mass > 0) sums.sums.row(c) /= std::sqrt(mass);
    }
    return std::move(sums.sums);
}

// Q, p x r: the leading right singular vectors of L'A. They give W = M Q'.
Matrix<double> leading_directions(const Matrix<double>& seen, int count, int threads) {
    return smallest_symmetric_eigen(-internal::transposed_by(seen, seen, threads), count).vectors.transpose();
}

}  // namespace

const OptionSet& AmlOptions::described() {
    using Options = AmlOptions;
    static const OptionSet set =
        describe_space(OptionSetFor<Options>()
                           .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
                           .letter('k')
                           .real("lambda", &Options::lambda, above(0), "regularisation of the metric (ridge)",
                                 "`lambda_rel` times the mean eigenvalue of the scatter matrix X'X")
                           .real("lambda_rel", &Options::lambda_rel, between(1e-12, 1e12),
                                 "value of `lambda` in units of tr(X'X) / q, the mean eigenvalue of the scatter matrix")
                           .integer("dimensions", &Options::dimensions, at_least(1),
                                    "number of directions of the metric, at most k - 1", "k - 1"))
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs of the k-means that gives the start; the best run is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1), "maximum number of rounds")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when a round lowers the objective by at most this fraction; 0: stop when no label changes");
    return set;
}

AmlModel AmlFits::fit(const AmlOptions& options) const {
    const Run& run = this->run();
    const int k = options.clusters;

    AmlModel model;
    model.options_ = options;
    AmlOptions& used = model.options_;
    FitReport& report = model.report_;
    Stopwatch watch;
    const auto space = enter(used, k, PointSpace::Origin::mean, report, watch);
    model.space_ = space->space;
    const RidgeBasis basis(*space->points, options.lambda, options.lambda_rel, run);
    used.lambda = basis.lambda();
    if (basis.swamped())
        throw refused_option(
            "lambda", *used.lambda,
            "at most " + to_text(RidgeBasis::most * basis.mean_eigenvalue()) + " for these data, or `auto`");
    used.dimensions = internal::dimensions_of(options.dimensions, k, std::min<Index>(std::max(1, k - 1), basis.rank()),
                                              "k - 1 and the rank of the data");
    report.seconds.emplace_back("eigenvectors", watch.restart());

    Labels labels = start(*space, k, options.restarts)->labels();
    report.seconds.emplace_back("k-means", watch.restart());

    const Matrix<double>& whitened = basis.whitened();
    Matrix<double> seen = indicated(whitened, labels, k, run.threads);
    Matrix<double> directions;
    report.stopped = StopReason::iteration_limit;
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0; round < options.max_iterations; ++round) {
        if (internal::stopped_between_iterations(report, "rounds", run)) break;
        const Matrix<double> next = leading_directions(seen, *used.dimensions, run.threads);
        const Matrix<double> projected = internal::rows_by_rows(whitened, next, run.threads);
        // An empty cluster starts at the origin, the mean of all points, so that it may get points.
        const Matrix<double> means =
            internal::means_of(projected, labels, Matrix<double>::Zero(k, *used.dimensions), run.threads);
        std::optional<KMeansModel> found;
        try {
            found.emplace(internal::cluster(projected, k, 1, run, &means));
        } catch (const Cancelled&) {  // interrupted before the first iteration: the round is not complete
            if (round == 0) throw;
            report.stopped = StopReason::interrupted;
            break;
        }
        directions = next;
        const bool changed = found->labels() != labels;
        labels = found->labels();
        model.centroids_ = to_matrix<double>(found->centroids());
        seen = indicated(whitened, labels, k, run.threads);
        internal::add_iteration(report, k - internal::rows_by_rows(seen, directions, run.threads).squaredNorm(),
                                options.max_iterations, "rounds", run);
        if (found->fit_report().stopped == StopReason::interrupted) {
            report.stopped = StopReason::interrupted;
            break;
        }
        if (!changed || before - report.objective <= options.tolerance * std::abs(report.objective)) {
            report.stopped = StopReason::converged;
            break;
        }
        before = report.objective;
    }
    report.seconds.emplace_back("rounds", watch.restart());

    model.directions_ = internal::rows_by_rows(basis.map(), directions, run.threads);
    model.offset_ = Vector<double>::Zero(*used.dimensions);
    model.labels_ = model.predict_checked(input(), run);
    report.seconds.emplace_back("labels", watch.restart());

    report.empty_cluster_policy = "an empty cluster gets the row that adds most to the inertia";
    internal::finish_report(report, input(), model.labels_, k, k, run);
    auto& details = report.details;
    details.emplace_back("lambda", *used.lambda);
    space->report_to(report);
    details.emplace_back("rank", static_cast<std::int64_t>(basis.rank()));
    details.emplace_back("dimensions", std::int64_t{*used.dimensions});
    details.emplace_back("trace", k - report.objective);
    return model;
}

}  // namespace coterie
