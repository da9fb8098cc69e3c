// The sum of the graph's Laplacian and the regression's term (of rank q) is one dense matrix, whose eigenvectors are
// the global minimum. Only the k-means at the end iterates. The n^2 memory is checked first. The constant vector is
// given the largest eigenvalue, so that the smallest eigenvalues are the required ones. J is their sum.

#include "coterie/deformation/fme.hpp"

#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deformation/internal/ridge_basis.hpp"
#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/neighbors.hpp"

namespace coterie {
namespace {

using deformation::internal::product;
using deformation::internal::RidgeBasis;

// I - D^-1/2 A D^-1/2, n x n. Every point has neighbours, so no degree is 0.
Matrix<double> normalised_laplacian(const Neighbors& neighbors, Index n) {
    Matrix<double> out = Matrix<double>::Zero(n, n);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < neighbors.count; ++j) {
            const Index other = neighbors.indices[static_cast<std::size_t>(i * neighbors.count + j)];
            out(i, other) += 0.5;
            out(other, i) += 0.5;
        }
    const Vector<double> scale = out.rowwise().sum().cwiseSqrt().cwiseInverse();
    out = -(scale.asDiagonal() * out * scale.asDiagonal());
    out.diagonal().array() += 1.0;
    return out;
}

// H M H + shift 11'/n, H = I - 11'/n: its eigenvectors are those of M among vectors orthogonal to 1, and the vector 1,
// which comes last.
void set_constant_apart(Matrix<double>& matrix, double shift) {
    const Index n = matrix.rows();
    const Vector<double> means = matrix.rowwise().mean();
    const double grand = means.mean();
    const double constant = grand + shift / static_cast<double>(n);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) matrix(i, j) += constant - (means[i] + means[j]);
}

}  // namespace

const OptionSet& FmeOptions::described() {
    using Options = FmeOptions;
    static const OptionSet set =
        describe_space(
            OptionSetFor<Options>()
                .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
                .letter('k')
                .real("mu", &Options::mu, above(0), "weight of the regression relative to the graph",
                      "`mu_rel` divided by `gamma`")
                .real("mu_rel", &Options::mu_rel, between(1e-12, 1e12),
                      "value of `mu` times `gamma`: weight of the regression's squared residual relative to the cut of "
                      "the graph")
                .real("gamma", &Options::gamma, above(0),
                      "weight of the regression's squared residual relative to the squared norm of its coefficients W",
                      "`gamma_rel` divided by the mean eigenvalue of the scatter matrix X'X")
                .real("gamma_rel", &Options::gamma_rel, between(1e-12, 1e12),
                      "value of `gamma` in units of q / tr(X'X), the inverse of the mean eigenvalue of the scatter "
                      "matrix")
                .integer("neighbors", &Options::neighbors, at_least(1),
                         "number of nearest neighbours of each row in the graph, at most n - 1")
                .integer("dimensions", &Options::dimensions, at_least(1), "number of dimensions of the embedding",
                         "k - 1"))
            .choice("labels_from", &Options::labels_from, {"regression", "embedding"},
                    "cluster the rows as the regression maps them (regression), or the embedding that the regression "
                    "approximates (embedding)")
            .integer("restarts", &Options::restarts, at_least(1), "number of runs of k-means; the best run is kept");
    return set;
}

FmeModel FmeFits::fit(const FmeOptions& options) const {
    const Run& run = this->run();
    FmeModel model;
    model.options_ = options;
    FmeOptions& used = model.options_;
    FitReport& report = model.report_;
    Stopwatch watch;
    const auto space = enter(used, options.clusters, PointSpace::Origin::mean, report, watch);
    model.space_ = space->space;
    const Matrix<double>& x = *space->points;
    const Index n = x.rows();
    if (options.neighbors > n - 1)
        throw BadArgument(Code::not_accepted,
                          internal::filled("{} is too many for {}", options.neighbors, counted(n, "row")),
                          "Use from 1 to " + std::to_string(n - 1),
                          {.option = "neighbors",
                           .value = std::to_string(options.neighbors),
                           .accepted = "from 1 to " + std::to_string(n - 1)});
    require_memory(4.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n),
                   internal::filled("the embedding of {} rows", n));
    used.dimensions = internal::dimensions_of(options.dimensions, options.clusters, n - 1, "one less than the rows");
    const Matrix<double> laplacian = normalised_laplacian(nearest_neighbors(x, options.neighbors, run), n);
    report.seconds.emplace_back("graph", watch.restart());

    const RidgeBasis ridge(x, options.gamma ? std::optional(1 / *options.gamma) : std::nullopt, 1 / options.gamma_rel,
                           run);
    used.gamma = 1 / ridge.lambda();
    if (ridge.swamped())
        throw refused_option(
            "gamma", options.gamma ? OptionValue(*options.gamma) : Automatic(),
            "at least " + to_text(1 / (RidgeBasis::most * ridge.mean_eigenvalue())) + " for these data, or `auto`");
    if (!used.mu) used.mu = options.mu_rel / *used.gamma;
    const double weight = *used.mu * *used.gamma;
    if (!(*used.gamma > 0) || !std::isfinite(weight))
        throw BadArgument(Code::not_accepted,
                          "`gamma` is " + to_text(*used.gamma) + " and `mu` times `gamma` is " + to_text(weight) +
                              "; both must be above 0 and finite",
                          "Use less extreme values of `mu` and `gamma`", {.option = "mu", .value = to_text(*used.mu)});
    const Matrix<double>& whitened = ridge.whitened();
    // All eigenvalues are from 0 to 2 + weight.
    Matrix<double> matrix = laplacian - weight * internal::rows_by_rows(whitened, whitened, run.threads);
    matrix.diagonal().array() += weight;
    set_constant_apart(matrix, 2 * (2 + weight));
    const EigenPairs pairs = smallest_symmetric_eigen(std::move(matrix), *used.dimensions, run, "eigenvectors");
    run.throw_if_stopped("eigenvectors");
    model.embedding_ = pairs.vectors;
    const Matrix<double>& f = model.embedding_;
    report.objective = pairs.values.sum();
    report.objective_per_iteration = {report.objective};
    report.seconds.emplace_back("eigenvectors", watch.restart());

    const Matrix<double> seen = internal::transposed_by(whitened, f, run.threads);  // A'F
    model.directions_ = product(ridge.map(), seen, run.threads);
    model.offset_ = Vector<double>::Zero(*used.dimensions);
    const Matrix<double> regressed = model.projected(x, run.threads);
    const bool by_regression = options.labels_from == FmeLabels::regression;
    const Matrix<double>& clustered = by_regression ? regressed : f;
    const Matrix<double> given =
        given_start(*space, clustered, [&](const Matrix<double>& rows) { return model.projected(rows, run.threads); });
    const KMeansModel clusters = internal::cluster(clustered, options.clusters, options.restarts, run, &given);
    if (by_regression) {
        model.centroids_ = to_matrix<double>(clusters.centroids());
        model.labels_ = model.predict_checked(input(), run);
    } else {
        model.labels_ = clusters.labels();
        model.centroids_ =
            internal::means_of(regressed, model.labels_, to_matrix<double>(clusters.centroids()), run.threads);
    }
    report.seconds.emplace_back("k-means", watch.restart());

    report.empty_cluster_policy = clusters.fit_report().empty_cluster_policy;
    report.empty_clusters_repaired = clusters.fit_report().empty_clusters_repaired;
    internal::finish_report(report, input(), model.labels_, options.clusters, options.clusters, run);
    auto& details = report.details;
    details.emplace_back("mu", *used.mu);
    details.emplace_back("gamma", *used.gamma);
    space->report_to(report);
    details.emplace_back("dimensions", std::int64_t{*used.dimensions});
    details.emplace_back("cut", f.cwiseProduct(product(laplacian, f, run.threads)).sum());
    details.emplace_back("residual", (regressed - f).squaredNorm() / *used.dimensions);
    details.emplace_back("inertia", clusters.inertia());
    return model;
}

}  // namespace coterie
