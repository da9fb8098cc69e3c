#pragma once
// Discriminative entropy clustering with a network (Zhang and Boykov), and its self-labelling baselines as networks.
// The notation is that of classifier.hpp and entropy/entropy.hpp; equation numbers are the paper's. A batch has N
// points in two views x', x''. With the predictions sigma of all 2 N views and their labels y, the losses are
//
//     entropy-net   mean H(sigma_i, y_i) + lambda KL(u || ybar)      (42), y minimises it for fixed sigma
//     sela-net      mean H(y_i, sigma_i), y one-hot, ybar = u        (8), optimal transport
//     miadm-net     mean H(y_i, sigma_i) - H(ybar)                   (12), y_ik ~ sigma_ik / sqrt(sum_j sigma_jk)
//
// plus augmentation_weight times the mean over the points of KL(sigma' || sigma'') + KL(sigma'' || sigma') (7). Both
// views are changed at random; with augmentations = 1, x' is the point itself. Labels are computed for the 2 N
// predictions of a batch. With labels per epoch, they are computed for the predictions of all points, and hold for both
// views.

#include "coterie/deep/classifier.hpp"
#include "coterie/entropy/entropy.hpp"

namespace coterie {

struct SelfLabelNetOptions : ClassifierOptions {
    int augmentations = 2;  // 1 or 2
    double augmentation_weight = 0.2;
};

struct COTERIE_API EntropyNetOptions : SelfLabelNetOptions {
    EntropyNetOptions() = default;  // not an aggregate: GCC 12 gives false warnings about copies of one

    double lambda = 100;
    std::vector<double> prior = {};  // k shares; empty: uniform
    LabelSolver label_solver = LabelSolver::em;
    int label_rounds = 10;  // for em
    LabelsPer labels_per = LabelsPer::batch;

    static constexpr std::string_view method = "entropy-net";
    static const OptionSet& described();
};
struct COTERIE_API SelaNetOptions : SelfLabelNetOptions {
    SelaNetOptions() = default;  // not an aggregate: GCC 12 gives false warnings about copies of one

    double sharpness = 25;           // of the transport: 1 / weight of its entropy
    std::vector<double> prior = {};  // k shares; empty: uniform
    LabelsPer labels_per = LabelsPer::epoch;

    static constexpr std::string_view method = "sela-net";
    static const OptionSet& described();
};
struct COTERIE_API MiadmNetOptions : SelfLabelNetOptions {
    MiadmNetOptions() = default;  // not an aggregate: GCC 12 gives false warnings about copies of one

    LabelsPer labels_per = LabelsPer::batch;  // batch: the paper's MIADM*

    static constexpr std::string_view method = "miadm-net";
    static const OptionSet& described();
};
using EntropyNetModel = ModelWith<ClassifierModel, EntropyNetOptions>;
using SelaNetModel = ModelWith<ClassifierModel, SelaNetOptions>;
using MiadmNetModel = ModelWith<ClassifierModel, MiadmNetOptions>;

/// n x d points, 1 <= clusters <= n. labels() of a point with a partial label is its most probable cluster among those
/// of this label. The report's objective is the loss of each epoch. Its details are:
/// "decisiveness", "fairness" and "mean_probabilities" as in fit_entropy; "kept_epoch" (from 1); "criterion_per_epoch",
/// and "criterion" (its value in the kept epoch); "balance_per_epoch" (entropy of the cluster sizes divided by ln k);
/// for entropy-net "label_rounds", "label_gradient" and "label_gap" of the last solved labels
/// (entropy/label_solver.hpp); "changed_per_epoch" (shares), "parameters", "network", "device", "backend".
/// Throws BadArgument (options, an image size other than d, training that diverges), BadData (values, a checkpoint of
/// another fit), ResourceError (no LibTorch), and Cancelled if it is stopped before the first epoch is complete.
struct COTERIE_API EntropyNetMethod : internal::ClassifierMethod<EntropyNetOptions> {
    static constexpr std::string_view summary =
        "discriminative entropy clustering: a network trained on its own labels (LibTorch)";
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API SelaNetMethod : internal::ClassifierMethod<SelaNetOptions> {
    static constexpr std::string_view summary =
        "self-labelling by optimal transport: a network trained on one-hot labels (LibTorch)";
    static constexpr About about = {.compare = {.why_not = "it trains a network"}, .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API MiadmNetMethod : internal::ClassifierMethod<MiadmNetOptions> {
    static constexpr std::string_view summary =
        "self-labelling by alternating directions: a network trained on soft labels (LibTorch)";
    static constexpr Takes takes = {.blocks = true, .labels = true, .device = true, .checkpoint = true};
    static constexpr About about = {.compare = {.why_not = "it trains a network"}, .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr RestartedFit<EntropyNetMethod> fit_entropy_net{};
inline constexpr RestartedFit<SelaNetMethod> fit_sela_net{};
inline constexpr RestartedFit<MiadmNetMethod> fit_miadm_net{};

}  // namespace coterie
