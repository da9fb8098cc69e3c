// The model of all classifiers. It builds the network from the options for every use. Logits are in single precision;
// everything after them is in double. The embedding comes from the same network without its last layer.

#include "coterie/deep/classifier.hpp"

#include "coterie/deep/internal/classifier_fit.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie {

using namespace deep::internal;

namespace {
Matrix<double> logits(PointsView points, const ClassifierOptions& options, const ClassifierState& state,
                      const Run& run) {
    return encoded(points, state.unit, classifier_of(options, state.dimensions), state.parameters, options.half, run);
}
}  // namespace

double ClassifierModel::restart_criterion() const { return number_of(report_, "criterion"); }

Labels ClassifierModel::predict_checked(PointsView points, const Run& run) const {
    return largest_columns(logits(points, options(), state_, run));
}

Matrix<double> ClassifierModel::output_checked(Output which, PointsView points, const Run& run) const {
    if (which == Output::embedding) {
        Parameters parameters = state_.parameters;
        parameters.resize(parameters.size() - 2);  // the head's weights and biases
        return encoded(points, state_.unit, without_head(classifier_of(options(), state_.dimensions)), parameters,
                       options().half, run);
    }
    Matrix<double> sigma = softmax(logits(points, options(), state_, run), run.threads).probability;
    return which == Output::label_scores ? scores_of_labels(sigma, cluster_labels_) : sigma;
}

void ClassifierModel::parts(Parts& parts) {
    parts.add_count("dimensions", state_.dimensions);
    unit_part(parts, state_.unit);
    network_parts(parts, state_.parameters, [&] { return classifier_of(options(), state_.dimensions); });
}

}  // namespace coterie
