// Computes values and gradients at the same time, in double. They are computed from the logarithms of the softmax, so
// both are finite even if predictions are 0 or 1. Gradients are with respect to the logits. A term that is equal for
// all clusters of a row cancels in them and is omitted.

#include "coterie/deep/internal/view_losses.hpp"

namespace coterie::deep::internal {

double add_view_divergence(const Softmax<double>& sigma, const Softmax<double>& tau, double weight,
                           Matrix<double>& by_first, Matrix<double>& by_second) {
    const Index n = sigma.probability.rows();
    const double scale = weight / static_cast<double>(n);
    double value = 0;
    for (Index i = 0; i < n; ++i) {
        const auto s = sigma.probability.row(i), t = tau.probability.row(i);
        const auto gap = (sigma.logarithm.row(i) - tau.logarithm.row(i)).eval();  // ln(sigma / tau)
        const double forward = s.dot(gap), backward = -t.dot(gap);
        value += forward + backward;
        by_first.row(i).array() += scale * (s.array() * (gap.array() - forward) + (s - t).array());
        by_second.row(i).array() += scale * (t.array() * (-gap.array() - backward) + (t - s).array());
    }
    return scale * value;
}

double add_following(const Softmax<double>& sigma, const Softmax<double>& tau, double weight,
                     Matrix<double>& by_second) {
    const double scale = weight / static_cast<double>(sigma.probability.rows());
    by_second += scale * (tau.probability - sigma.probability);
    return scale * sigma.probability.cwiseProduct(sigma.logarithm - tau.logarithm).sum();
}

double add_pair_information(const Softmax<double>& sigma, const Softmax<double>& tau, Matrix<double>& by_first,
                            Matrix<double>& by_second) {
    constexpr double least = 1e-300;  // a number whose logarithm is finite
    const double share = 1 / static_cast<double>(sigma.probability.rows());
    const Matrix<double> q = share * sigma.probability.transpose() * tau.probability;
    const Matrix<double> p = 0.5 * (q + q.transpose());
    const Vector<double> log_sums = p.rowwise().sum().cwiseMax(least).array().log();
    // The derivative of the information with respect to P_ab, plus a constant that the softmax cancels.
    Matrix<double> slope = p.cwiseMax(least).array().log();
    slope.colwise() -= log_sums;
    slope.rowwise() -= log_sums.transpose();
    const auto add = [&](const Softmax<double>& of, const Softmax<double>& other, Matrix<double>& gradient) {
        const Matrix<double> by_probability = -share * other.probability * slope;
        const Vector<double> means = by_probability.cwiseProduct(of.probability).rowwise().sum();
        gradient.array() += of.probability.array() * (by_probability.colwise() - means).array();
    };
    add(sigma, tau, by_first);
    add(tau, sigma, by_second);
    return -p.cwiseProduct(slope).sum();
}

}  // namespace coterie::deep::internal
