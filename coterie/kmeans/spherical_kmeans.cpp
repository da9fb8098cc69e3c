// k-means of rows scaled to length 1 whose centroids are scaled back to it (Dhillon and Modha 2001): for unit vectors
// the nearest centroid is the one of largest cosine, so that the kernels of k-means serve. Rows that are read are
// scaled when they are read.

#include "coterie/kmeans/spherical_kmeans.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "coterie/base/internal/blocks.hpp"
#include "coterie/base/internal/derived_rows.hpp"
#include "coterie/base/internal/together.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/kmeans/internal/centroid_fit.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {
namespace {

using internal::at;

[[noreturn]] void refuse_zero_row(std::string_view what, Index number) {
    throw BadData(std::string(what) + ": row " + std::to_string(number + 1) +
                  " is all zeros and has no direction; leave it out");
}

// BadData, naming the row by its number, where it has no direction.
template <class From, class T>
void scale_row(const From* row, Index columns, T* to, std::string_view what, Index number) {
    if (!internal::scale_to_unit(row, columns, to)) refuse_zero_row(what, number);
}

template <class T>
Points unit_rows(PointsView points, std::string_view what, int threads) {
    if (const SparsePoints* sparse = as_sparse(points)) {
        std::vector<Index> zeros;
        SparsePoints scaled = internal::unit_rows(internal::values_as<T>(*sparse), threads, zeros);
        if (!zeros.empty()) refuse_zero_row(what, zeros.front());
        return Points(std::make_shared<const SparsePoints>(std::move(scaled)));
    }
    require_memory(static_cast<double>(points.rows()) * static_cast<double>(points.columns()) * sizeof(T),
                   "scaling rows to length 1");
    Matrix<T> out(points.rows(), points.columns());
    const RowBlocks blocks{points.rows(), 1024};
    points.visit([&](const auto& rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                scale_row(rows.row(i), rows.columns, out.data() + i * rows.columns, what, i);
        });
    });
    return Points(std::move(out));
}

// The same of points that are read, when they are.
Points unit_rows_read(const Points& points, std::string_view what) {
    return internal::derived_rows(points, points.columns(), [what](PointsView rows, Index first, void* to) {
        rows.visit([&]<class T>(const Rows<T>& from) {
            for (Index i = 0; i < from.rows; ++i)
                scale_row(from.row(i), from.columns, static_cast<T*>(to) + i * from.columns, what, first + i);
        });
    });
}

template <class T>
class Iterations {
public:
    Iterations(PointsView points, const SphericalKMeansOptions& options, const Problem& problem, const Run& run)
        : points_(points),
          options_(options),
          weights_(problem.weights),
          run_(run),
          own_(internal::own_rows(internal::grid_of(points), run.communicator())),
          spread_(internal::spread_of(points, problem.weights, run)) {}

    internal::Fitted<T> operator()(Matrix<T> centroids, int restart, internal::KeptFit& kept) const {
        internal::Fitted<T> out;
        if (const Archive* from = kept.found_iterations()) {
            centroids = to_matrix<T>(from->points("centroids", options_.clusters, points_.columns()));
            out.objectives = from->vector("objectives");
            out.iterations = static_cast<int>(out.objectives.size());
            out.repaired = static_cast<int>(from->vector("repaired", 1)[0]);
        }
        Labels labels;
        while (true) {
            if (out.iterations == options_.max_iterations) break;
            const Matrix<T> begun_with = centroids;
            const int repaired = out.repaired;
            Nearest near;
            internal::ClusterSums found;
            try {
                run_.throw_if_stopped("iterations");
                near = nearest_centroids(points_, centroids, run_, NearestWants::distances);
                out.repaired += repair(near);
                found = internal::cluster_sums(points_, near.labels, options_.clusters, weights_, run_);
            } catch (const Cancelled&) {
                out.stopped = StopReason::interrupted;
                break;
            }
            double movement = 0;
            double objective = spread_.total_weight;
            for (Index j = 0; j < options_.clusters; ++j) {
                const double length = found.sums.row(j).norm();
                if (!(length > 0)) continue;
                objective -= length;
                const Matrix<T> before = centroids.row(j);
                centroids.row(j) = (found.sums.row(j) / length).template cast<T>();
                movement += (centroids.row(j) - before.row(0)).template cast<double>().squaredNorm();
            }
            ++out.iterations;
            out.objectives.push_back(std::max(0.0, objective));
            run_.report({.stage = "iterations",
                         .fraction = (restart + static_cast<double>(out.iterations) / options_.max_iterations) /
                                     options_.restarts,
                         .objective = out.objectives.back(),
                         .iteration = out.iterations});
            const bool changed = run_.communicator().highest(near.labels == labels ? 0 : 1) != 0;
            const bool settled = !changed || movement <= options_.tolerance * spread_.mean_variance;
            labels = std::move(near.labels);
            // The state is that before the iteration, as its labels, which the next one asks for, are not kept: it is
            // done once more.
            kept.after_iteration([&](Archive& archive) {
                archive.set_points("centroids", begun_with);
                archive.set_vector("objectives", std::span(out.objectives).first(out.objectives.size() - 1));
                archive.set_vector("repaired", std::vector<double>{static_cast<double>(repaired)});
            });
            if (settled) {
                out.stopped = StopReason::converged;
                break;
            }
        }
        // For unit vectors || u - c ||^2 = 2 (1 - cos), without the cancellation of 1 - cos.
        out.objective =
            nearest_centroids(points_, centroids, run_.unstopped(), NearestWants::inertia, weights_).inertia / 2;
        out.centroids = std::move(centroids);
        return out;
    }

private:
    int repair(Nearest& near) const {
        return internal::fill_empty_clusters(
            near.labels, options_.clusters, weights_, own_,
            [&] {
                // A mean of equal rows differs from them by rounding: that is no distance. Rows have length 1.
                const double unit = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) +
                                    0x1.0p-53 * static_cast<double>(points_.rows());
                std::vector<double> cost(near.labels.size());
                for (Index i = 0; i < own_.count(); ++i)
                    if (near.squared[at(i)] > unit * unit)
                        cost[at(i)] = (weights_.empty() ? 1.0 : weights_[at(own_.begin + i)]) * near.squared[at(i)];
                return cost;
            },
            run_.communicator());
    }

    PointsView points_;
    const SphericalKMeansOptions& options_;
    std::span<const double> weights_;
    const Run& run_;
    internal::Range own_;  // this process' rows
    internal::Spread spread_;
};

// Rows of length 1 in the type the model computes in.
Points unit_points(PointsView points, ScalarType scalar, int threads) {
    return scalar == ScalarType::float32 ? unit_rows<float>(points, "predict", threads)
                                         : unit_rows<double>(points, "predict", threads);
}

}  // namespace

const OptionSet& SphericalKMeansOptions::described() {
    static const OptionSet set =
        OptionSetFor<SphericalKMeansOptions>()
            .integer("clusters", &SphericalKMeansOptions::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .integer("restarts", &SphericalKMeansOptions::restarts, at_least(1),
                     "runs from different seedings; the one of least objective is kept")
            .integer("max_iterations", &SphericalKMeansOptions::max_iterations, at_least(1),
                     "iterations a restart at most")
            .real("tolerance", &SphericalKMeansOptions::tolerance, at_least(0),
                  "stop when the centroids' summed squared movement is at most this many mean column variances of the "
                  "scaled rows; 0: when no "
                  "label changes")
            .choice("seeding", &SphericalKMeansOptions::seeding, {"auto", "kmeans++", "kmeans-parallel", "random"},
                    "starting centroids: greedy k-means++, k-means|| (auto: from 1000 clusters on), or random rows")
            .integer("seeding_candidates", &SphericalKMeansOptions::seeding_candidates, between(1, 10000),
                     "candidates per step of greedy k-means++; 1 is plain k-means++", "2 + 2 ln k");
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
            scaled.initial_centroids = unit_rows<T>(problem.initial_centroids, "initial centroids", run.threads);
        const double scaling_seconds = watch.seconds();
        FitReport report;
        int distinct = 0;
        internal::KeptFit kept(name, SphericalKMeansOptions::described().values(&options), problem, run);
        const Iterations<T> iterate(unit, options, scaled, run);
        auto best = internal::best_of_restarts<T>(
            unit, {options.clusters, options.restarts, {options.seeding, options.seeding_candidates}}, scaled, run,
            report, distinct, [&](Matrix<T> start, int restart) { return iterate(std::move(start), restart, kept); },
            &kept);
        watch.restart();
        Points centroids(std::move(best.centroids));
        Labels labels = nearest_centroids(unit, centroids, run.unstopped()).labels;
        report.seconds.insert(report.seconds.begin(), {"scaling", scaling_seconds});
        report.seconds.emplace_back("labels", watch.seconds());
        report.empty_cluster_policy = "an empty cluster takes the point that adds most to the objective";
        internal::finish_report(report, points, labels, options.clusters, distinct, run);
        return SphericalKMeansModel(std::move(centroids), std::move(labels), std::move(report), options);
    });
}

}  // namespace coterie
