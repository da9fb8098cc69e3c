#pragma once
// The linear softmax model (Zhang and Boykov, equation 3), and the products that train it.

#include <vector>

#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"

namespace coterie {

/// sigma(x) = softmax(V x + b).
template <class T>
struct LinearSoftmax {
    Matrix<T> weights;  // V, K x d: row k is the paper's v_k
    Vector<T> bias;     // b, K
};

/// A random start made from the points. It depends neither on their unit nor on the order of their columns. Each row of
/// V is a combination of the rows x_r - mean (d numbers each, at least one row) with standard normal coefficients, and
/// b = -V mean. Both are scaled so that the root mean square of the rows' logits is `scale`. All are 0 if every row
/// equals the mean.
template <class T>
COTERIE_API LinearSoftmax<T> random_linear_softmax(const std::vector<const T*>& rows, const Vector<double>& mean,
                                                   Index clusters, double scale, const Run& run);

/// V x_i + b of the rows, n x K. The result of a row depends neither on the other rows nor on the number of threads.
template <class T>
COTERIE_API Matrix<T> logits(const std::vector<const T*>& rows, const LinearSoftmax<T>& model, int threads);
template <class T>
COTERIE_API Matrix<T> logits(const Rows<T>& points, const LinearSoftmax<T>& model, int threads);

/// sum_i g_ik x_ip, K x d, for a gradient g (n x K) with respect to the logits of the rows.
template <class T>
COTERIE_API Matrix<double> weight_gradient(const std::vector<const T*>& rows, const Matrix<T>& g, Index dimensions,
                                           int threads);

/// Gradient descent with momentum: velocity <- momentum velocity + gradient, weights <- weights - learning_rate
/// velocity.
/// The steps are those of the model W (x - m) / unit + c, W = unit V, with the origin m (d numbers, or empty: 0). This
/// model has the logits of the given model (b = c - V m), but its steps depend neither on the location of the points
/// nor on their unit. The learning rate of c is multiplied by bias_factor. So c is trained like the weight of a column
/// with the constant value sqrt(bias_factor).
template <class T>
class COTERIE_API Descent {
public:
    Descent(LinearSoftmax<T>& model, const Vector<double>& origin, double unit, double learning_rate, double momentum,
            double gamma, int threads, double bias_factor = 1);
    /// g as in weight_gradient. The gradient of W is g'(x - m) / unit + 2 gamma W; that of c is the column sums of g.
    void step(const std::vector<const T*>& rows, const Matrix<T>& g);
    /// These store and load the model and the state of the next steps. load() throws BadData if the archive has no such
    /// state.
    void store(Archive& archive) const;
    void load(const Archive& archive);

private:
    LinearSoftmax<T>& model_;
    Vector<double> origin_;
    T bias_rate_, weight_rate_, momentum_, decay_, per_unit_;
    int threads_;
    Matrix<T> velocity_;           // of W
    Vector<double> centred_bias_;  // c
    Vector<T> bias_velocity_;
};

/// V m, K; zeros if m is empty.
template <class T>
COTERIE_API Vector<double> at_origin(const Matrix<T>& weights, const Vector<double>& origin);

}  // namespace coterie
