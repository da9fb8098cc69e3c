#pragma once
// Discriminative entropy clustering with a linear softmax model (Zhang and Boykov), and its baselines.
//
//     X       n x d  points;  sigma_i = softmax(V x_i + b), V = v' k x d, b k;  bars are means over points
//     u       k      prior share of each cluster (uniform unless given)
//     s              the unit of the points: their root mean square distance from the mean, divided by sqrt(2.5 k);
//                    1 if all points are equal
//     gamma          weight of || s V ||^2, the squared Frobenius norm of the weights of the points x / s; it does not
//                    include the bias b
//
// Training uses the points x / s, with steps in W = s V. So multiplying all points by the same number changes nothing.
// While predictions are nearly even, the gradient of a point for each of k clusters is about 1 / k. s falls with k in a
// similar way, so one learning rate suits 2 clusters as well as 20. b is trained like the weight of a constant column.
// The value of this column is 1 / 7.25 times the points' root mean square distance from the mean.
// V starts as random combinations of the points minus their mean. This start depends neither on the order of the
// columns nor on columns of zeros. In the losses below ||V|| stands for ||s V||.
//
//     entropy, self-label   gamma ||V||^2 + mean H(sigma_i, y_i) + lambda KL(u || ybar)     (42), label_solver.hpp
//     entropy, mi           gamma ||V||^2 + mean H(sigma_i) + fairness KL(sigmabar || u)    (6)
//     entropy, renyi        the same with R_alpha(sigma_i) instead of H(sigma_i)          (15)
//     mi                    MIGD: (6) by gradient descent
//     sela                  gamma ||V||^2 + mean H(y_i, sigma_i), y one-hot, ybar = u       (8), optimal transport
//     miadm                 gamma ||V||^2 + mean H(y_i, sigma_i) - H(ybar)                  (12),
//                           y_ik proportional to sigma_ik / sqrt(sum_j sigma_jk)
//
// Partial labels add label_weight times the mean, over the labelled points, of -ln(sum of the probabilities of the
// label's clusters). The y of a labelled point is 0 outside these clusters. Label shares (single numbers, no intervals)
// determine u: the clusters of a label divide its share evenly, and the other clusters divide the rest evenly.
//
// sgd: an epoch is one pass over the points in a random order, in batches. Each loss is computed within a batch. lbfgs:
// an epoch computes new labels for all points and then does up to 100 iterations with them. Time: n k d per epoch (sgd)
// or iteration (lbfgs). Memory in addition to the points, in numbers of their type: 10 k per row of a batch (sgd), or
// per point (lbfgs, or labels per epoch); 3 n k for the report at the end. lbfgs needs 20 k d doubles more.

#include <string_view>
#include <variant>

#include "coterie/entropy/label_solver.hpp"
#include "coterie/entropy/linear_softmax.hpp"
#include "coterie/model/restarts.hpp"

namespace coterie {

enum class Optimizer { sgd, lbfgs };
enum class LabelsPer { batch, epoch };
enum class TrainingOrigin { mean, zero };
enum class EntropyLoss { self_label, mi, renyi };

/// The options that all four methods share.
struct LinearTrainingOptions {
    std::optional<int> clusters = 8;  // k; automatic: one per partial label, or as many as problem.clusters_per_label
                                      // says
    double gamma = 0.003;
    // lbfgs: gamma falls geometrically from this value to `gamma` over the epochs. Automatic: gamma is constant.
    std::optional<double> gamma_start = {};
    Optimizer optimizer = Optimizer::sgd;
    double learning_rate = 0.1;
    double momentum = 0.9;
    int epochs = 50;
    int batch_size = 250;
    // The origin m of training: its logits are V (x - m) + c. The set of possible models is the same for mean and zero.
    // If the points are far from 0, mean gives shorter steps.
    TrainingOrigin origin = TrainingOrigin::mean;
    double start_scale = 0.15;  // root mean square of the first logits V x + b
    double label_weight = 1;
};

struct COTERIE_API EntropyOptions : LinearTrainingOptions {
    int restarts = 1;  // the fit with the smallest SoftmaxModel::restart_criterion() is kept
    EntropyLoss loss = EntropyLoss::self_label;
    double alpha = 1;                // for renyi; 0 means infinity
    double lambda = 100;             // for self-label
    double fairness = 1;             // for mi and renyi
    std::vector<double> prior = {};  // k shares; empty: uniform
    LabelSolver label_solver = LabelSolver::em;
    int label_rounds = 10;  // for em
    LabelsPer labels_per = LabelsPer::batch;

    static constexpr std::string_view method = "entropy";
    static const OptionSet& described();
};

struct COTERIE_API MiOptions : LinearTrainingOptions {
    int restarts = 1;  // the fit with the smallest SoftmaxModel::restart_criterion() is kept
    double fairness = 1;
    std::vector<double> prior = {};  // k shares; empty: uniform

    static constexpr std::string_view method = "mi";
    static const OptionSet& described();
};

struct COTERIE_API SelaOptions : LinearTrainingOptions {
    // One-hot labels that are fixed for an epoch keep the gradients large until its end, even for certain predictions.
    // These defaults compensate for that.
    SelaOptions() {
        learning_rate = 0.01;
        gamma = 0.03;
    }
    int restarts = 1;                // the fit with the smallest SoftmaxModel::restart_criterion() is kept
    double sharpness = 25;           // of the transport: 1 / weight of its entropy
    std::vector<double> prior = {};  // k shares; empty: uniform
    LabelsPer labels_per = LabelsPer::epoch;

    static constexpr std::string_view method = "sela";
    static const OptionSet& described();
};

struct COTERIE_API MiadmOptions : LinearTrainingOptions {
    int restarts = 1;  // the fit with the smallest SoftmaxModel::restart_criterion() is kept
    LabelsPer labels_per = LabelsPer::epoch;

    static constexpr std::string_view method = "miadm";
    static const OptionSet& described();
};

/// A linear softmax model. The label of a point is its most probable cluster; ties go to the lowest.
class COTERIE_API SoftmaxModel : public Model {
public:
    using Linear = std::variant<LinearSoftmax<float>, LinearSoftmax<double>>;

    /// With the number of clusters that was used.
    virtual const LinearTrainingOptions& options() const = 0;
    Index dimensions() const override;
    int clusters() const override { return *options().clusters; }
    /// In the scalar type of the training points.
    const Linear& linear() const { return linear_; }
    /// mean H(sigma_i) + KL(sigmabar || u) over all training points. It tells good starts from bad ones without labels.
    double restart_criterion() const;

    /// Memberships: sigma. Label scores: the probability of each label, summed over its clusters.
    OutputSet outputs() const override {
        return cluster_labels_.empty() ? OutputSet{Output::memberships}
                                       : OutputSet{Output::memberships, Output::label_scores};
    }

protected:
    SoftmaxModel() = default;
    SoftmaxModel(Linear linear, ClusterLabels cluster_labels, Labels labels, FitReport report)
        : Model(std::move(labels), std::move(report), std::move(cluster_labels)), linear_(std::move(linear)) {}
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

    Linear linear_;
};
using EntropyModel = ModelWith<SoftmaxModel, EntropyOptions>;
using MiModel = ModelWith<SoftmaxModel, MiOptions>;
using SelaModel = ModelWith<SoftmaxModel, SelaOptions>;
using MiadmModel = ModelWith<SoftmaxModel, MiadmOptions>;

namespace internal {
/// What the four methods have in common.
template <class Options>
struct SoftmaxMethod : RestartedMethodWith<Options, ModelWith<SoftmaxModel, Options>> {
    static constexpr Takes takes = {.blocks = true, .labels = true, .shares = Shares::number, .checkpoint = true};
};
}  // namespace internal

/// n x d points, 1 <= clusters <= n. labels() of a point with a partial label is its most probable cluster among those
/// of that label. For other points it equals predict. If clusters are empty, the fit succeeds with a warning.
/// The report's details: "decisiveness" (mean H(sigma_i)), "fairness" (KL(sigmabar || u)), "weight_norm" (||s V||),
/// "mean_probabilities". Self-label adds "label_rounds", "label_gradient" and "label_gap" of the last labels (see
/// LabelCertificate), unless all their rows have partial labels.
/// Throws BadArgument (options, shapes, conflicting labels, options that would have no effect, or training that
/// diverges because the learning rate is too large), BadData (values), ResourceError, and Cancelled if it is stopped
/// before the first epoch is complete. If it is stopped later, the result is the current model, with the objective of
/// the last complete epoch (lbfgs: of the model).
struct COTERIE_API EntropyMethod : internal::SoftmaxMethod<EntropyOptions> {
    static constexpr std::string_view summary =
        "discriminative entropy clustering: a linear softmax model with confident predictions and balanced clusters";
    static constexpr About about = {.compare = {.why_not = "its options must be chosen for the data"},
                                    .rule = LabelRule::softmax};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API MiMethod : internal::SoftmaxMethod<MiOptions> {
    static constexpr std::string_view summary =
        "maximises the mutual information of rows and clusters by gradient descent (MIGD)";
    static constexpr About about = {.compare = {.why_not = "its rates must be chosen"}, .rule = LabelRule::softmax};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API SelaMethod : internal::SoftmaxMethod<SelaOptions> {
    static constexpr std::string_view summary =
        "self-labelling by optimal transport: a linear softmax model trained on balanced hard labels";
    static constexpr About about = EntropyMethod::about;
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API MiadmMethod : internal::SoftmaxMethod<MiadmOptions> {
    static constexpr std::string_view summary =
        "self-labelling by alternating directions: a linear softmax model trained on soft labels";
    static constexpr Takes takes = {.blocks = true, .labels = true, .checkpoint = true};
    static constexpr About about = {
        .compare = {.why_not = "its rates must be chosen"}, .rule = LabelRule::softmax, .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr RestartedFit<EntropyMethod> fit_entropy{};
inline constexpr RestartedFit<MiMethod> fit_mi{};
inline constexpr RestartedFit<SelaMethod> fit_sela{};
inline constexpr RestartedFit<MiadmMethod> fit_miadm{};

}  // namespace coterie
