// Four methods that differ only in their Criterion; training.cpp fits them all. An option that has no effect because of
// the other options is an error. The model has the scalar type of its training points; points of the other type are
// converted and checked again before they are labelled.

#include "coterie/entropy/entropy.hpp"

#include <limits>

#include "coterie/base/checks.hpp"
#include "coterie/base/idle_option.hpp"
#include "coterie/base/text.hpp"
#include "coterie/entropy/training.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie {
namespace internal {

std::vector<double> prior_of(const std::vector<double>& given, const Problem& problem, const Constraints& constraints) {
    const Index k = constraints.clusters();
    if (problem.label_shares.empty()) return checked_prior(given, k, "prior");
    if (!given.empty())
        throw BadArgument(Code::conflict, "`prior` cannot be combined with `label_share`", "Leave one out",
                          {.option = "prior", .value = to_text(given), .accepted = "`auto`"});
    std::vector<double> out(at(k), -1.0);
    double left = 1;
    Index others = k;
    for (const LabelShare& share : problem.label_shares) {
        if (share.low != share.high)
            throw BadArgument(
                Code::not_supported,
                "entropy clustering needs one share per label, but label '" + share.label + "' has an interval",
                "Give the label one share",
                {.option = "label_share", .value = share.label, .accepted = "one share per label"});
        std::int32_t label = 0;
        while (constraints.names[at(label)] != share.label) ++label;  // ends: compile_constraints() has found the label
        const auto [begin, end] = constraints.clusters_of(label);
        std::fill(out.begin() + begin, out.begin() + end, share.low / (end - begin));
        left -= share.low;
        others -= end - begin;
    }
    // The rest may be a rounding error of either sign.
    if (others > 0 && left <= 1e-9)
        throw BadArgument(
            Code::infeasible,
            filled("the shares add up to {} and leave nothing for {} without a share", to_text(1 - left),
                   counted(others, "cluster")),
            "Use shares that add up to less than 1",
            {.option = "label_share", .value = to_text(1 - left), .accepted = "shares that add up to less than 1"});
    for (double& share : out)
        if (share < 0) share = left / static_cast<double>(others);
    return checked_prior(out, k, "label_share");
}

Matrix<double> scores_of_labels(const Matrix<double>& scores, const ClusterLabels& labels) {
    if (labels.empty()) return scores;
    Matrix<double> out = Matrix<double>::Zero(scores.rows(), static_cast<Index>(labels.names.size()));
    for (Index k = 0; k < scores.cols(); ++k)
        if (labels.label_of[at(k)] >= 0) out.col(labels.label_of[at(k)]) += scores.col(k);
    return out;
}

}  // namespace internal

namespace {

using internal::automatic_prior;
using internal::Criterion;
using internal::fairness_meaning;
using internal::prior_meaning;
using internal::refuse_idle;

// The common part of the four fits. `criterion_of()` returns what differs, without the prior.
template <class Options, class CriterionOf>
ModelWith<SoftmaxModel, Options> fit_softmax(const Problem& problem, const Options& options, const Run& run,
                                             const std::vector<double>& prior, CriterionOf&& criterion_of) {
    const PointsView points = problem.points;
    const internal::Constraints constraints =
        internal::compile_constraints(points.rows(), options.clusters, problem, ShareRounding::floor, true);
    Options used = options;
    used.clusters = constraints.clusters();
    check_clustering_input(points, *used.clusters, {}, run);
    const std::vector<double> shares = internal::prior_of(prior, problem, constraints);
    Criterion criterion = criterion_of();
    criterion.prior = criterion.labels.prior = shares;
    internal::Checkpoint checkpoint(run, std::string(Options::method), Options::described().values(&used),
                                    internal::fingerprint_of(problem, run));
    return points.with_scalar([&]<class T>() {
        internal::Trained<T> trained = internal::train<T>(points, used, criterion, constraints, checkpoint, run);
        trained.report.empty_cluster_policy = "an empty cluster stays empty";
        internal::finish_report(trained.report, points, trained.labels, *used.clusters, *used.clusters, run);
        return ModelWith<SoftmaxModel, Options>(used, std::move(trained.model), constraints.cluster_labels(),
                                                std::move(trained.labels), std::move(trained.report));
    });
}

// Labels are computed per epoch by default, and always with lbfgs.
template <class Options>
void refuse_idle_batches(const Options& options) {
    refuse_idle(options.labels_per == LabelsPer::batch, options.optimizer == Optimizer::sgd, "labels_per=batch",
                "`optimizer=sgd`");
}

void refuse_idle_options(const EntropyOptions& options) {
    const EntropyOptions defaults;
    const bool self_label = options.loss == EntropyLoss::self_label;
    const bool own_rounds = options.label_rounds != defaults.label_rounds;
    refuse_idle(options.alpha != defaults.alpha, options.loss == EntropyLoss::renyi, "alpha", "`loss=renyi`");
    refuse_idle(options.fairness != defaults.fairness, !self_label, "fairness", "`loss=mi` or `loss=renyi`");
    refuse_idle(options.lambda != defaults.lambda, self_label, "lambda", "`loss=self-label`");
    refuse_idle(options.label_solver != defaults.label_solver, self_label, "label_solver", "`loss=self-label`");
    refuse_idle(own_rounds, self_label, "label_rounds", "`loss=self-label`");
    refuse_idle(options.labels_per != defaults.labels_per, self_label, "labels_per", "`loss=self-label`");
    refuse_idle(own_rounds, options.label_solver == LabelSolver::em, "label_rounds", "`label_solver=em`");
}

}  // namespace

const OptionSet& EntropyOptions::described() {
    static const OptionSet set =
        internal::describe_training<EntropyOptions>()
            .integer("restarts", &EntropyOptions::restarts, at_least(1), internal::restarts_meaning)
            .choice("loss", &EntropyOptions::loss, {"self-label", "mi", "renyi"},
                    "self-label: reverse cross-entropy with computed labels; mi: entropy of the predictions; renyi: "
                    "their Renyi entropy of order `alpha`")
            .real("alpha", &EntropyOptions::alpha, at_least(0),
                  "order of the entropy of `loss=renyi`; 0 stands for infinity")
            .real("lambda", &EntropyOptions::lambda, OptionRange{.low = 0, .high = 1e6, .low_open = true},
                  "self-label: penalty on computed labels with other cluster shares than `prior`; larger values keep "
                  "shares closer")
            .real("fairness", &EntropyOptions::fairness, at_least(0), std::string("mi, renyi: ") + fairness_meaning)
            .reals("prior", &EntropyOptions::prior, above(0), prior_meaning, automatic_prior)
            .choice("label_solver", &EntropyOptions::label_solver, {"em", "dual"},
                    "self-label: how labels are computed: by `label_rounds` rounds of EM, or exactly, by Newton's "
                    "method on the dual")
            .integer("label_rounds", &EntropyOptions::label_rounds, at_least(1),
                     "number of rounds of EM; many more come closer to the optimum but give worse clusters")
            .choice("labels_per", &EntropyOptions::labels_per, {"batch", "epoch"},
                    "self-label: compute new labels for every batch or for every epoch");
    return set;
}

const OptionSet& MiOptions::described() {
    static const OptionSet set = internal::describe_training<MiOptions>()
                                     .integer("restarts", &MiOptions::restarts, at_least(1), internal::restarts_meaning)
                                     .real("fairness", &MiOptions::fairness, at_least(0), fairness_meaning)
                                     .reals("prior", &MiOptions::prior, above(0), prior_meaning, automatic_prior);
    return set;
}

const OptionSet& SelaOptions::described() {
    static const OptionSet set =
        internal::describe_training<SelaOptions>()
            .integer("restarts", &SelaOptions::restarts, at_least(1), internal::restarts_meaning)
            .real("sharpness", &SelaOptions::sharpness, between(1e-6, 1e6),
                  "sharpness of the transport: predictions are raised to this power before their row and column sums "
                  "are scaled")
            .reals("prior", &SelaOptions::prior, above(0), prior_meaning, automatic_prior)
            .choice("labels_per", &SelaOptions::labels_per, {"batch", "epoch"},
                    "compute new labels for every batch or for every epoch");
    return set;
}

const OptionSet& MiadmOptions::described() {
    static const OptionSet set =
        internal::describe_training<MiadmOptions>()
            .integer("restarts", &MiadmOptions::restarts, at_least(1), internal::restarts_meaning)
            .choice("labels_per", &MiadmOptions::labels_per, {"batch", "epoch"},
                    "compute new labels for every batch (MIADM*) or for every epoch");
    return set;
}

EntropyModel EntropyMethod::fit(const Problem& problem, const EntropyOptions& options, const Run& run) {
    return fit_softmax(problem, options, run, options.prior, [&] {
        refuse_idle_options(options);
        const double alpha = options.alpha == 0 ? std::numeric_limits<double>::infinity() : options.alpha;
        const bool self_label = options.loss == EntropyLoss::self_label;
        return Criterion{
            .rule = self_label ? internal::LabelRule::self_label : internal::LabelRule::none,
            .order = options.loss == EntropyLoss::renyi ? alpha : 1.0,
            .fairness = options.fairness,
            .labels = {.solver = options.label_solver, .lambda = options.lambda, .rounds = options.label_rounds},
            .labels_per = options.labels_per};
    });
}

MiModel MiMethod::fit(const Problem& problem, const MiOptions& options, const Run& run) {
    return fit_softmax(problem, options, run, options.prior, [&] { return Criterion{.fairness = options.fairness}; });
}

SelaModel SelaMethod::fit(const Problem& problem, const SelaOptions& options, const Run& run) {
    return fit_softmax(problem, options, run, options.prior, [&] {
        refuse_idle_batches(options);
        return Criterion{
            .rule = internal::LabelRule::transport, .sharpness = options.sharpness, .labels_per = options.labels_per};
    });
}

MiadmModel MiadmMethod::fit(const Problem& problem, const MiadmOptions& options, const Run& run) {
    return fit_softmax(problem, options, run, {}, [&] {
        refuse_idle_batches(options);
        return Criterion{.rule = internal::LabelRule::alternating, .labels_per = options.labels_per};
    });
}

// ---- the model

Index SoftmaxModel::dimensions() const {
    return std::visit([](const auto& linear) { return linear.weights.cols(); }, linear_);
}

double SoftmaxModel::restart_criterion() const {
    return internal::number_of(report_, "decisiveness") + internal::number_of(report_, "fairness");
}

namespace {
// Calls on_logits with the n x k logits, in the model's scalar type.
template <class OnLogits>
auto with_logits(const SoftmaxModel::Linear& linear, PointsView points, const Run& run, OnLogits&& on_logits) {
    return std::visit(
        [&]<class T>(const LinearSoftmax<T>& model) {
            if (points.scalar() == scalar_type_of<T>()) return on_logits(logits(points.as<T>(), model, run.threads));
            const Points converted{to_matrix<T>(points)};
            check_points(converted, given_points(), run);  // a finite float64 value may be infinite in float32
            return on_logits(logits(converted.view().template as<T>(), model, run.threads));
        },
        linear);
}
}  // namespace

Labels SoftmaxModel::predict_checked(PointsView points, const Run& run) const {
    return with_logits(linear_, points, run, [](const auto& x) { return internal::largest_columns(x); });
}

Matrix<double> SoftmaxModel::output_checked(Output which, PointsView points, const Run& run) const {
    Matrix<double> sigma = with_logits(linear_, points, run, [&](const auto& x) {
        return softmax(Matrix<double>(x.template cast<double>()), run.threads).probability;
    });
    return which == Output::label_scores ? internal::scores_of_labels(sigma, cluster_labels_) : sigma;
}

void SoftmaxModel::parts(Parts& parts) {
    Points weights;
    Points bias;
    if (!parts.reading())
        std::visit(
            [&]<class T>(const LinearSoftmax<T>& linear) {
                weights = Points::borrow(linear.weights);
                bias = Points::borrow(PointsView(linear.bias.data(), 1, linear.bias.size()));
            },
            linear_);
    parts.add("weights", weights, "k x d", "the weights V of the linear softmax model");
    parts.add("bias", bias, "1 x k", "the bias b of the linear softmax model");
    if (!parts.reading()) return;
    if (weights.scalar() != bias.scalar())
        throw BadData(Code::malformed, "the model's weights and bias have different types");
    weights.view().visit([&]<class T>(const Rows<T>& rows) {
        linear_ = LinearSoftmax<T>{rows.matrix(), to_matrix<T>(bias.view()).row(0).transpose()};
    });
}

}  // namespace coterie
