// The rounds of Y and P, and the model. All n x n work happens once per sigma (smooth_motion.hpp); a round consists of
// products with k columns. The best motion is computed again only if Y has changed. Moved points are assigned until no
// label changes, as in k-means. The coefficients of a motion are computed on first use.

#include "coterie/deformation/cpd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/deformation/internal/smooth_motion.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {
namespace {

using deformation::internal::product;
using deformation::internal::SmoothMotion;
using internal::cluster;
using internal::means_of;

using internal::at;

double within_scatter(const Matrix<double>& rows, const Labels& labels, const Matrix<double>& means) {
    double sum = 0;
    for (Index i = 0; i < rows.rows(); ++i) sum += (rows.row(i) - means.row(labels[at(i)])).squaredNorm();
    return sum;
}

bool about_mean(const CpdOptions& options) { return options.origin == CpdOrigin::mean; }

double total_scatter_of(const Matrix<double>& rows) { return (rows.rowwise() - rows.colwise().mean()).squaredNorm(); }

// The rounds of Y and P from given labels.
class Rounds {
public:
    Rounds(const SmoothMotion& motion, const CpdOptions& options, double lambda, Labels start, const Run& run)
        : motion_(motion),
          options_(options),
          lambda_(lambda),
          solver_(motion, lambda, options.indicator == CpdIndicator::discrete),
          run_(run),
          labels_(std::move(start)) {
        moved_ = motion_.points();
        deformation_.in_basis = Matrix<double>::Zero(motion_.rank(), moved_.cols());
        if (discrete()) deformation_.displacement = Matrix<double>::Zero(moved_.rows(), moved_.cols());
        centroids_ = Matrix<double>::Zero(options.clusters, moved_.cols());
        centroids_ = means_of(moved_, labels_, centroids_, run.threads);
        // The relaxed form starts from the labels too: the paper's initialisation.
        indicator_ = motion_.indicator_of(labels_, options.clusters);
    }

    void operator()(FitReport& report) {
        report.stopped = StopReason::iteration_limit;
        double before = std::numeric_limits<double>::infinity();
        const int damped = options_.damping > 0 ? options_.damped_rounds : 0;
        bool stale = true;  // whether best_ belongs to an older indicator
        for (int round = 0; round < options_.max_iterations + damped; ++round) {
            if (internal::stopped_between_iterations(report, "deformation", run_)) break;
            const double keep = round < damped ? options_.damping : 0.0;
            if (stale) best_ = solver_.best(indicator_);
            if (keep > 0)
                deformation_.blend(keep, best_);
            else if (stale || damped == round)
                deformation_ = best_;
            const bool changed = discrete() ? assign() : false;
            stale = changed || !discrete();
            if (stale) indicator_ = current_indicator();
            internal::add_iteration(report, solver_.objective(deformation_, indicator_),
                                    options_.max_iterations + damped, "rounds", run_);
            const bool still = std::abs(before - report.objective) <= options_.tolerance * std::abs(report.objective);
            if (round >= damped && !changed && (still || report.objective <= 0)) {
                report.stopped = StopReason::converged;
                break;
            }
            before = report.objective;
        }
        moved_ =
            motion_.points() + (discrete() ? deformation_.displacement : motion_.displacement(deformation_.in_basis));
    }

    const Matrix<double>& in_basis() const { return deformation_.in_basis; }  // P~
    const Matrix<double>& moved() const { return moved_; }
    const Labels& labels() const { return labels_; }
    SmoothMotion::Leading embedding() const {
        SmoothMotion::Leading out = motion_.leading_of(deformation_, vectors());
        if (out.singular_values.size() == 0)
            throw BadArgument(Code::not_accepted,
                              to_text(lambda_) +
                                  " is too small for `labels_from=embedding`: all rows move to the origin, "
                                  "which leaves no embedding",
                              "Use a larger value", {.option = "lambda", .value = to_text(lambda_)});
        return out;
    }

private:
    bool discrete() const { return options_.indicator == CpdIndicator::discrete; }
    // If the mean is subtracted, moved points have one direction less that separates clusters.
    int vectors() const { return std::max(1, about_mean(options_) ? options_.clusters - 1 : options_.clusters); }

    SmoothMotion::Indicator current_indicator() const {
        if (discrete()) return motion_.indicator_of(labels_, options_.clusters);
        return motion_.leading_of(deformation_, vectors()).indicator;
    }
    // Computes new labels. Returns whether any changed.
    bool assign() {
        const Labels before = labels_;
        if (options_.labels_from == CpdLabels::embedding) {
            const SmoothMotion::Leading leading = embedding();
            moved_ = motion_.points() + deformation_.displacement;
            const Matrix<double> embedded = product(moved_, leading.scaled(), run_.threads);
            labels_ = cluster(embedded, options_.clusters, options_.restarts, run_).labels();
            return labels_ != before;
        }
        moved_ = motion_.points() + deformation_.displacement;
        const int most = options_.assignments_per_round.value_or(300);
        for (int pass = 0; pass < most; ++pass) {
            centroids_ = means_of(moved_, labels_, centroids_, run_.threads);
            Labels next = nearest_centroids(moved_, centroids_, run_.threads).labels;
            if (next == labels_) break;
            labels_ = std::move(next);
        }
        return labels_ != before;
    }

    const SmoothMotion& motion_;
    const CpdOptions& options_;
    double lambda_;
    SmoothMotion::Solver solver_;
    const Run& run_;
    Labels labels_;
    SmoothMotion::Indicator indicator_;
    SmoothMotion::Motion best_;  // for indicator_
    SmoothMotion::Motion deformation_;
    Matrix<double> moved_;  // Z
    Matrix<double> centroids_;
};

}  // namespace

const OptionSet& CpdOptions::described() {
    using Options = CpdOptions;
    static const OptionSet set =
        describe_space(
            OptionSetFor<Options>()
                .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
                .letter('k')
                .real("lambda", &Options::lambda, above(0),
                      "penalty on the deformation; larger values deform the space less",
                      "`lambda_rel` times n^2, n the number of rows")
                .real("lambda_rel", &Options::lambda_rel, above(0),
                      "value of `lambda` in units of n^2, n the number of rows")
                .real("sigma", &Options::sigma, above(0),
                      "width of the deformation: rows closer than this move together", "`sigma_rel` times r")
                .real("sigma_rel", &Options::sigma_rel, above(0),
                      "value of `sigma` in units of r, the root mean square distance of the rows from their mean"))
            .choice("indicator", &Options::indicator, {"discrete", "relaxed"},
                    "what the deformation makes compact: the clusters (discrete), or their relaxation by leading "
                    "singular vectors (relaxed)")
            .choice(
                "labels_from", &Options::labels_from, {"moved", "embedding"},
                "cluster the moved rows (moved), or their whitened embedding by leading singular vectors (embedding)")
            .choice("origin", &Options::origin, {"mean", "zero"},
                    "relaxed indicator: subtract the mean from the rows and use k - 1 vectors (mean), or leave the "
                    "rows unchanged and use k (zero)")
            .real("damping", &Options::damping, between(0, 0.99),
                  "share of the previous round's deformation that each of the first `damped_rounds` rounds keeps")
            .integer("damped_rounds", &Options::damped_rounds, at_least(0), "number of damped rounds")
            .integer("assignments_per_round", &Options::assignments_per_round, at_least(1),
                     "how often a round assigns the rows to the nearest centroid", "until no label changes")
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs of the k-means that gives the start; the best run is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1), "maximum number of undamped rounds")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when no label changes and the objective changes by at most this fraction");
    return set;
}

struct CpdModel::Movement {
    std::shared_ptr<const Matrix<double>> points;  // X; null with landmarks
    std::optional<deformation::internal::Landmarks> landmarks;
    double sigma;

    /// After a fit: P = Q P~ is computed on first use.
    Movement(std::shared_ptr<const Matrix<double>> x, std::shared_ptr<const SmoothMotion> motion,
             Matrix<double> in_basis)
        : landmarks(motion->landmarks()),
          sigma(motion->sigma()),
          motion_(std::move(motion)),
          in_basis_(std::move(in_basis)) {
        if (!landmarks) points = std::move(x);
    }
    /// From a file.
    Movement(std::shared_ptr<const Matrix<double>> x, std::optional<deformation::internal::Landmarks> of, double width,
             Matrix<double> coefficients)
        : points(std::move(x)), landmarks(std::move(of)), sigma(width), coefficients_(std::move(coefficients)) {}

    /// P, n x d, or with landmarks L'P, m x d.
    const Matrix<double>& coefficients() {
        std::call_once(once_, [&] {
            if (!motion_) return;
            coefficients_ = motion_->coefficients(in_basis_);
            motion_.reset();
            in_basis_.resize(0, 0);
        });
        return coefficients_;
    }
    void move(Matrix<double>& x, const Run& run) {
        const Matrix<double> columns = coefficients().transpose();
        const RowBlocks blocks{x.rows(), 1024};
        for (Index block = 0; block < blocks.count(); ++block) {
            auto rows = x.middleRows(blocks.begin(block), blocks.end(block) - blocks.begin(block));
            const Matrix<double> part = rows;
            const Matrix<double> kernel =
                landmarks ? landmarks->rows(part, run.threads) : gaussian_kernel(part, *points, sigma, run.threads);
            rows += internal::rows_by_rows(kernel, columns, run.threads);
        }
    }

private:
    std::once_flag once_;
    std::shared_ptr<const SmoothMotion> motion_;
    Matrix<double> in_basis_;  // P~
    Matrix<double> coefficients_;
};

CpdModel CpdFits::fit(const CpdOptions& options) const {
    const Run& run = this->run();
    CpdModel model;
    model.options_ = options;
    CpdOptions& used = model.options_;
    FitReport& report = model.report_;
    Stopwatch watch;
    const auto origin = about_mean(options) ? PointSpace::Origin::mean : PointSpace::Origin::zero;
    const auto space = enter(used, options.clusters, origin, report, watch);
    model.space_ = space->space;
    const Matrix<double>& x = *space->points;
    const Index n = x.rows();
    const double total = total_scatter_of(x);
    if (!used.sigma) used.sigma = options.sigma_rel * std::sqrt(total / static_cast<double>(n));
    if (!used.lambda) used.lambda = options.lambda_rel * static_cast<double>(n) * static_cast<double>(n);

    const auto k_means = start(*space, options.clusters, options.restarts);
    report.seconds.emplace_back("k-means", watch.restart());
    const Index landmarks = options.landmarks_for(n);
    const auto motion = motion_({space->points, *used.sigma, landmarks},
                                [&] { return std::make_shared<const SmoothMotion>(x, *used.sigma, landmarks, run); });
    report.seconds.emplace_back("eigenvectors", watch.restart());
    Rounds rounds(*motion, used, *used.lambda, k_means->labels(), run);
    rounds(report);
    report.seconds.emplace_back("rounds", watch.restart());

    const Matrix<double>& moved = rounds.moved();
    Matrix<double> embedded;
    if (options.labels_from == CpdLabels::embedding) {
        model.embedding_ = rounds.embedding().scaled();
        embedded = product(moved, model.embedding_, run.threads);
    }
    const Matrix<double>& seen = embedded.size() > 0 ? embedded : moved;
    Labels labels = rounds.labels();
    Matrix<double> centroids = Matrix<double>::Zero(options.clusters, seen.cols());
    if (options.indicator == CpdIndicator::relaxed) {
        const KMeansModel last = cluster(seen, options.clusters, options.restarts, run);
        labels = last.labels();
        centroids = to_matrix<double>(last.centroids());
    }
    model.centroids_ = means_of(seen, labels, centroids, run.threads);
    model.labels_ = nearest_centroids(seen, model.centroids_, run.threads).labels;
    report.seconds.emplace_back("labels", watch.restart());

    report.empty_cluster_policy = "an empty cluster keeps its centroid";
    internal::finish_report(report, input(), model.labels_, options.clusters, options.clusters, run);
    const auto within_share = [&](const Matrix<double>& rows, double scatter) {
        const Matrix<double> means =
            means_of(rows, labels, Matrix<double>::Zero(options.clusters, rows.cols()), run.threads);
        return scatter > 0 ? within_scatter(rows, labels, means) / scatter : 0.0;
    };
    auto& details = report.details;
    details.emplace_back("lambda", *used.lambda);
    details.emplace_back("sigma", *used.sigma);
    space->report_to(report);
    details.emplace_back("rank", static_cast<std::int64_t>(motion->rank()));
    if (motion->landmarks()) {
        const auto count = static_cast<std::int64_t>(motion->landmarks()->count());
        details.emplace_back("landmarks", count);
        details.emplace_back("kernel_residual", motion->residual());
        if (!options.landmarks)
            report.warnings.push_back(
                {.code = Code::note,
                 .problem = internal::filled("the deformation of {} rows is approximated with {} landmarks", n, count),
                 .remedy = "Raise `landmarks` for a closer approximation, which needs more memory"});
    }
    details.emplace_back("moved", (moved - x).norm() / std::sqrt(total));
    details.emplace_back("within_share_before", within_share(x, total));
    details.emplace_back("within_share", within_share(moved, total_scatter_of(moved)));
    if (options.indicator == CpdIndicator::relaxed && x.cols() <= options.clusters - (about_mean(options) ? 1 : 0))
        report.warnings.push_back({.code = Code::note,
                                   .problem = "the relaxed indicator spans all " + std::to_string(x.cols()) +
                                              " dimensions of the data, so nothing moves after the first round",
                                   .remedy = "Use `indicator=discrete`"});
    model.movement_ = std::make_shared<CpdModel::Movement>(space->points, motion, rounds.in_basis());
    return model;
}

Matrix<double> CpdModel::output_checked(Output which, PointsView points, const Run& run) const {
    Matrix<double> y = embed(points, run);
    return which == Output::distances ? euclidean_distances(y, centroids_, run.threads) : y;
}

Matrix<double> CpdModel::embed(PointsView points, const Run& run) const {
    Matrix<double> x = space_->transform(points, run);
    movement_->move(x, run);
    if (embedding_.size() == 0) return x;
    return product(x, embedding_, run.threads);
}

Labels CpdModel::predict_checked(PointsView points, const Run& run) const {
    return nearest_centroids(embed(points, run), centroids_, run.threads).labels;
}

void CpdModel::parts(Parts& parts) {
    auto space = space_ ? std::const_pointer_cast<PointSpace>(space_) : std::make_shared<PointSpace>();
    space->parts(parts, options_.kernel);
    space_ = std::move(space);
    deformation::internal::Landmarks landmarks;
    Matrix<double> points;
    Matrix<double> coefficients;
    const bool by_landmarks = parts.present("landmarks.points", movement_ && movement_->landmarks);
    if (by_landmarks) {
        (parts.reading() ? landmarks : *movement_->landmarks).parts(parts, "landmarks", 'l', 'p');
    } else {
        parts.add("points", parts.reading() ? points : Parts::only_read(*movement_->points), "n x p",
                  "the rows of the training data, in their space");
    }
    parts.add("coefficients", parts.storing() ? Parts::only_read(movement_->coefficients()) : coefficients,
              by_landmarks ? "l x p" : "n x p", "how far each stored row moves the rows near it");
    const bool embedded = options_.labels_from == CpdLabels::embedding;
    if (embedded) parts.add("embedding", embedding_, "p x e", "the directions of the embedding");
    parts.add("centroids", centroids_, embedded ? "k x e" : "k x p", "the centroid of each cluster, in the embedding");
    if (!parts.reading()) return;
    if (!options_.sigma) throw BadData(Code::malformed, "the model has no `sigma`");
    movement_ = std::make_shared<Movement>(
        by_landmarks ? nullptr : std::make_shared<const Matrix<double>>(std::move(points)),
        by_landmarks ? std::optional(std::move(landmarks)) : std::nullopt, *options_.sigma, std::move(coefficients));
}

}  // namespace coterie
