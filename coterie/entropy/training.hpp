#pragma once
// Internal: the one trainer of the methods of this room. A method is a rule for labels and a loss (Criterion).

#include "coterie/entropy/entropy.hpp"
#include "coterie/entropy/losses.hpp"
#include "coterie/kmeans/constraints.hpp"

namespace coterie::internal {

enum class LabelRule {
    none,        // the loss is of the predictions alone: R_order and reverse fairness
    self_label,  // label_solver.hpp; reverse cross-entropy
    transport,   // one-hot labels whose means are the prior; forward cross-entropy
    alternating  // y_ik proportional to sigma_ik / sqrt(sum_j sigma_jk); forward cross-entropy
};

struct Criterion {
    LabelRule rule = LabelRule::none;
    double order = 1;     // none: of the Renyi entropy
    double fairness = 1;  // none
    std::vector<double> prior;
    LabelSettings labels;   // self_label
    double sharpness = 25;  // transport
    LabelsPer labels_per = LabelsPer::batch;
};

template <class T>
struct Trained {
    LinearSoftmax<T> model;
    Labels labels;
    FitReport report;  // all but what finish_report adds
};

template <class T>
Trained<T> train(const Rows<T>& points, const LinearTrainingOptions& options, const Criterion& criterion,
                 const Constraints& constraints, Run& run);

/// One-hot labels y of the rows of ln sigma: the largest entry of ln(sigma^sharpness) + b, where b makes the means of
/// softmax(that) the prior (Sinkhorn in the log domain: optimal transport with entropy 1 / sharpness). The same bits at
/// any number of threads.
template <class T>
Matrix<T> transport_labels(const Matrix<T>& logarithm, const std::vector<double>& prior, double sharpness, int threads);

/// y_ik proportional to sigma_ik / sqrt(sum_j sigma_jk), rows sum to 1.
template <class T>
Matrix<T> alternating_labels(const Matrix<T>& probability);

}  // namespace coterie::internal
