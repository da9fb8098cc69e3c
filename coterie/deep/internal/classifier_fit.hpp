#pragma once
// Internal: the trainer of all methods of classifier.hpp. A method is a loss of two views.

#include <functional>
#include <memory>

#include "coterie/deep/classifier.hpp"
#include "coterie/deep/internal/augmentation.hpp"
#include "coterie/deep/internal/deep_fit.hpp"
#include "coterie/entropy/training.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// Describes the options of ClassifierOptions, for the struct `Options`.
template <class Options>
OptionSetFor<Options> describe_classifier() {
    OptionSetFor<Options> set;
    set.template integer<int>("clusters", &Options::clusters, at_least(1), "number of clusters k",
                              "one per label of `partial_labels` (see `clusters_per_label`)")
        .letter('k')
        .template choice<ClassifierNetwork>("network", &Options::network, {"auto", "dense", "vgg4", "resnet18"},
                                            "kind of network; auto: vgg4 with `image`, dense without `image`")
        .integers("image", &Options::image, between(1, 999999),
                  "size of the images: rows and columns (28x28), or channels, rows and columns (3x32x32)",
                  "the rows are not images")
        .integers("widths", &Options::widths, between(1, 999999),
                  "dense: number of units of each layer between the input and the head")
        .template integer<int>("kernel", &Options::kernel, between(1, 15),
                               "vgg4: side of its convolutions, an odd number")
        .text("augment", &Options::augment,
              "random changes of the views: some of flip, rotation, shift, zoom, colour and noise, with commas between "
              "them, or none; auto: rotation,shift,zoom,colour for images, noise for vectors")
        .real("rotation", &Options::rotation, between(0, 180),
              "largest random rotation in either direction, in degrees")
        .real("shift", &Options::shift, between(0, 1),
              "largest random shift in either direction, as a share of each side")
        .real("zoom", &Options::zoom, between(0, 10),
              "largest random zoom: sides are multiplied or divided by up to 1 + `zoom`")
        .real("colour", &Options::colour, between(0, 1),
              "largest random change of a channel: its values times 1 +- `colour`, then +- `colour` times the standard "
              "deviation of the data")
        .real("noise", &Options::noise, between(0, 100),
              "standard deviation of normal noise, as a share of each column's standard deviation")
        .template integer<int>("epochs", &Options::epochs, at_least(1), "number of passes over the rows")
        .template integer<int>("batch_size", &Options::batch_size, at_least(1), "maximum number of rows per batch")
        .real("learning_rate", &Options::learning_rate, above(0), "learning rate of Adam")
        .real("backbone_rate", &Options::backbone_rate, above(0), "learning rate of the layers before the head",
              "`learning_rate`")
        .text("pretrained", &Options::pretrained,
              "file that holds the layers before the head: the model of a classifier, or safetensors with the weights "
              "of ResNet-18 under torchvision's names")
        .real("weight_decay", &Options::weight_decay, at_least(0),
              "weight decay: `weight_decay` times the parameters is added to their gradient")
        .real("label_weight", &Options::label_weight, at_least(0), "weight of the loss of the rows with partial labels")
        .template integer<int>("restarts", &Options::restarts, at_least(1), restarts_meaning)
        .flag("half", &Options::half, "compute in bfloat16, which is faster on devices that support it");
    return set;
}

/// The network for these options and points of d columns. Throws BadArgument.
Architecture classifier_of(const ClassifierOptions& options, Index dimensions);
/// The changes that the option `augment` selects. Throws BadArgument.
Augmentation augmentation_of(const ClassifierOptions& options);

/// Moves for virtual adversarial training of these rows, rows x d; row i has length radii[i]. A move has the direction
/// of the gradient of KL(sigma(x) || sigma(x + move)) at a random move of this length; both may be 0.
Matrix<float> adversarial_moves(Network& network, const std::vector<std::int64_t>& rows, const Vector<double>& radii,
                                RandomStream& random, int threads);

/// The views of a batch.
struct Views {
    bool first_augmented = false;     // false: the point itself
    bool second_adversarial = false;  // false: augmented
    /// Length of adversarial moves, as a share of the distance to the tenth nearest neighbour.
    double radius = 0.25;
};

/// A method's loss.
class ViewLoss {
public:
    virtual ~ViewLoss() = default;
    /// Whether begin_epoch() must be called before every epoch.
    virtual bool looks_at_all() const { return false; }
    /// Receives all points' logits, n x k, before an epoch. State derived from them is part of a checkpoint.
    virtual void begin_epoch(const Matrix<double>&) {}
    /// `logits`: 2 B x k logits of B rows, first those of the first views, then those of the second views. The gradient
    /// is with respect to the logits.
    virtual BatchLoss loss(const Matrix<double>& logits, const std::vector<Index>& rows) = 0;
    virtual void store(Archive&) const {}
    virtual void load(const Archive&) {}
    /// Adds the details of the method to the report.
    virtual void describe(FitReport&) const {}
};

/// What a method can use to make its loss.
struct LossContext {
    const Constraints& constraints;
    std::vector<double> prior;
    int threads;
};
using MakeLoss = std::function<std::unique_ptr<ViewLoss>(LossContext)>;

struct Classified {
    ClassifierState state;
    Labels labels;
    FitReport report;
};
/// `options` has the number of clusters of the constraints. `values`: the method's options, for the checkpoint.
Classified train_classifier(std::string_view method, PointsView points, const ClassifierOptions& options,
                            const OptionValues& values, const std::vector<double>& prior, const Views& views,
                            const MakeLoss& make_loss, const Constraints& constraints, const Run& run);

/// Fits any of these methods. `prior` is the option; empty: uniform.
template <class Options>
ModelWith<ClassifierModel, Options> fit_classifier(const Problem& problem, const Options& options, const Run& run,
                                                   const std::vector<double>& prior, const Views& views,
                                                   const MakeLoss& make_loss) {
    const PointsView points = problem.points;
    const Constraints constraints =
        compile_constraints(points.rows(), options.clusters, problem, ShareRounding::floor, true);
    Options used = options;
    used.clusters = constraints.clusters();
    Classified found = train_classifier(Options::method, points, used, Options::described().values(&used),
                                        prior_of(prior, problem, constraints), views, make_loss, constraints, run);
    return {used, std::move(found.state), constraints.cluster_labels(), std::move(found.labels),
            std::move(found.report)};
}

}  // namespace coterie::deep::internal
