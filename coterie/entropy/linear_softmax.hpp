#pragma once
// The linear softmax model (Zhang and Boykov, equation 3), and the products that train it.

#include <vector>

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
LinearSoftmax<T> random_linear_softmax(Index clusters, Index dimensions, double scale, const Run& run);

/// V x_i + b of the rows pointed to, n x K. What a row yields does not depend on the rows beside it, nor on threads.
template <class T>
Matrix<T> logits(const std::vector<const T*>& rows, const LinearSoftmax<T>& model, int threads);
template <class T>
Matrix<T> logits(const Rows<T>& points, const LinearSoftmax<T>& model, int threads);

/// sum_i g_ik x_ip, K x d, for a gradient g (n x K) with respect to the logits of the rows pointed to.
template <class T>
Matrix<double> weight_gradient(const std::vector<const T*>& rows, const Matrix<T>& g, Index dimensions, int threads);

/// One step of gradient descent with momentum (velocity <- momentum velocity + gradient; weights <- weights - rate
/// velocity), where gradient is weight_gradient + 2 gamma V, and for the bias the column sums of g.
template <class T>
class Descent {
public:
    Descent(LinearSoftmax<T>& model, double learning_rate, double momentum, double gamma, int threads);
    void step(const std::vector<const T*>& rows, const Matrix<T>& g);

private:
    LinearSoftmax<T>& model_;
    T learning_rate_, momentum_, decay_;
    int threads_;
    Matrix<T> velocity_;
    Vector<T> bias_velocity_;
};

}  // namespace coterie
