#pragma once
// Internal: the trainer of all methods of this module. A method is a rule for labels and a loss (Criterion).

#include <algorithm>

#include "coterie/constraints/constraints.hpp"
#include "coterie/entropy/entropy.hpp"
#include "coterie/entropy/losses.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/model/checkpoint.hpp"

namespace coterie::internal {

/// Describes the options of LinearTrainingOptions for a struct that contains them.
template <class Options>
OptionSetFor<Options> describe_training() {
    OptionSetFor<Options> set;
    set.template integer<int>("clusters", &Options::clusters, at_least(1), "number of clusters k",
                              "one per label of `partial_labels` (see `clusters_per_label`)")
        .letter('k')
        .real("gamma", &Options::gamma, at_least(0),
              "penalty on the squared norm of the model's weights, relative to the overall scale of the data")
        .real("gamma_start", &Options::gamma_start, above(0),
              "lbfgs: the penalty falls geometrically from this value to `gamma`", "the penalty is always `gamma`")
        .template choice<coterie::Optimizer>("optimizer", &Options::optimizer, {"sgd", "lbfgs"},
                                             "sgd: gradient descent on batches; lbfgs: L-BFGS on all rows")
        .real("learning_rate", &Options::learning_rate, above(0),
              "sgd: learning rate, relative to the overall scale of the data")
        .real("momentum", &Options::momentum, between(0, 0.999), "sgd: share of the previous step that is kept")
        .template integer<int>(
            "epochs", &Options::epochs, at_least(1),
            "number of passes over the rows; lbfgs: each computes new labels and up to 100 iterations")
        .template integer<int>("batch_size", &Options::batch_size, at_least(1), "sgd: number of rows per batch")
        .template choice<TrainingOrigin>("origin", &Options::origin, {"mean", "zero"},
                                         "value subtracted from the rows during training: their mean, or 0")
        .real("start_scale", &Options::start_scale, OptionRange{.low = 0, .high = 1e6, .low_open = true},
              "root mean square of the first logits; larger values start with more confident predictions")
        .real("label_weight", &Options::label_weight, at_least(0),
              "weight of the loss of the rows with partial labels");
    return set;
}

/// Help text of `restarts` in methods that compare fits by restart_criterion().
inline constexpr const char* restarts_meaning =
    "number of fits from different starts; the best fit is kept (confident predictions, with a mean close to the "
    "prior)";

/// s of entropy.hpp: the unit of points with these moments for this number of clusters.
double training_unit(const ColumnMoments& moments, int clusters);

enum class LabelRule {
    none,         // no labels: the loss is R_order and reverse fairness of the predictions
    self_label,   // label_solver.hpp; reverse cross-entropy
    transport,    // one-hot labels with means close to the prior; forward cross-entropy
    alternating,  // y_ik proportional to sigma_ik / sqrt(sum_j sigma_jk); forward cross-entropy
    given         // labels are `targets`; the cross-entropy is `cross_entropy`
};

struct Criterion {
    LabelRule rule = LabelRule::none;
    double order = 1;     // for none: order of the Renyi entropy
    double fairness = 1;  // none
    std::vector<double> prior = {};
    LabelSettings labels = {};  // self_label
    double sharpness = 25;      // transport
    LabelsPer labels_per = LabelsPer::batch;
    const Matrix<double>* targets = nullptr;             // given: n x k
    CrossEntropy cross_entropy = CrossEntropy::reverse;  // given
};

template <class T>
struct Trained {
    LinearSoftmax<T> model;
    Labels labels;
    FitReport report;  // everything except what finish_report adds
};

/// Trains a model. T is the scalar type of the points. Points come in blocks, and each process has the labels of only
/// its rows. Every process has the complete predictions of a batch (of all rows if labels are per epoch, or with
/// L-BFGS). Training resumes from the checkpoint, and saves the state before each epoch to it.
template <class T>
Trained<T> train(PointsView points, const LinearTrainingOptions& options, const Criterion& criterion,
                 const Constraints& constraints, Checkpoint& checkpoint, const Run& run);

// Shared with networks (deep/):

/// u: from an option `prior` (k numbers; empty: uniform) or from the label shares. Throws BadArgument.
std::vector<double> prior_of(const std::vector<double>& given, const Problem& problem, const Constraints& constraints);
inline constexpr const char* prior_meaning = "expected share of each cluster: k numbers that sum to 1";
inline constexpr const char* automatic_prior = "equal shares";
inline constexpr const char* fairness_meaning =
    "penalty on cluster shares that differ from `prior`; larger values keep the shares closer to it";

/// Positions in `numbers` (row numbers among all points) of rows with known labels, and the y of these rows: the
/// prediction restricted to the label's clusters.
template <class T>
FixedLabels<T> fixed_labels(const Constraints& constraints, std::span<const Index> numbers, const Softmax<T>& sigma);
/// y by the criterion's rule, which must not be none or given. Rows in `fixed` keep their labels.
template <class T>
LabelSolution<T> labels_of(const Criterion& criterion, const Softmax<T>& sigma, const FixedLabels<T>& fixed,
                           int threads);
/// The criterion's loss of a batch for given labels (ignored by rule none). Adds its gradient with respect to the
/// logits. For counts see add_cross_entropy. If no row counts, the divergence of the labels, a constant, is left out.
template <class T>
double add_criterion_loss(const Criterion& criterion, const Softmax<T>& sigma, const Matrix<T>& y, Matrix<T>& gradient,
                          int threads, const std::vector<bool>& counts = {});
/// The cluster with the largest score; if the row has a label, among the clusters of this label. Ties go to the lowest.
/// `first` is the number of the first row of scores among the points.
template <class T>
Labels likeliest_clusters(const Constraints& constraints, const Matrix<T>& scores, Index first = 0);
/// Adds "label_rounds", "label_gradient" and "label_gap" (how far the solved labels are from the optimum). Adds a
/// warning if the dual solver did not converge. Does nothing if the labels of all rows were fixed.
template <class T>
void describe_labels(const Matrix<T>& predictions, const LabelSolution<T>& solved, const LabelSettings& settings,
                     const FixedLabels<T>& fixed, FitReport& report, int threads) {
    if (static_cast<Index>(fixed.rows.size()) == predictions.rows()) return;
    const LabelCertificate certificate =
        certify_labels(predictions, solved.labels, settings, threads, fixed, solved.multipliers);
    report.details.emplace_back("label_rounds", static_cast<std::int64_t>(solved.rounds));
    report.details.emplace_back("label_gradient", certificate.gradient);
    report.details.emplace_back("label_gap", std::max(certificate.gap, 0.0));  // rounding can make it negative
    if (settings.solver == LabelSolver::dual && !solved.converged)
        report.warnings.push_back({.code = Code::not_converged,
                                   .problem = "the last labels are not optimal: the dual solver stopped after " +
                                              std::to_string(solved.rounds) + " steps at a gradient of " +
                                              to_text(solved.gradient),
                                   .remedy = "Use `label_solver=em`"});
}
/// Adds the details "decisiveness", "fairness" and "mean_probabilities": the mean entropy of all points' predictions,
/// the divergence of the mean prediction from the prior, and the mean prediction.
void describe_predictions(double decisiveness, const Vector<double>& means, const std::vector<double>& prior,
                          FitReport& report);
/// Sums the n x k scores of clusters over the clusters of each label: n x L. Without labels, returns the scores
/// unchanged.
Matrix<double> scores_of_labels(const Matrix<double>& scores, const ClusterLabels& labels);

/// One-hot labels y from the rows of ln sigma: the largest entry of z = ln(sigma^sharpness) + b. b makes the means of
/// softmax(z) equal the prior to 1 per cent (Sinkhorn in the log domain: optimal transport with entropy 1 / sharpness).
/// Rounding to one-hot may move the means of y away from the prior. The result has the same bits for any number of
/// threads.
template <class T>
Matrix<T> transport_labels(const Matrix<T>& logarithm, const std::vector<double>& prior, double sharpness, int threads);

/// y_ik proportional to sigma_ik / sqrt(sum_j sigma_jk); rows of y sum to 1. Rows j in `fixed` enter the sum over j
/// with their fixed labels.
template <class T>
Matrix<T> alternating_labels(const Matrix<T>& probability, const FixedLabels<T>& fixed = {});

}  // namespace coterie::internal
