// An active set reaches the solution up to rounding even for similar columns; coordinate descent does not. The
// certificate of a representation needs this accuracy. Columns enter a few at a time and leave one by one. A new row
// updates the factor when a column enters, and rotations when it leaves. When all conditions seem to hold, the gradient
// is computed from scratch. Columns that were rejected because of rounding may then enter.

#include "coterie/manifold/internal/reduced_lasso.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coterie::manifold::internal {
namespace {
constexpr double kDependent = 1e-11;  // smallest accepted fraction of a column's square outside the span of the support
constexpr double kNothing = 1e-15;    // a smaller fraction is only a rounding error
constexpr double kSlack = 1e-11;      // relative to a threshold
constexpr int kRefreshes = 4;

constexpr char kOutside = 0;
constexpr char kInside = 1;
constexpr char kRefused = 2;  // until g is computed again

double sign_of(double value) { return value < 0 ? -1.0 : 1.0; }
}  // namespace

double ReducedLasso::slack(Index j) const { return kSlack * problem_.thresholds[j] + noise_; }

// Computes the row of column j in the factor and writes it to row_. Returns false if the column depends on the support.
bool ReducedLasso::factor_row(Index j, double& pivot) {
    const auto size = static_cast<Index>(support_.size());
    const double* const gram = problem_.gram + j * problem_.stride;
    double left = diagonal(j);
    for (Index i = 0; i < size; ++i) row_[at(i)] = gram[support_[at(i)]];
    scans_.solve_lower(factor_.data(), problem_.size, size, row_.data());
    for (Index i = 0; i < size; ++i) left -= row_[at(i)] * row_[at(i)];
    pivot = left;
    return left > kDependent * diagonal(j);
}

void ReducedLasso::append(Index j, double pivot) {
    const auto size = static_cast<Index>(support_.size());
    std::copy_n(row_.begin(), size, factor_.begin() + size * problem_.size);
    factor_[at(size * problem_.size + size)] = std::sqrt(pivot);
    support_.push_back(static_cast<std::int32_t>(j));
    inside_[at(j)] = kInside;
}

// Moves the rows below up. Rotations of neighbouring columns then make the factor triangular again.
void ReducedLasso::remove(std::size_t position) {
    const Index size = static_cast<Index>(support_.size()) - 1;
    const Index stride = problem_.size;
    inside_[at(support_[position])] = kOutside;
    support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(position));
    const auto first = static_cast<Index>(position);
    for (Index i = first; i < size; ++i)
        std::copy_n(factor_.begin() + (i + 1) * stride, i + 2, factor_.begin() + i * stride);
    for (Index i = first; i < size; ++i) {
        double* const diagonal = factor_.data() + i * stride + i;
        const double length = std::hypot(diagonal[0], diagonal[1]);
        const double cosine = diagonal[0] / length;
        const double sine = diagonal[1] / length;
        diagonal[0] = length;
        for (Index r = i + 1; r < size; ++r) {
            double* const pair = factor_.data() + r * stride + i;
            const double left = pair[0];
            pair[0] = cosine * left + sine * pair[1];
            pair[1] = cosine * pair[1] - sine * left;
        }
    }
}

// Updates c and g for a step alpha along a direction in the coefficients of the support.
void ReducedLasso::move(double alpha, const double* direction, double* c) {
    const auto size = static_cast<Index>(support_.size());
    for (Index i = 0; i < size; ++i) {
        row_[at(i)] = alpha * direction[i];
        const auto j = at(support_[at(i)]);
        c[j] += row_[at(i)];
        g_[j] -= problem_.ridge * row_[at(i)];
    }
    scans_.subtract_rows(problem_.gram, problem_.stride, support_.data(), row_.data(), size, g_.data(), problem_.size);
}

void ReducedLasso::to_optimum(double* c) {
    while (!support_.empty()) {
        ++steps_;
        const auto size = static_cast<Index>(support_.size());
        for (Index i = 0; i < size; ++i) {
            const auto j = at(support_[at(i)]);
            direction_[at(i)] = g_[j] - problem_.thresholds[j] * sign_[j];
        }
        scans_.solve_lower(factor_.data(), problem_.size, size, direction_.data());
        scans_.solve_transposed(factor_.data(), problem_.size, size, direction_.data());
        double alpha = 1;
        std::size_t leaving = support_.size();
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const auto j = at(support_[i]);
            if (sign_[j] * (c[j] + direction_[i]) > 0) continue;
            const double here = direction_[i] == 0 ? 0 : std::clamp(-c[j] / direction_[i], 0.0, 1.0);
            if (leaving < support_.size() && here >= alpha) continue;
            alpha = here;
            leaving = i;
        }
        if (alpha > 0) move(alpha, direction_.data(), c);
        if (leaving == support_.size()) return;
        c[support_[leaving]] = 0;
        remove(leaving);
    }
}

// Adds column j, which depends linearly on an optimal support.
bool ReducedLasso::exchange(Index j, double* c) {
    const double sign = sign_of(g_[at(j)]);
    sign_[at(j)] = sign;
    double pivot = 0;
    while (!factor_row(j, pivot)) {
        ++steps_;
        const auto size = static_cast<Index>(support_.size());
        for (Index i = 0; i < size; ++i) direction_[at(i)] = -sign * row_[at(i)];
        scans_.solve_transposed(factor_.data(), problem_.size, size, direction_.data());
        const double gain = std::abs(g_[at(j)]) - problem_.thresholds[j];
        double alpha = pivot > 0 ? std::max(0.0, gain) / pivot : std::numeric_limits<double>::infinity();
        std::size_t leaving = support_.size();
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const auto p = at(support_[i]);
            if (sign_[p] * direction_[i] >= 0) continue;
            const double here = std::abs(c[p] / direction_[i]);
            if (here >= alpha) continue;
            alpha = here;
            leaving = i;
        }
        if (leaving == support_.size()) {
            // No column of the support limits the step; only the small part of j outside the support does.
            if (c[at(j)] == 0 && pivot <= kNothing * diagonal(j)) return false;
            factor_row(j, pivot);
            append(j, std::max(pivot, kNothing * diagonal(j)));
            return true;
        }
        move(alpha, direction_.data(), c);
        c[j] += alpha * sign;
        const double moved = alpha * sign;
        const auto own = static_cast<std::int32_t>(j);
        g_[at(j)] -= problem_.ridge * moved;
        scans_.subtract_rows(problem_.gram, problem_.stride, &own, &moved, 1, g_.data(), problem_.size);
        c[support_[leaving]] = 0;
        remove(leaving);
    }
    append(j, pivot);
    return true;
}

void ReducedLasso::refresh_gradient(const double* c) {
    std::copy_n(problem_.correlations, problem_.size, g_.begin());
    const auto size = static_cast<Index>(support_.size());
    for (Index i = 0; i < size; ++i) {
        const auto j = at(support_[at(i)]);
        row_[at(i)] = c[j];
        g_[j] -= problem_.ridge * c[j];
    }
    scans_.subtract_rows(problem_.gram, problem_.stride, support_.data(), row_.data(), size, g_.data(), problem_.size);
}

bool ReducedLasso::solve(const ReducedProblem& problem, double* c) {
    problem_ = problem;
    const Index m = problem.size;
    steps_ = 0;
    support_.clear();
    inside_.assign(at(m), kOutside);
    sign_.assign(at(m), 1.0);
    factor_.resize(std::max(factor_.size(), at(m * m)));
    row_.resize(at(m) + 1);
    direction_.resize(at(m) + 1);
    g_.resize(at(m));
    double largest = 0;
    for (Index j = 0; j < m; ++j) largest = std::max(largest, std::abs(problem.correlations[j]));
    noise_ = 1e-15 * largest;
    double pivot = 0;
    for (Index j = 0; j < m; ++j) {
        if (c[j] == 0) continue;
        if (factor_row(j, pivot)) {
            sign_[at(j)] = sign_of(c[j]);
            append(j, pivot);
        } else {
            c[j] = 0;
        }
    }
    const Index most_steps = 60 * m + 1000;
    for (int refresh = 0; refresh < kRefreshes; ++refresh) {
        refresh_gradient(c);
        bool entered = false;
        for (char& state : inside_) state = state == kRefused ? kOutside : state;
        for (;;) {
            to_optimum(c);
            if (steps_ > most_steps) {
                refresh_gradient(c);
                return false;
            }
            entering_.clear();
            for (Index j = 0; j < m; ++j) {
                if (inside_[at(j)] != kOutside) continue;
                const double excess = std::abs(g_[at(j)]) - problem.thresholds[j];
                if (excess > slack(j)) entering_.emplace_back(excess / problem.thresholds[j], j);
            }
            if (entering_.empty()) break;
            entered = true;
            // Adds a few columns at a time, first those farthest beyond their threshold. Those of the wrong sign leave.
            const std::size_t most = std::min(entering_.size(), 1 + support_.size() / 8);
            const auto farther = [](const auto& a, const auto& b) {
                return a.first > b.first || (a.first == b.first && a.second < b.second);
            };
            std::partial_sort(entering_.begin(), entering_.begin() + static_cast<std::ptrdiff_t>(most), entering_.end(),
                              farther);
            for (std::size_t e = 0; e < most; ++e) {
                const Index j = entering_[e].second;
                if (factor_row(j, pivot)) {
                    sign_[at(j)] = sign_of(g_[at(j)]);
                    append(j, pivot);
                } else if (e == 0) {
                    if (!exchange(j, c)) inside_[at(j)] = kRefused;
                    break;
                }
            }
        }
        if (!entered && refresh > 0) break;
    }
    refresh_gradient(c);
    return true;
}

}  // namespace coterie::manifold::internal
