#pragma once
// Internal: losses of two views of the same points, as functions of the logits of the views. entropy/losses.hpp has the
// losses of a single view.
//
//     sigma, tau   N x k  predictions of the first and the second view; row i belongs to point i in both
//     Q            k x k  1/N sum_i sigma_i tau_i'; P = (Q + Q') / 2; p: the row sums of P
//
// A term returns weight * value and adds weight * (its gradient with respect to each view's logits). Without `weight`,
// the weight is 1.

#include "coterie/entropy/losses.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// Zhang and Boykov's (7), the mean over the points: KL(sigma_i || tau_i) + KL(tau_i || sigma_i).
double add_view_divergence(const Softmax<double>& sigma, const Softmax<double>& tau, double weight,
                           Matrix<double>& by_first, Matrix<double>& by_second);

/// IMSAT: mean KL(sigma_i || tau_i) with sigma constant, so the gradient is only with respect to the second view.
double add_following(const Softmax<double>& sigma, const Softmax<double>& tau, double weight,
                     Matrix<double>& by_second);

/// IIC: minus the mutual information of the clusters of two views, -sum_ab P_ab ln(P_ab / (p_a p_b)).
double add_pair_information(const Softmax<double>& sigma, const Softmax<double>& tau, Matrix<double>& by_first,
                            Matrix<double>& by_second);

}  // namespace coterie::deep::internal
