#pragma once
// Losses of discriminative entropy clustering as functions of the logits (Zhang and Boykov, with their equation
// numbers).
//
//     x       N x K  logits; sigma_i = softmax(x_i), sigmabar = 1/N sum_i sigma_i
//     H(p)           -sum_k p_k ln p_k;  H(p, q) = -sum_k p_k ln q_k;  KL(p || q) = H(p, q) - H(p)
//     R_a(p)         Renyi entropy of order a (37): ln(sum_k p_k^a) / (1 - a); R_1 = H, R_inf = -ln max_k p_k
//     u       K      prior
//     y       N x K  labels
//
// Each function returns weight * value and adds weight * (gradient with respect to the logits) to `gradient`, N x K.
// All computations use ln sigma, which is finite for any finite logits. Values and gradients are therefore finite even
// if predictions are exactly 0 and 1 (logits of +-1e4). Values are sums in double, the same for any number of threads.

#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

template <class T>
struct Softmax {
    Matrix<T> probability;  // sigma
    Matrix<T> logarithm;    // ln sigma
};
template <class T>
COTERIE_API Softmax<T> softmax(const Matrix<T>& logits, int threads);

/// Decisiveness: mean_i R_order(sigma_i); order above 0, infinity included (13, 15). Order 1 is the first term of (5).
/// At infinity the gradient is that of the largest entry (the first if several are equal).
template <class T>
COTERIE_API double add_decisiveness(const Softmax<T>& sigma, double order, double weight, Matrix<T>& gradient,
                                    int threads);

/// The same value without the gradient's N x K numbers.
template <class T>
COTERIE_API double decisiveness(const Softmax<T>& sigma, double order, int threads);

enum class Fairness {
    reverse,  // KL(sigmabar || u); with uniform u, ln K - H(sigmabar): the second term of (5), and of (6)
    forward   // KL(u || sigmabar): zero-avoiding, infinite if a cluster is empty
};
/// Fairness of the mean prediction. `prior` is K numbers above 0 that sum to 1.
template <class T>
COTERIE_API double add_fairness(const Softmax<T>& sigma, const std::vector<double>& prior, Fairness kind, double weight,
                                Matrix<T>& gradient, int threads);
template <class T>
COTERIE_API double fairness(const Softmax<T>& sigma, const std::vector<double>& prior, Fairness kind);

enum class CrossEntropy {
    reverse,  // mean_i H(sigma_i, y_i): (42); labels below 1e-30 are raised to that value
    forward   // mean_i H(y_i, sigma_i): (8), (9), (12)
};
/// Sums over the rows i with counts[i] (all rows if counts is empty), and divides by N. Labels are constants.
template <class T>
COTERIE_API double add_cross_entropy(const Softmax<T>& sigma, const Matrix<T>& y, CrossEntropy kind, double weight,
                                     Matrix<T>& gradient, int threads, const std::vector<bool>& counts = {});

/// mean_i -ln sum_{begin_i <= k < end_i} sigma_ik: row i belongs to one of these clusters.
template <class T>
COTERIE_API double add_label_loss(const Softmax<T>& sigma, const std::vector<std::pair<int, int>>& clusters,
                                  double weight, Matrix<T>& gradient);

}  // namespace coterie
