// Three networks that label themselves. They differ only in their Criterion. Its losses and label solvers are those of
// the linear methods (entropy/), applied to the 2 N predictions of a batch. Labels are constants: no gradient passes
// through a solver. Labels per epoch are computed once for all points and are part of a checkpoint.

#include "coterie/deep/entropy_net.hpp"

#include <numeric>

#include "coterie/base/idle_option.hpp"
#include "coterie/deep/internal/classifier_fit.hpp"
#include "coterie/deep/internal/view_losses.hpp"

namespace coterie {

using namespace deep::internal;
namespace {

template <class Options>
OptionSetFor<Options> describe_self_label_net() {
    OptionSetFor<Options> set = describe_classifier<Options>();
    set.template integer<int>("augmentations", &Options::augmentations, between(1, 2),
                              "number of changed views of a row per step; 1: one changed view and the row itself")
        .real("augmentation_weight", &Options::augmentation_weight, at_least(0),
              "penalty on different predictions for the two views");
    return set;
}

class SelfLabelLoss : public ViewLoss {
public:
    SelfLabelLoss(Criterion criterion, double augmentation_weight, const LossContext& context)
        : criterion_(std::move(criterion)),
          weight_(augmentation_weight),
          constraints_(context.constraints),
          threads_(context.threads) {}

    bool looks_at_all() const override { return criterion_.labels_per == LabelsPer::epoch; }

    void begin_epoch(const Matrix<double>& logits) override {
        std::vector<Index> all(at(logits.rows()));
        std::iota(all.begin(), all.end(), Index{0});
        labels_ = labels_for(all, softmax(logits, threads_));
    }

    BatchLoss loss(const Matrix<double>& logits, const std::vector<Index>& rows) override {
        const auto n = static_cast<Index>(rows.size());
        std::vector<Index> both = rows;
        both.insert(both.end(), rows.begin(), rows.end());
        const Softmax<double> sigma = softmax(logits, threads_);
        Matrix<double> y;
        if (looks_at_all()) {
            y.resize(2 * n, logits.cols());
            for (Index r = 0; r < 2 * n; ++r) y.row(r) = labels_.row(both[static_cast<std::size_t>(r)]);
        } else {
            y = labels_for(both, sigma);
        }
        std::vector<bool> counts;
        if (!constraints_.labels.empty())
            for (const Index i : both) counts.push_back(constraints_.label(i) < 0);
        Matrix<double> gradient = Matrix<double>::Zero(2 * n, logits.cols());
        double value = add_criterion_loss(criterion_, sigma, y, gradient, threads_, counts);
        if (weight_ > 0) {
            Matrix<double> first = Matrix<double>::Zero(n, logits.cols()), second = first;
            value += add_view_divergence({sigma.probability.topRows(n), sigma.logarithm.topRows(n)},
                                         {sigma.probability.bottomRows(n), sigma.logarithm.bottomRows(n)}, weight_,
                                         first, second);
            gradient.topRows(n) += first;
            gradient.bottomRows(n) += second;
        }
        return {value, gradient.cast<float>()};
    }

    void store(Archive& archive) const override {
        if (labels_.size() > 0) archive.set_points("epoch_labels", labels_);
    }
    void load(const Archive& archive) override {
        if (archive.has("epoch_labels"))
            labels_ =
                to_matrix<double>(archive.points("epoch_labels", constraints_.points, constraints_.clusters()).view());
    }

    void describe(FitReport& report) const override {
        if (criterion_.rule != internal::LabelRule::self_label || last_.labels.size() == 0) return;
        describe_labels(last_predictions_, last_, criterion_.labels, last_fixed_, report, threads_);
    }

private:
    // Stores the labels, so that the report can say how close to optimal they are.
    const Matrix<double>& labels_for(const std::vector<Index>& rows, const Softmax<double>& sigma) {
        last_predictions_ = sigma.probability;
        last_fixed_ = fixed_labels(constraints_, rows, sigma);
        last_ = labels_of(criterion_, sigma, last_fixed_, threads_);
        return last_.labels;
    }

    Criterion criterion_;
    double weight_;
    const Constraints& constraints_;
    int threads_;
    Matrix<double> labels_;  // of all points, if labels are per epoch
    Matrix<double> last_predictions_;
    FixedLabels<double> last_fixed_;
    LabelSolution<double> last_;
};

// `criterion` is what differs between the three. It does not have the prior yet.
template <class Options>
ModelWith<ClassifierModel, Options> fit_labels(const Problem& problem, const Options& options, const Run& run,
                                               const std::vector<double>& prior, Criterion criterion) {
    criterion.labels_per = options.labels_per;
    return fit_classifier(problem, options, run, prior, {.first_augmented = options.augmentations == 2},
                          [&](const LossContext& context) {
                              criterion.prior = criterion.labels.prior = context.prior;
                              return std::make_unique<SelfLabelLoss>(criterion, options.augmentation_weight, context);
                          });
}

}  // namespace

const OptionSet& EntropyNetOptions::described() {
    static const OptionSet set =
        describe_self_label_net<EntropyNetOptions>()
            .real("lambda", &EntropyNetOptions::lambda, OptionRange{.low = 0, .high = 1e6, .low_open = true},
                  "penalty on computed labels with other cluster shares than `prior`; larger values keep shares closer")
            .reals("prior", &EntropyNetOptions::prior, above(0), prior_meaning, automatic_prior)
            .choice(
                "label_solver", &EntropyNetOptions::label_solver, {"em", "dual"},
                "how labels are computed: by `label_rounds` rounds of EM, or exactly, by Newton's method on the dual")
            .integer("label_rounds", &EntropyNetOptions::label_rounds, at_least(1), "number of rounds of EM")
            .choice("labels_per", &EntropyNetOptions::labels_per, {"batch", "epoch"},
                    "compute new labels for every batch or for every epoch");
    return set;
}
const OptionSet& SelaNetOptions::described() {
    static const OptionSet set =
        describe_self_label_net<SelaNetOptions>()
            .real("sharpness", &SelaNetOptions::sharpness, between(1e-6, 1e6),
                  "sharpness of the transport: predictions are raised to this power before their row and column sums "
                  "are scaled")
            .reals("prior", &SelaNetOptions::prior, above(0), prior_meaning, automatic_prior)
            .choice("labels_per", &SelaNetOptions::labels_per, {"batch", "epoch"},
                    "compute new labels for every batch or for every epoch");
    return set;
}
const OptionSet& MiadmNetOptions::described() {
    static const OptionSet set = describe_self_label_net<MiadmNetOptions>().choice(
        "labels_per", &MiadmNetOptions::labels_per, {"batch", "epoch"},
        "compute new labels for every batch (MIADM*) or for every epoch");
    return set;
}

EntropyNetModel EntropyNetMethod::fit(const Problem& problem, const EntropyNetOptions& options, const Run& run) {
    refuse_idle(options.label_rounds != EntropyNetOptions().label_rounds, options.label_solver == LabelSolver::em,
                "label_rounds", "`label_solver=em`");
    return fit_labels(
        problem, options, run, options.prior,
        {.rule = internal::LabelRule::self_label,
         .labels = {.solver = options.label_solver, .lambda = options.lambda, .rounds = options.label_rounds}});
}

SelaNetModel SelaNetMethod::fit(const Problem& problem, const SelaNetOptions& options, const Run& run) {
    return fit_labels(problem, options, run, options.prior,
                      {.rule = internal::LabelRule::transport, .sharpness = options.sharpness});
}

MiadmNetModel MiadmNetMethod::fit(const Problem& problem, const MiadmNetOptions& options, const Run& run) {
    return fit_labels(problem, options, run, {}, {.rule = internal::LabelRule::alternating});
}

}  // namespace coterie
