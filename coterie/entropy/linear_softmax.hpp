#pragma once
// The linear softmax model (Zhang and Boykov, equation 3), and the products that train it.

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// sigma(x) = softmax(V x + b).
template <class T>
struct LinearSoftmax {
    Matrix<T> weights;  // V, K x d: row k is the paper's v_k
    Vector<T> bias;     // b, K
};

/// K x d weights and K biases, each uniform on +-scale / sqrt(d).
template <class T>
COTERIE_API LinearSoftmax<T> random_linear_softmax(Index clusters, Index dimensions, double scale, const Run& run);

/// V x_i + b of the rows pointed to, n x K. What a row yields does not depend on the rows beside it, nor on threads.
template <class T>
COTERIE_API Matrix<T> logits(const std::vector<const T*>& rows, const LinearSoftmax<T>& model, int threads);
template <class T>
COTERIE_API Matrix<T> logits(const Rows<T>& points, const LinearSoftmax<T>& model, int threads);

/// sum_i g_ik x_ip, K x d, for a gradient g (n x K) with respect to the logits of the rows pointed to.
template <class T>
COTERIE_API Matrix<double> weight_gradient(const std::vector<const T*>& rows, const Matrix<T>& g, Index dimensions,
                                           int threads);

/// Gradient descent with momentum: velocity <- momentum velocity + gradient, weights <- weights - learning_rate
/// velocity. The steps are those of the model V (x - m) + c with the origin m (d, or empty: 0): its logits and || V ||
/// are those of the model as it stands, b = c - V m, but its steps do not depend on where the points lie.
template <class T>
class COTERIE_API Descent {
public:
    Descent(LinearSoftmax<T>& model, const Vector<double>& origin, double learning_rate, double momentum, double gamma,
            int threads);
    /// g as in weight_gradient; the gradient of V is g'(x - m) + 2 gamma V, that of c the column sums of g.
    void step(const std::vector<const T*>& rows, const Matrix<T>& g);

private:
    LinearSoftmax<T>& model_;
    Vector<double> origin_;
    T learning_rate_, momentum_, decay_;
    int threads_;
    Matrix<T> velocity_;
    Vector<double> centred_bias_;  // c
    Vector<T> bias_velocity_;
};

/// V m, K; zeros where m is empty.
template <class T>
COTERIE_API Vector<double> at_origin(const Matrix<T>& weights, const Vector<double>& origin);

}  // namespace coterie
