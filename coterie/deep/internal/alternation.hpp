#pragma once
// Internal: the loop of all methods that alternate between clustering an embedding and training the network. An update
// evaluates all points. Then some batches move the network towards the targets of the update.

#include "coterie/deep/internal/deep_fit.hpp"
#include "coterie/kmeans/kmeans.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// What a method does with an embedding. A method may have its own parameters, which are part of a checkpoint.
class Alternation {
public:
    virtual ~Alternation() = default;
    /// Returns the labels of all points in this embedding and prepares loss(), on every process. The run's processes
    /// share the work. `last` are the labels of the last update; empty at the first update. A checkpoint is written
    /// before an update, never between an update and its batches.
    virtual Labels update(const Matrix<double>& embedding, const Labels& last, std::uint64_t number,
                          const Run& run) = 0;
    /// The objective of the last update.
    virtual double objective() const = 0;
    virtual BatchLoss loss(const Matrix<float>& encoded, const std::vector<std::int64_t>& rows) = 0;
    /// Weight of the mean squared reconstruction error, relative to loss().
    virtual double reconstruction_weight() const { return 0; }
    /// Moves the method's own parameters, after the network's step.
    virtual void step() {}
    /// Labels belong to the space of embedding times rotation'.
    virtual Matrix<double> rotation() const = 0;
    virtual Matrix<double> centroids() const = 0;
    virtual void store(Archive&) const {}
    virtual void load(const Archive&) {}
};

/// Pre-trains, alternates until the share of changed labels is below the tolerance, and fills the report. A random
/// order of the points is drawn once, because files are often sorted by class. Keeps the last update whose balance was
/// at least half of that of the first update. `full`: one step per pass over all points. Reports progress after an
/// update and after its batches. If the fit is stopped between batches, the checkpoint is from before their update.
struct Alternated {
    DeepState state;
    Labels labels;
};
Alternated alternate(DeepFit& fit, const AlternatingOptions& options, Alternation& alternation,
                     const std::vector<NetworkOptimizer>& optimizers, bool full = false);

/// The first clusters of an embedding: k-means with the restarts of the options.
struct Clusters {
    Labels labels;
    Matrix<double> means;  // k x p
    double inertia = 0;
};
Clusters first_clusters(const Matrix<double>& embedding, int clusters, int restarts, const Run& run);
/// The clusters of all points, on every process.
Clusters clusters_of(const KMeansModel& model, const Run& run);

/// Describes the options of AlternatingOptions in addition to those of AutoencoderOptions, for the struct `Options`.
template <class Options>
OptionSetFor<Options> describe_alternating(const std::string& automatic_interval = {},
                                           const std::string& of_restarts = restarts_of_networks) {
    OptionSetFor<Options> set = describe_autoencoder<Options>(of_restarts);
    set.real("learning_rate", &Options::learning_rate, above(0), "learning rate while clustering")
        .template integer<int>("batch_size", &Options::batch_size, at_least(1),
                               "number of rows per batch while clustering")
        .template integer<int>("update_interval", &Options::update_interval, at_least(1),
                               "number of batches between two updates of the clusters", automatic_interval)
        .template integer<int>("max_iterations", &Options::max_iterations, at_least(0), "maximum number of batches")
        .real("tolerance", &Options::tolerance, between(0, 1),
              "stop when less than this share of the rows changes cluster in an update");
    return set;
}

}  // namespace coterie::deep::internal
