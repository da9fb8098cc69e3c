// For testing theorems on small problems, not for data: dense matrices with K - 1 rows per point. An interior-point
// method computes the margin, and Newton's method the decisive minimum. Both are exact up to rounding; gradient descent
// would give only a few digits. Losses are divided by gamma and computed in the log domain, because gamma itself may be
// below the range of double. Newton's steps stay where the loss is convex.

#include "coterie/entropy/max_margin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Cholesky>

#include "coterie/base/error.hpp"
#include "coterie/entropy/internal/lbfgs.hpp"
#include "coterie/entropy/losses.hpp"

namespace coterie::internal {

using namespace entropy::internal;
namespace {

// theta: V row by row, then b without its last entry, which is 0: adding a constant to b changes no s_ik.
Vector<double> pack(const LinearSoftmax<double>& from) {
    const Index k = from.weights.rows();
    Vector<double> theta(from.weights.size() + k - 1);
    theta << from.weights.reshaped<Eigen::RowMajor>(), (from.bias.array() - from.bias[k - 1]).head(k - 1).matrix();
    return theta;
}

LinearSoftmax<double> unpack(const Vector<double>& theta, Index clusters, Index dimensions) {
    LinearSoftmax<double> out{Eigen::Map<const eigen::Matrix<double>>(theta.data(), clusters, dimensions),
                              Vector<double>::Zero(clusters)};
    out.bias.head(clusters - 1) = theta.tail(clusters - 1);
    return out;
}

// The matrix G with s = G theta; it has K - 1 rows per point.
Matrix<double> differences(const Matrix<double>& points, const Labels& labels, Index clusters) {
    const Index d = points.cols();
    Matrix<double> out = Matrix<double>::Zero(points.rows() * (clusters - 1), clusters * (d + 1) - 1);
    Index row = 0;
    for (Index i = 0; i < points.rows(); ++i) {
        const Index own = labels[static_cast<std::size_t>(i)];
        for (Index k = 0; k < clusters; ++k) {
            if (k == own) continue;
            out.row(row).segment(own * d, d) = points.row(i);
            out.row(row).segment(k * d, d) = -points.row(i);
            if (own < clusters - 1) out(row, clusters * d + own) = 1;
            if (k < clusters - 1) out(row, clusters * d + k) = -1;
            ++row;
        }
    }
    return out;
}

Matrix<double> centred(const Matrix<double>& weights) { return weights.rowwise() - weights.colwise().mean(); }

// (1 / gamma) sum_i H(sigma_i) as a function of s, with its gradient and the blocks of its Hessian (K - 1 rows per
// point). With q = exp(-s): sigma_k = q_k / (1 + sum q) for k != y, H = L + sum sigma_k s_k, L = ln(1 + sum q).
double add_entropies(const Vector<double>& s, Index others, double log_gamma, double weight, Vector<double>& gradient,
                     Matrix<double>& hessian) {
    gradient.resize(s.size());
    hessian.resize(s.size(), others);
    double value = 0;
    for (Index begin = 0; begin < s.size(); begin += others) {
        const auto margins = s.segment(begin, others).array();
        const Eigen::ArrayXd q = (-margins).exp();
        const double total = q.sum();
        // sigma / gamma does not underflow, even where sigma and gamma do.
        const Eigen::ArrayXd scaled = weight * (-margins - log_gamma).exp() / (1 + total);
        const Eigen::ArrayXd sigma = q / (1 + total);
        const double mean = (sigma * margins).sum();
        const double ratio = total > 0 ? std::log1p(total) / total : 1;
        value += (scaled * ((1 + total) * ratio + margins)).sum();
        gradient.segment(begin, others) = -scaled * (margins - mean);
        for (Index k = 0; k < others; ++k) {
            for (Index l = 0; l < others; ++l)
                hessian(begin + k, l) = scaled[k] * sigma[l] * (1 - margins[k] - margins[l] + 2 * mean);
            hessian(begin + k, k) += scaled[k] * (margins[k] - mean - 1);
        }
    }
    return value;
}

}  // namespace

double margin(const Matrix<double>& points, const LinearSoftmax<double>& classifier, const Labels& labels) {
    return (differences(points, labels, classifier.weights.rows()) * pack(classifier)).minCoeff() /
           centred(classifier.weights).norm();
}

double degrees_between(const LinearSoftmax<double>& a, const LinearSoftmax<double>& b) {
    const Matrix<double> u = centred(a.weights).normalized();
    const Matrix<double> v = centred(b.weights).normalized();
    return 2 * std::atan2((u - v).norm(), (u + v).norm()) * 180 / std::numbers::pi;  // acos is inexact for small angles
}

LinearSoftmax<double> hard_margin(const Matrix<double>& points, const Labels& labels, int clusters) {
    const Matrix<double> g = differences(points, labels, clusters);
    const Index weights = static_cast<Index>(clusters) * points.cols();
    Vector<double> norm_part = Vector<double>::Zero(g.cols());
    norm_part.head(weights).setOnes();
    Vector<double> theta = Vector<double>::Zero(g.cols());
    Vector<double> slack = Vector<double>::Ones(g.rows());
    Vector<double> dual = Vector<double>::Ones(g.rows());
    for (int iteration = 0; iteration < 200; ++iteration) {
        const Vector<double> stationary = norm_part.cwiseProduct(theta) - g.transpose() * dual;
        const Vector<double> violation = (g * theta - slack).array() - 1;
        const double gap = slack.dot(dual);
        const double size = 1 + dual.lpNorm<1>();
        if (gap <= 1e-12 * size && stationary.norm() <= 1e-10 * size && violation.norm() <= 1e-10)
            return unpack(theta, clusters, points.cols());
        // The gap is reduced only after stationarity, and never far below the tolerance. Otherwise slack and dual
        // values would reach 0 first, and no step could restore stationarity.
        const double target =
            std::max((stationary.norm() > gap ? 1.0 : 0.1) * gap, 5e-13 * size) / static_cast<double>(g.rows());
        const Vector<double> complement = slack.cwiseProduct(dual).array() - target;
        const Vector<double> ratio = dual.cwiseQuotient(slack);
        Eigen::MatrixXd system = g.transpose() * ratio.asDiagonal() * g;
        system.diagonal() += norm_part;
        const Vector<double> right =
            -stationary - g.transpose() * (complement + dual.cwiseProduct(violation)).cwiseQuotient(slack);
        const Vector<double> step = system.ldlt().solve(right);
        const Vector<double> slack_step = g * step + violation;
        const Vector<double> dual_step = -(complement + dual.cwiseProduct(slack_step)).cwiseQuotient(slack);
        double length = 1;
        for (Index i = 0; i < slack.size(); ++i) {
            if (slack_step[i] < 0) length = std::min(length, -0.99 * slack[i] / slack_step[i]);
            if (dual_step[i] < 0) length = std::min(length, -0.99 * dual[i] / dual_step[i]);
        }
        theta += length * step;
        slack += length * slack_step;
        dual += length * dual_step;
    }
    throw BadData(Code::infeasible, "the labels are not linearly separable, so there is no widest margin", "",
                  {.option = "labels"});
}

LinearSoftmax<double> decisive_minimum(const Matrix<double>& points, const Labels& labels,
                                       const LinearSoftmax<double>& start, double decades) {
    const Index k = start.weights.rows();
    const Index d = points.cols();
    const Matrix<double> g = differences(points, labels, k);
    const double log_gamma = -decades * std::numbers::ln10;
    const double weight = 1 / static_cast<double>(points.rows());
    Vector<double> norm_part = Vector<double>::Zero(g.cols());
    norm_part.head(k * d).setOnes();
    LinearSoftmax<double> from{centred(start.weights), start.bias};
    Vector<double> theta = pack(from);
    const double least = (g * theta).minCoeff();
    if (!(least > 0))
        throw BadArgument(Code::not_accepted, "the classifier does not predict the given labels", "",
                          {.option = "start"});
    theta *= -log_gamma / least;  // then every H is of the order of gamma, and convex
    // H is convex in s if every s is above 2. The minimum is in this region, and every step must stay in it, because H
    // is small again on the other side of the boundary.
    constexpr double convex = 2;
    Vector<double> slope;
    Matrix<double> blocks;
    const auto value_at = [&](const Vector<double>& at) {
        const Vector<double> s = g * at;
        if (!(s.minCoeff() > convex)) return std::numeric_limits<double>::infinity();
        return norm_part.dot(at.cwiseAbs2()) + add_entropies(s, k - 1, log_gamma, weight, slope, blocks);
    };
    double value = value_at(theta);
    for (int iteration = 0; iteration < 500; ++iteration) {
        const Vector<double> of_norm = 2 * norm_part.cwiseProduct(theta);
        const Vector<double> gradient = of_norm + g.transpose() * slope;
        if (gradient.norm() <= 1e-9 * of_norm.norm()) return unpack(theta, k, d);
        Matrix<double> curved(g.rows(), g.cols());
        for (Index begin = 0; begin < g.rows(); begin += k - 1)
            curved.middleRows(begin, k - 1) = blocks.middleRows(begin, k - 1) * g.middleRows(begin, k - 1);
        Eigen::MatrixXd hessian = g.transpose() * curved;
        hessian.diagonal() += 2 * norm_part;
        const Eigen::LLT<Eigen::MatrixXd> factor(hessian);
        if (factor.info() != Eigen::Success) break;
        const Vector<double> step = -factor.solve(gradient);
        const double expected = gradient.dot(step);
        // Close to the minimum, rounding of the value hides the descent. There the full Newton step is accepted.
        const bool near = -expected <= 1e-10 * value;
        double length = 1;
        double there = value_at(theta + step);
        while (!near && !(there <= value + 1e-4 * length * expected) && length > 1e-12) {
            length /= 2;
            there = value_at(theta + length * step);
        }
        if (!std::isfinite(there)) break;
        theta += length * step;
        value = there;
    }
    throw BadData(Code::infeasible, "no decisive classifier was found: gamma is too large for so narrow a margin",
                  "Use more decades", {.option = "decades"});
}

DecisiveFair decisive_and_fair(const Matrix<double>& points, const LinearSoftmax<double>& start, double gamma,
                               double fairness) {
    const Index k = start.weights.rows();
    const Index d = points.cols();
    const std::vector<double> uniform(static_cast<std::size_t>(k), 1.0 / static_cast<double>(k));
    Vector<double> theta = pack(start);
    const auto loss = [&](const Vector<double>& at, Vector<double>& gradient) {
        const LinearSoftmax<double> model = unpack(at, k, d);
        const Matrix<double> x = (points * model.weights.transpose()).rowwise() + model.bias.transpose();
        const Softmax<double> sigma = softmax(x, 1);
        Matrix<double> by_logit = Matrix<double>::Zero(x.rows(), k);
        const double value = add_decisiveness(sigma, 1.0, 1.0, by_logit, 1) +
                             add_fairness(sigma, uniform, Fairness::reverse, fairness, by_logit, 1);
        const Matrix<double> by_weight = by_logit.transpose() * points + 2 * gamma * model.weights;
        gradient << by_weight.reshaped<Eigen::RowMajor>(), by_logit.colwise().sum().head(k - 1).transpose();
        return value + gamma * model.weights.squaredNorm();
    };
    const LbfgsResult found =
        minimize_lbfgs(loss, theta, {.iterations = 10000, .tolerance = 1e-6 * gamma}, [](double) { return true; });
    return {unpack(theta, k, d), found.value};
}

}  // namespace coterie::internal
