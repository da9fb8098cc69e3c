// The model of all classifiers. It builds the network from the options for every use. Logits are in single precision;
// everything after them is in double. The embedding comes from the same network without its last layer.

#include "coterie/deep/classifier.hpp"

#include "coterie/deep/internal/classifier_fit.hpp"
#include "coterie/entropy/training.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie {

namespace {
Matrix<double> logits(PointsView points, const ClassifierOptions& options, const ClassifierState& state,
                      const Run& run) {
    return deep::internal::encoded(points, state.unit, deep::internal::classifier_of(options, state.dimensions),
                                   state.parameters, options.half, run);
}
}  // namespace

double ClassifierModel::restart_criterion() const { return internal::number_of(report_, "criterion"); }

Labels ClassifierModel::predict_checked(PointsView points, const Run& run) const {
    return internal::largest_columns(logits(points, options(), state_, run));
}

Matrix<double> ClassifierModel::output_checked(Output which, PointsView points, const Run& run) const {
    if (which == Output::embedding) {
        internal::Parameters parameters = state_.parameters;
        parameters.resize(parameters.size() - 2);  // the head's weights and biases
        return deep::internal::encoded(
            points, state_.unit, internal::without_head(deep::internal::classifier_of(options(), state_.dimensions)),
            parameters, options().half, run);
    }
    Matrix<double> sigma = softmax(logits(points, options(), state_, run), run.threads).probability;
    return which == Output::label_scores ? internal::scores_of_labels(sigma, cluster_labels_) : sigma;
}

void ClassifierModel::parts(Parts& parts) {
    parts.add_count("dimensions", state_.dimensions);
    internal::unit_part(parts, state_.unit);
    internal::network_parts(parts, state_.parameters,
                            [&] { return deep::internal::classifier_of(options(), state_.dimensions); });
}

}  // namespace coterie
