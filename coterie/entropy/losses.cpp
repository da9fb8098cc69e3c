// One pass over the rows computes value and gradient of a term. Values are sums over blocks of 1024 rows, in double.
// Renyi's entropy has separate formulas at order 1, near 1, and elsewhere, so that no formula cancels or overflows.
// Means of predictions are computed in the log domain.

#include "coterie/entropy/losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/parallel/parallel.hpp"

namespace coterie {
namespace {

using internal::at;

// Sums on_row(i) -> double over all rows, block by block.
template <class OnRow>
double sum_rows(Index rows, Index clusters, int threads, OnRow&& on_row) {
    const RowBlocks blocks{rows, 1024};
    std::vector<double> partial(at(blocks.count()), 0.0);
    for_each_block(blocks.count(), threads_for(static_cast<double>(rows * clusters) * 20, threads),
                   [&](Index block, int) {
                       for (Index i = blocks.begin(block); i < blocks.end(block); ++i) partial[at(block)] += on_row(i);
                   });
    double sum = 0;
    for (const double each : partial) sum += each;
    return sum;
}

// Gradient of a function of sigma_i with partial derivatives `slope`: sigma_k (slope_k - sum_c sigma_c slope_c).
template <class T, class Slope>
void add_through_softmax(const T* sigma, Index k, double scale, Slope&& slope, T* gradient) {
    double mean = 0;
    for (Index c = 0; c < k; ++c) mean += static_cast<double>(sigma[c]) * slope(c);
    for (Index c = 0; c < k; ++c)
        gradient[c] += static_cast<T>(scale * static_cast<double>(sigma[c]) * (slope(c) - mean));
}

// Returns R_order; `slope` receives its derivatives with respect to the logits.
double renyi(const double* logarithm, Index k, double order, double* slope) {
    if (std::isinf(order)) {
        const Index largest = std::max_element(logarithm, logarithm + k) - logarithm;
        for (Index c = 0; c < k; ++c) slope[c] = std::exp(logarithm[c]) - (c == largest ? 1.0 : 0.0);
        return -logarithm[largest];
    }
    if (order == 1) {
        double entropy = 0;
        for (Index c = 0; c < k; ++c) entropy -= std::exp(logarithm[c]) * logarithm[c];
        for (Index c = 0; c < k; ++c) slope[c] = -std::exp(logarithm[c]) * (logarithm[c] + entropy);
        return entropy;
    }
    // e^(a + d) - e^a without cancellation or overflow.
    const auto difference = [](double a, double d) {
        return std::abs(d) < 1 ? std::exp(a) * std::expm1(d) : std::exp(a + d) - std::exp(a);
    };
    const double scale = order / (1 - order);
    // ln sum_c sigma_c^order. Near order 1 it tends to 0 and is computed as ln(1 + sum_c (sigma_c^order - sigma_c)).
    if (std::abs(order - 1) < 0.5) {
        double more = 0;
        for (Index c = 0; c < k; ++c) more += difference(logarithm[c], (order - 1) * logarithm[c]);
        const double total = std::log1p(more);
        for (Index c = 0; c < k; ++c) slope[c] = scale * difference(logarithm[c], (order - 1) * logarithm[c] - total);
        return total / (1 - order);
    }
    // Elsewhere it is computed relative to the largest term: order times a logarithm may far exceed the result.
    const double largest = *std::max_element(logarithm, logarithm + k);
    double sum = 0;
    for (Index c = 0; c < k; ++c) sum += std::exp(order * (logarithm[c] - largest));
    const double rest = std::log(sum);
    for (Index c = 0; c < k; ++c)
        slope[c] = scale * difference(logarithm[c], order * (logarithm[c] - largest) - rest - logarithm[c]);
    return scale * largest + rest / (1 - order);
}

}  // namespace

template <class T>
Softmax<T> softmax(const Matrix<T>& logits, int threads) {
    Softmax<T> out{Matrix<T>(logits.rows(), logits.cols()), Matrix<T>(logits.rows(), logits.cols())};
    const Index k = logits.cols();
    sum_rows(logits.rows(), k, threads, [&](Index i) {
        const T* const x = logits.data() + i * k;
        T* const p = out.probability.data() + i * k;
        T* const l = out.logarithm.data() + i * k;
        const T largest = *std::max_element(x, x + k);
        T sum = 0;
        for (Index c = 0; c < k; ++c) sum += p[c] = std::exp(x[c] - largest);
        const T shift = std::log(sum);
        for (Index c = 0; c < k; ++c) {
            p[c] /= sum;
            l[c] = x[c] - largest - shift;
        }
        return 0.0;
    });
    return out;
}

namespace {

// Calls on_slopes(i, derivatives of R_order(sigma_i) with respect to the logits of row i).
template <class T, class OnSlopes>
double mean_renyi(const Softmax<T>& sigma, double order, int threads, OnSlopes&& on_slopes) {
    const Index n = sigma.probability.rows();
    const Index k = sigma.probability.cols();
    return 1 / static_cast<double>(n) * sum_rows(n, k, threads, [&](Index i) {
               thread_local std::vector<double> buffer;
               buffer.resize(at(2 * k));
               double* const logarithm = buffer.data();
               double* const slope = logarithm + k;
               for (Index c = 0; c < k; ++c) logarithm[c] = static_cast<double>(sigma.logarithm(i, c));
               const double value = renyi(logarithm, k, order, slope);
               on_slopes(i, slope);
               return value;
           });
}

// ln sigmabar_k = ln 1/N sum_i exp(ln sigma_ik); finite even if every sigma_ik is 0.
template <class T>
std::vector<double> log_means(const Softmax<T>& sigma) {
    const Index n = sigma.probability.rows();
    const Index k = sigma.probability.cols();
    std::vector<double> largest(at(k), -std::numeric_limits<double>::infinity());
    for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < k; ++c)
            largest[at(c)] = std::max(largest[at(c)], static_cast<double>(sigma.logarithm(i, c)));
    std::vector<double> mean(at(k), 0.0);
    for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < k; ++c)
            mean[at(c)] += std::exp(static_cast<double>(sigma.logarithm(i, c)) - largest[at(c)]);
    for (Index c = 0; c < k; ++c) mean[at(c)] = largest[at(c)] + std::log(mean[at(c)] / static_cast<double>(n));
    return mean;
}

double divergence_of(const std::vector<double>& log_mean, const std::vector<double>& prior, Fairness kind) {
    double value = 0;
    for (std::size_t c = 0; c < log_mean.size(); ++c) {
        const double log_prior = std::log(prior[c]);
        value += kind == Fairness::reverse ? std::exp(log_mean[c]) * (log_mean[c] - log_prior)
                                           : prior[c] * (log_prior - log_mean[c]);
    }
    return value;
}

}  // namespace

template <class T>
double add_decisiveness(const Softmax<T>& sigma, double order, double weight, Matrix<T>& gradient, int threads) {
    const double scale = weight / static_cast<double>(sigma.probability.rows());
    return weight * mean_renyi(sigma, order, threads, [&](Index i, const double* slope) {
               for (Index c = 0; c < gradient.cols(); ++c) gradient(i, c) += static_cast<T>(scale * slope[c]);
           });
}

template <class T>
double decisiveness(const Softmax<T>& sigma, double order, int threads) {
    return mean_renyi(sigma, order, threads, [](Index, const double*) {});
}

template <class T>
double fairness(const Softmax<T>& sigma, const std::vector<double>& prior, Fairness kind) {
    return divergence_of(log_means(sigma), prior, kind);
}

template <class T>
double add_fairness(const Softmax<T>& sigma, const std::vector<double>& prior, Fairness kind, double weight,
                    Matrix<T>& gradient, int threads) {
    const Index n = sigma.probability.rows();
    const Index k = sigma.probability.cols();
    const std::vector<double> mean = log_means(sigma);
    const double scale = weight / static_cast<double>(n);
    sum_rows(n, k, threads, [&](Index i) {
        const T* const p = sigma.probability.data() + i * k;
        T* const to = gradient.data() + i * k;
        if (kind == Fairness::reverse) {
            // The derivative with respect to sigmabar_k also has a term + 1, which the softmax cancels.
            add_through_softmax(
                p, k, scale, [&](Index c) { return mean[at(c)] - std::log(prior[at(c)]); }, to);
        } else {
            // -u_k sigma_ik / sigmabar_k is of the order N u_k even if sigma_ik and sigmabar_k underflow.
            double sum = 0;
            const auto share = [&](Index c) {
                return -prior[at(c)] * std::exp(static_cast<double>(sigma.logarithm(i, c)) - mean[at(c)]);
            };
            for (Index c = 0; c < k; ++c) sum += share(c);
            for (Index c = 0; c < k; ++c) to[c] += static_cast<T>(scale * (share(c) - static_cast<double>(p[c]) * sum));
        }
        return 0.0;
    });
    return weight * divergence_of(mean, prior, kind);
}

template <class T>
double add_cross_entropy(const Softmax<T>& sigma, const Matrix<T>& y, CrossEntropy kind, double weight,
                         Matrix<T>& gradient, int threads, const std::vector<bool>& counts) {
    const Index n = sigma.probability.rows();
    const Index k = sigma.probability.cols();
    const double scale = weight / static_cast<double>(n);
    return scale * sum_rows(n, k, threads, [&](Index i) {
               if (!counts.empty() && !counts[at(i)]) return 0.0;
               const T* const p = sigma.probability.data() + i * k;
               const T* const label = y.data() + i * k;
               T* const to = gradient.data() + i * k;
               double value = 0;
               if (kind == CrossEntropy::reverse) {
                   thread_local std::vector<double> slope;
                   slope.resize(at(k));
                   for (Index c = 0; c < k; ++c) {
                       slope[at(c)] = -std::log(static_cast<double>(std::max(label[c], T(1e-30))));
                       value += static_cast<double>(p[c]) * slope[at(c)];
                   }
                   for (Index c = 0; c < k; ++c)
                       to[c] += static_cast<T>(scale * static_cast<double>(p[c]) * (slope[at(c)] - value));
                   return value;
               }
               double mass = 0;
               for (Index c = 0; c < k; ++c) {
                   mass += static_cast<double>(label[c]);
                   value -= static_cast<double>(label[c]) * static_cast<double>(sigma.logarithm(i, c));
               }
               for (Index c = 0; c < k; ++c)
                   to[c] += static_cast<T>(scale * (mass * static_cast<double>(p[c]) - static_cast<double>(label[c])));
               return value;
           });
}

template <class T>
double add_label_loss(const Softmax<T>& sigma, const std::vector<std::pair<int, int>>& clusters, double weight,
                      Matrix<T>& gradient) {
    const Index k = sigma.probability.cols();
    const double scale = weight / static_cast<double>(clusters.size());
    double value = 0;
    for (std::size_t r = 0; r < clusters.size(); ++r) {
        const auto [begin, end] = clusters[r];
        const T* const logarithm = sigma.logarithm.data() + static_cast<Index>(r) * k;
        T* const to = gradient.data() + static_cast<Index>(r) * k;
        const auto largest = static_cast<double>(*std::max_element(logarithm + begin, logarithm + end));
        double sum = 0;
        for (int c = begin; c < end; ++c) sum += std::exp(static_cast<double>(logarithm[c]) - largest);
        const double total = largest + std::log(sum);
        value -= total;
        for (Index c = 0; c < k; ++c) {
            const double within = c >= begin && c < end ? std::exp(static_cast<double>(logarithm[c]) - total) : 0.0;
            to[c] += static_cast<T>(scale * (std::exp(static_cast<double>(logarithm[c])) - within));
        }
    }
    return scale * value;
}

#define COTERIE_INSTANTIATE(T)                                                                                      \
    template Softmax<T> softmax(const Matrix<T>&, int);                                                             \
    template double add_decisiveness(const Softmax<T>&, double, double, Matrix<T>&, int);                           \
    template double add_fairness(const Softmax<T>&, const std::vector<double>&, Fairness, double, Matrix<T>&, int); \
    template double decisiveness(const Softmax<T>&, double, int);                                                   \
    template double fairness(const Softmax<T>&, const std::vector<double>&, Fairness);                              \
    template double add_cross_entropy(const Softmax<T>&, const Matrix<T>&, CrossEntropy, double, Matrix<T>&, int,   \
                                      const std::vector<bool>&);                                                    \
    template double add_label_loss(const Softmax<T>&, const std::vector<std::pair<int, int>>&, double, Matrix<T>&);
COTERIE_INSTANTIATE(float)
COTERIE_INSTANTIATE(double)
#undef COTERIE_INSTANTIATE

}  // namespace coterie
