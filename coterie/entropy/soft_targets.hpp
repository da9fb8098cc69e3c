#pragma once
// A linear softmax model trained on given labels, which may be soft or partly wrong (Zhang and Boykov, section 3.1 and
// figure 11):
//
//     y        n x k   targets, each row a distribution over the classes
//     forward          gamma ||V||^2 + mean H(y_i, sigma_i): predictions mimic the targets, including their uncertainty
//     reverse          gamma ||V||^2 + mean H(sigma_i, y_i): predictions move to the target's most probable class, less
//                      so if the target is uncertain; with a one-hot target a wrong class costs -ln 1e-30

#include "coterie/entropy/entropy.hpp"
#include "coterie/entropy/losses.hpp"

namespace coterie {

/// `clusters` is ignored: k is the number of columns of the targets.
struct COTERIE_API SoftTargetOptions : LinearTrainingOptions {
    CrossEntropy cross_entropy = CrossEntropy::reverse;

    static const OptionSet& described();
};

template <class T>
struct SoftTargetFit {
    LinearSoftmax<T> linear;
    Labels labels;  // n: the most probable class of each point
    FitReport report;
};

/// n x d points, and n x k targets: no entry is negative, and rows sum to 1 (to 1e-6). Throws as fit_entropy.
template <class T>
COTERIE_API SoftTargetFit<T> fit_soft_targets(const Rows<T>& points, const Matrix<double>& targets,
                                              const SoftTargetOptions& options, const Run& run);

/// Targets for labels, a fraction `noise` of which is wrong (Mueller et al. 2019): noise / k for each class, plus 1 -
/// noise for the label. Throws BadArgument unless 0 <= noise <= 1, classes >= 1 and every label is in 0..classes-1.
COTERIE_API Matrix<double> smoothed_targets(const Labels& labels, Index classes, double noise);

}  // namespace coterie
