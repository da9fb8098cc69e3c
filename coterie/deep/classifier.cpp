#include "coterie/deep/classifier.hpp"

#include "coterie/deep/internal/classifier_fit.hpp"
#include "coterie/entropy/internal/training.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie {

ClassifierModel::ClassifierModel(ClassifierState state, ClusterLabels cluster_labels, Labels labels, FitReport report)
    : state_(std::move(state)) {
    labels_ = std::move(labels);
    report_ = std::move(report);
    cluster_labels_ = std::move(cluster_labels);
}

namespace {
Matrix<double> logits(PointsView points, const ClassifierOptions& options, const ClassifierState& state,
                      const Run& run) {
    return internal::encoded(points, internal::classifier_of(options, state.dimensions), state.parameters,
                             options.device, options.half, run);
}
}  // namespace

Labels ClassifierModel::predict_checked(PointsView points, const Run& run) const {
    return internal::largest_columns(logits(points, network_options(), state_, run));
}

Matrix<double> ClassifierModel::output_checked(Output which, PointsView points, const Run& run) const {
    const ClassifierOptions& options = network_options();
    if (which == Output::embedding) {
        internal::Parameters parameters = state_.parameters;
        parameters.resize(parameters.size() - 2);  // the head's weights and biases
        return internal::encoded(points, internal::without_head(internal::classifier_of(options, state_.dimensions)),
                                 parameters, options.device, options.half, run);
    }
    Matrix<double> sigma = softmax(logits(points, options, state_, run), run.threads).probability;
    return which == Output::label_scores ? internal::scores_of_labels(sigma, cluster_labels_) : sigma;
}

void ClassifierModel::store_network(Archive& archive) const {
    internal::store_parameters(archive, "network", state_.parameters);
    archive.set_text("dimensions", std::to_string(state_.dimensions));
    store_cluster_labels(archive);
}

void ClassifierModel::load_network(const Archive& archive) {
    if (clusters() < 1) throw BadData("model: a classifier without clusters");
    state_.dimensions = internal::stored_dimensions(archive);
    state_.parameters = internal::load_parameters(
        archive, "network",
        internal::stored_architecture([&] { return internal::classifier_of(network_options(), state_.dimensions); }));
    load_cluster_labels(archive, clusters());
}

}  // namespace coterie
