// IMSAT and IIC. Their losses depend only on the logits of two views, so one class is sufficient. They have no state
// between batches, so a checkpoint stores nothing for them. classifier_fit.cpp makes the views.

#include "coterie/deep/imsat.hpp"

#include "coterie/deep/internal/classifier_fit.hpp"
#include "coterie/deep/internal/view_losses.hpp"

namespace coterie {

using namespace deep::internal;
namespace {

class PairLoss : public ViewLoss {
public:
    /// Adds gradients with respect to the logits of both views, and returns the value.
    using Loss = std::function<double(const Softmax<double>& sigma, const Softmax<double>& tau,
                                      Matrix<double>& by_first, Matrix<double>& by_second)>;
    PairLoss(Loss loss, int threads) : loss_(std::move(loss)), threads_(threads) {}

    BatchLoss loss(const Matrix<double>& logits, const std::vector<Index>& rows) override {
        const auto n = static_cast<Index>(rows.size());
        Matrix<double> first = Matrix<double>::Zero(n, logits.cols()), second = first;
        const double value = loss_(softmax(Matrix<double>(logits.topRows(n)), threads_),
                                   softmax(Matrix<double>(logits.bottomRows(n)), threads_), first, second);
        BatchLoss out{value, Matrix<float>(2 * n, logits.cols())};
        out.gradient << first.cast<float>(), second.cast<float>();
        return out;
    }

private:
    Loss loss_;
    int threads_;
};

}  // namespace

const OptionSet& ImsatOptions::described() {
    static const OptionSet set =
        describe_classifier<ImsatOptions>()
            .real("fairness", &ImsatOptions::fairness, at_least(0), fairness_meaning)
            .real("augmentation_weight", &ImsatOptions::augmentation_weight, at_least(0),
                  "penalty on differences between the predictions for the second view and for the row itself")
            .reals("prior", &ImsatOptions::prior, above(0), prior_meaning, automatic_prior)
            .choice("view", &ImsatOptions::view, {"auto", "adversarial", "augmented"},
                    "second view of a row: moved to change its prediction most (adversarial), or changed by `augment` "
                    "(augmented); auto: augmented for images, else adversarial")
            .real("adversarial_radius", &ImsatOptions::adversarial_radius, at_least(0),
                  "distance of the adversarial view from the row, as a share of the distance to its tenth nearest "
                  "neighbour");
    return set;
}
const OptionSet& IicOptions::described() {
    static const OptionSet set = describe_classifier<IicOptions>().integer(
        "augmentations", &IicOptions::augmentations, between(1, 2),
        "number of changed views of a row per step; 1: one changed view and the row itself");
    return set;
}

ImsatModel ImsatMethod::fit(const Problem& problem, const ImsatOptions& options, const Run& run) {
    Views views;
    views.second_adversarial =
        options.view == ImsatView::adversarial || (options.view == ImsatView::automatic && options.image.empty());
    views.radius = options.adversarial_radius;
    augmentation_of(options);  // reports its errors first
    if (views.second_adversarial && (options.augment != "auto" || options.noise != ImsatOptions().noise))
        throw BadArgument(
            Code::without_effect, "this option changes nothing, because the view is adversarial, not augmented",
            "Leave it out, or use `view=augmented`", {.option = options.augment != "auto" ? "augment" : "noise"});
    return fit_classifier(problem, options, run, options.prior, views, [&](const LossContext& context) {
        const Criterion criterion{.fairness = options.fairness, .prior = context.prior};
        const auto loss = [criterion, threads = context.threads, weight = options.augmentation_weight](
                              const Softmax<double>& sigma, const Softmax<double>& tau, Matrix<double>& first,
                              Matrix<double>& second) {
            return add_criterion_loss(criterion, sigma, {}, first, threads) + add_following(sigma, tau, weight, second);
        };
        return std::make_unique<PairLoss>(loss, context.threads);
    });
}

IicModel IicMethod::fit(const Problem& problem, const IicOptions& options, const Run& run) {
    return fit_classifier(
        problem, options, run, {}, {.first_augmented = options.augmentations == 2},
        [](const LossContext& context) { return std::make_unique<PairLoss>(add_pair_information, context.threads); });
}

}  // namespace coterie
