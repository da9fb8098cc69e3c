#pragma once
// Autoencoders, and the common part of all methods that cluster in an autoencoder's embedding.
//
//     X      n x d   points; for images, channels x rows x columns in a row
//     f      encoder, d -> p;  g decoder, p -> d
//     H      n x p   f(X), the embedding
//
// Pre-training minimises the mean of || g(f(x)) - x ||^2 / d over batches with Adam. Every epoch draws a new order.
// dense: d - widths - p with ReLU between, and its mirror. convolutional: 5 x 5 (32), 5 x 5 (64), 3 x 3 (128), stride
// 2, ReLU, then dense to p; and its mirror. Networks run in LibTorch, in single precision. The first network loads a
// separate library for this. On the CPU of one machine, a fit has the same bits with any number of threads.
//
// Points need not fit into memory: the rows of a batch are read when it is computed. With several processes, rank 0
// trains. All processes share the work that needs all points: the embedding, and k-means in the embedding.
//
// Cost of an epoch: 6 n times the network's parameters. In convolutions, each parameter counts once per position.
// Memory: H, the activations of a batch, four copies of the parameters.

#include <string>
#include <vector>

#include "coterie/model/restarts.hpp"

namespace coterie {

enum class AutoencoderNetwork { automatic, dense, convolutional };

struct AutoencoderOptions {
    int clusters = 8;  // k
    AutoencoderNetwork network = AutoencoderNetwork::automatic;
    std::vector<int> image =
        {};  // rows and columns, preceded by the channels if there are several; empty: the points are vectors
    std::vector<int> widths = {500, 500, 2000};
    int embedding = 10;  // p
    int pretrain_epochs = 200;
    int pretrain_batch_size = 256;
    double pretrain_rate = 1e-3;
    std::string pretrained;     // a model file from which to take the autoencoder
    int kmeans_restarts = 100;  // for the first embedding
    int restarts = 1;           // whole fits; the one with the smallest DeepModel::restart_criterion() is kept
    bool half = false;
};

/// Options of the methods that alternate between clustering the embedding and training the network.
struct AlternatingOptions : AutoencoderOptions {
    double learning_rate = 1e-3;
    int batch_size = 256;
    std::optional<int> update_interval = 140;  // batches; automatic (dekm): depends on the network
    int max_iterations = 14000;                // batches
    double tolerance = 0.001;
};

struct COTERIE_API AeKMeansOptions : AutoencoderOptions {
    static constexpr std::string_view method = "ae-kmeans";
    static const OptionSet& described();
};

/// The state of a deep model.
struct DeepState {
    Index dimensions = 0;                        // d
    double unit = 1;                             // points are divided by `unit` before they enter the network
    std::vector<std::vector<float>> parameters;  // encoder and decoder, layer by layer: weights, then biases
    Matrix<double> rotation;                     // p x p, orthonormal rows: V of dekm; the identity for other methods
    Matrix<double> centroids;                    // k x p, in the embedding
};

/// The label of a point is its nearest centroid in the centroids' space. This is the embedding, or for dekm the
/// embedding times V'. Points enter the network in single precision, in batches. The other points change the result for
/// a point only by rounding errors.
class COTERIE_API DeepModel : public Model {
public:
    virtual const AutoencoderOptions& options() const = 0;
    Index dimensions() const override { return state_.dimensions; }
    int clusters() const override { return static_cast<int>(state_.centroids.rows()); }
    /// Embedding: coordinates in the centroids' space. Distances: from the centroids, in this space.
    OutputSet outputs() const override { return {Output::embedding, Output::distances}; }
    const DeepState& state() const { return state_; }
    /// The detail "within_share" of the fit. It compares starts without true labels. It is measured on the points,
    /// because the scale and the effective dimension of the embedding differ between starts.
    double restart_criterion() const;

protected:
    DeepModel() = default;
    DeepModel(DeepState state, Labels labels, FitReport report)
        : Model(std::move(labels), std::move(report)), state_(std::move(state)) {}
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

    DeepState state_;

private:
    Matrix<double> embed(PointsView points, const Run& run) const;
};

using AeKMeansModel = ModelWith<DeepModel, AeKMeansOptions>;

namespace internal {
/// What the methods with an autoencoder have in common.
template <class Options>
struct AutoencoderMethod : MethodWith<Options, ModelWith<DeepModel, Options>> {
    static constexpr Takes takes = {.blocks = true, .device = true, .checkpoint = true};
    static constexpr About about = {.compare = {.why_not = "it trains a network"}};
};
template <class Options>
struct RestartedAutoencoderMethod : AutoencoderMethod<Options> {
    static double restart_criterion(const DeepModel& model) { return model.restart_criterion(); }
};
}  // namespace internal

/// k-means in the embedding of an autoencoder. n x d points, 1 <= clusters <= n. Throws BadArgument (options, an image
/// size other than d, a pre-trained network with another shape), BadData (values), ResourceError (no LibTorch),
/// Cancelled. The report's objective is the inertia in the embedding. Its details are "reconstruction" (the last
/// epoch's mean squared error), "reconstruction_per_epoch", "within_share", "parameters", "network", "device" and
/// "backend". within_share = sum_i ||x_i - m_{a_i}||^2 / sum_i ||x_i - m||^2, where m_j is the mean of the points in
/// cluster j, and m the mean of all points.
struct COTERIE_API AeKMeansMethod : internal::RestartedAutoencoderMethod<AeKMeansOptions> {
    static constexpr std::string_view summary = "k-means in the embedding of an autoencoder (LibTorch)";
    static constexpr About about = {
        .compare = {.why_not = "it trains a network"}, .python = "AeKMeans", .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr RestartedFit<AeKMeansMethod> fit_ae_kmeans{};

}  // namespace coterie
