#pragma once
// Internal: the shared part of deep fits: options, the network and its pre-training, checkpoints, the report.

#include <optional>

#include "coterie/deep/autoencoder.hpp"
#include "coterie/deep/network.hpp"
#include "coterie/model/checkpoint.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

inline constexpr const char* restarts_of_networks =
    "number of whole fits from different starts, including pre-training; the fit with the smallest scatter of the rows "
    "within clusters is kept";

/// Describes the options of AutoencoderOptions, for the struct `Options`.
template <class Options>
OptionSetFor<Options> describe_autoencoder(const std::string& of_restarts = restarts_of_networks) {
    OptionSetFor<Options> set;
    set.template integer<int>("clusters", &Options::clusters, at_least(1), "number of clusters k")
        .letter('k')
        .template choice<AutoencoderNetwork>("network", &Options::network, {"auto", "dense", "convolutional"},
                                             "kind of network; auto: convolutional with `image`, dense without `image`")
        .integers("image", &Options::image, between(1, 999999),
                  "size of the images: rows and columns (28x28), or channels, rows and columns (3x32x32)",
                  "the rows are not images")
        .integers("widths", &Options::widths, between(1, 999999),
                  "dense: number of units of each layer between the input and the embedding")
        .template integer<int>("embedding", &Options::embedding, between(1, 4096),
                               "number of dimensions p of the embedding")
        .template integer<int>("pretrain_epochs", &Options::pretrain_epochs, at_least(0),
                               "number of passes over the rows that train the autoencoder before clustering")
        .template integer<int>("pretrain_batch_size", &Options::pretrain_batch_size, at_least(1),
                               "number of rows per batch in pre-training")
        .real("pretrain_rate", &Options::pretrain_rate, above(0), "learning rate of Adam in pre-training")
        .text("pretrained", &Options::pretrained,
              "model file of a deep method; its autoencoder is used instead of pre-training")
        .template integer<int>("kmeans_restarts", &Options::kmeans_restarts, at_least(1),
                               "number of runs of k-means in the first embedding; the best run is kept")
        .template integer<int>("restarts", &Options::restarts, at_least(1), of_restarts)
        .flag("half", &Options::half, "compute in bfloat16, which is faster on devices that support it");
    return set;
}

// Shared by all methods with a network, whether autoencoder or classifier.

/// The loss of a batch, from the encoder's output for its rows.
struct BatchLoss {
    double value = 0;
    Matrix<float> gradient;  // with respect to the encoder's output
};

/// One number for each update or epoch so far. A checkpoint has those that are not empty.
struct Course {
    std::vector<double> objectives, criteria, balances, changed, losses;

    void store(Archive& archive) const;
    void load(const Archive& archive);
};

/// `image`: rows and columns, optionally preceded by channels. Throws BadArgument unless it has d numbers.
ImageShape image_shape(const std::vector<int>& image, Index dimensions);
/// The points, checked for a method with this many clusters.
PointsView checked(PointsView points, int clusters, const Run& run);
/// The part of `labels` (of all rows) that belongs to this process's rows.
Labels own_part(const Labels& labels, PointsView points, const Run& run);
/// Fingerprint of a checkpoint's points and of an additional file. `path` is empty if there is no file.
std::string fingerprint_with(PointsView points, const std::string& path, const Run& run);
/// The options that belong to a checkpoint. They have no file names, because the fingerprint covers the content of a
/// file, wherever it is stored.
OptionValues without_files(OptionValues options);
/// The output of a network with these parameters for the points, in double. Throws BadData for values beyond 1e15.
Matrix<double> encoded(PointsView points, double unit, const Architecture& architecture, const Parameters& parameters,
                       bool half, const Run& run);
/// Adds the details "parameters", "network", "device" and "backend".
void describe_network(const Network& network, const std::string& name, const Run& run, FitReport& report);

/// The network for these options and points of d columns. Throws BadArgument.
Architecture architecture_of(const AutoencoderOptions& options, Index dimensions);

/// Throws BadData unless the model that `pretrained` names was fitted by one of these methods.
void require_kind(const Archive& model, const std::string& path, std::initializer_list<std::string_view> methods);

class DeepFit {
public:
    /// Checks options and points, and creates the network.
    DeepFit(std::string_view method, PointsView points, const AutoencoderOptions& options, const OptionValues& values,
            const Run& run);

    /// Trains the autoencoder, or reads it from a file. Continues from a checkpoint. network() then has the result.
    void pretrain();

    Network& network() { return network_; }
    const Run& run() const { return run_; }
    PointsView points() const { return points_; }
    Index count() const { return points_.rows(); }
    Index width() const { return network_.architecture().outputs; }
    /// f(X) in double, on every process.
    Matrix<double> embedding();
    FitReport& report() { return report_; }
    /// Adds the stage's seconds, including those before a checkpoint, to the report.
    void end_stage(const std::string& name);

    Checkpoint& checkpoint() { return checkpoint_; }
    /// The checkpoint found at the start of the fit, if pre-training was complete (its `stage` is "clustering").
    const std::optional<Archive>& resumed() const { return resumed_; }
    /// The state of network and optimizers, and the results of pre-training.
    Archive snapshot(const std::string& stage) const;

    /// The parameters, and the final entries of the report.
    DeepState state(Matrix<double> rotation, Matrix<double> centroids) const;
    /// labels: of all points.
    void finish(const Labels& labels, int clusters);

private:
    PointsView points_;
    const AutoencoderOptions& options_;
    const Run& run_;
    Network network_;
    FitReport report_;
    Stopwatch watch_;
    double earlier_ = 0;  // seconds that this stage took before the checkpoint
    Checkpoint checkpoint_;
    std::optional<Archive> resumed_;
    std::vector<double> reconstruction_;  // one number per epoch
};

/// Entropy of k shares divided by ln k: 1 for equal shares and for k = 1, 0 if one share is everything.
double balance_of(const std::vector<double>& shares);
/// The same for the sizes of the clusters.
double balance(const Labels& labels, int clusters);

}  // namespace coterie::deep::internal
