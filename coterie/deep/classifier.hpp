#pragma once
// Networks that end in a softmax, trained without labels on two views of every point. Deep discriminative entropy
// clustering and its baselines share this code (entropy_net.hpp, imsat.hpp).
//
//     X        n x d   points; for images, channels x rows x columns in a row
//     f        d -> M  the network before its head;  V k x M, b k: the head
//     sigma_i  k       softmax(V f(x_i) + b)
//     x', x''          views of x: the point itself, a random change of it, or an adversarial move
//
// An epoch is one pass over the points in a random order, in batches of at most batch_size points whose sizes differ by
// at most one. Both views of a batch pass through the network at the same time, so batch norms use both. Adam moves all
// parameters by the gradient of the method's loss plus weight_decay times the parameters.
//
// After an epoch, all points are evaluated as in predictions. The fit keeps the epoch with the smallest criterion: the
// mean of H(sigma_i) + KL(sigmabar || u) over all points, plus the loss of the labelled points. The losses themselves
// cannot compare epochs, because random shares within a batch matter more as predictions become more decisive. Balanced
// epochs come first: the entropy of their cluster sizes is at least half of the prior's entropy. If every cluster has
// labelled points, and their entropy is smaller than the prior's, half of their entropy is sufficient.
//
// With `pretrained`, the layers before the head start from a file. The file is another classifier's model or, for
// resnet18, weights with torchvision's names. The learning rate of these layers is backbone_rate. (For its
// self-supervised ResNet-18, the paper uses 1e-5, and 1e-1 for the head.)
//
// `augment` selects the random changes: any of flip, rotation, shift, zoom and colour (only images), and noise.
// automatic: rotation, shift, zoom and colour for images, noise for vectors.
//
// Partial labels add label_weight times the mean of -ln(sum of the probabilities of the label's clusters). The mean is
// over as many labelled points as a batch has, which are used in turn. Labels that a method assigns itself are then
// fixed for labelled points. Label shares give the prior.
//
// Points need not fit into memory: the rows of a batch are read when it is computed. With several processes, rank 0
// trains, and all processes share the evaluation of all points after an epoch.
//
// Cost of an epoch: 6 n times the number of products in the network, per view. Memory: the logits, the activations of
// both views of a batch, four copies of the parameters.

#include <string>
#include <vector>

#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/model/restarts.hpp"

namespace coterie {

enum class ClassifierNetwork { automatic, dense, vgg4, resnet18 };

struct ClassifierOptions {
    std::optional<int> clusters = 8;  // k; automatic: the number of distinct partial labels
    ClassifierNetwork network = ClassifierNetwork::automatic;
    std::vector<int> image =
        {};  // rows and columns, preceded by the channels if there are several; empty: the points are vectors
    std::vector<int> widths = {1200, 1200};
    int kernel = 3;  // of vgg4's convolutions, odd
    std::string augment = "auto";
    double rotation = 15;  // strengths: see augmentation.hpp
    double shift = 0.1;
    double zoom = 0.1;
    double colour = 0.2;
    double noise = 0.3;
    int epochs = 50;
    int batch_size = 250;
    double learning_rate = 1e-3;
    std::optional<double> backbone_rate = {};  // for the layers before the head; automatic: learning_rate
    double weight_decay = 1e-4;
    std::string pretrained;  // a file with the layers before the head
    double label_weight = 1;
    int restarts = 1;  // whole fits; the one with the smallest ClassifierModel::restart_criterion() is kept
    bool half = false;
};

/// The state of a classifier.
struct ClassifierState {
    Index dimensions = 0;                        // d
    double unit = 1;                             // points are divided by `unit` before they enter the network
    std::vector<std::vector<float>> parameters;  // layer by layer: weights, biases, running means and variances
};

/// The label of a point is its most probable cluster; ties go to the lowest. Points enter the network in single
/// precision, in batches. The other points change the result for a point only by rounding errors.
class COTERIE_API ClassifierModel : public Model {
public:
    /// With the number of clusters that was used.
    virtual const ClassifierOptions& options() const = 0;
    Index dimensions() const override { return state_.dimensions; }
    int clusters() const override { return *options().clusters; }
    const ClassifierState& state() const { return state_; }
    /// The detail "criterion" of the fit. It compares starts without true labels.
    double restart_criterion() const;

    /// Embedding: f(x). Memberships: sigma. Label scores: the probability of each label, summed over its clusters.
    OutputSet outputs() const override {
        return cluster_labels_.empty() ? OutputSet{Output::embedding, Output::memberships}
                                       : OutputSet{Output::embedding, Output::memberships, Output::label_scores};
    }

protected:
    ClassifierModel() = default;
    ClassifierModel(ClassifierState state, ClusterLabels cluster_labels, Labels labels, FitReport report)
        : Model(std::move(labels), std::move(report), std::move(cluster_labels)), state_(std::move(state)) {}
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

    ClassifierState state_;
};

namespace internal {
/// What the methods have in common.
template <class Options>
struct ClassifierMethod : RestartedMethodWith<Options, ModelWith<ClassifierModel, Options>> {
    static constexpr Takes takes = {
        .blocks = true, .labels = true, .shares = Shares::number, .device = true, .checkpoint = true};
    static constexpr About about = {.compare = {.why_not = "it trains a network"}};
};
}  // namespace internal

}  // namespace coterie
