#pragma once
// Pseudo-labels of self-labelling entropy clustering (Zhang and Boykov, section 3.2): the minimiser over y, with the
// predictions sigma fixed, of the convex
//
//     P(y) = 1/N sum_ik -sigma_ik ln y_ik + lambda KL(u || ybar),   y_i in the simplex         (equation 42)
//
//     sigma  N x K  predictions, rows sum to 1; entries may be exactly 0 and 1
//     y      N x K  labels;  ybar_k = 1/N sum_i y_ik
//     u      K      prior, each above 0, sum 1
//     a      K      multipliers of ybar in the dual:  ybar_k = lambda u_k / a_k,  y_ik = sigma_ik / (mu_i - a_k),
//                   mu_i > max a the root of sum_k y_ik = 1
//     D(a)   the dual, D <= P, equal at the optimum; its gradient is lambda u_k / a_k - ybar_k(a)
//
// Rows whose labels are known count in ybar, but not in the first sum (their loss is the ordinary cross-entropy).
// Predictions below 1e-20 (float: 1e-30) count as that much.

#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

enum class LabelSolver {
    em,     // equations 45 and 46 from y = sigma, a fixed number of rounds; converges linearly, slowly for large lambda
    dual,   // Newton on the K - 1 free multipliers, one pass over the rows a step: the global optimum to rounding
    newton  // the paper's comparison: Newton on y itself with its barrier; N K numbers per step
};

struct LabelSettings {
    LabelSolver solver = LabelSolver::em;
    double lambda = 100;             // weight of fairness, above 0, at most 1e6
    std::vector<double> prior = {};  // u; empty: uniform
    int rounds = 10;                 // of em, at most
    int steps = 500;                 // of dual and newton, at most
    double tolerance = 0;  // em: stop when no ybar_k moved by more; dual, newton: when the gradient is this small
};

/// Labels that are known: rows, ascending, and a row of K numbers that sum to 1 for each.
template <class T>
struct FixedLabels {
    std::vector<Index> rows = {};
    Matrix<T> labels = {};
};

template <class T>
struct LabelSolution {
    Matrix<T> labels;  // y
    int rounds = 0;
    bool converged = false;  // the tolerance was met; dual, newton: or the gradient is within rounding of 0
    /// dual: max_k |lambda u_k / a_k - ybar_k|; newton: how far its next step would move an ybar_k; em: infinity (see
    /// certify_labels).
    double gradient = 0;
    /// dual: K, max a - a_k, which the best multipliers follow from: labels near 0 and 1 do not give them back. Empty
    /// from the other solvers, and where every label is fixed.
    Vector<double> multipliers = {};
};

/// The same bits at any number of threads. Memory: em 2 N K numbers beside the input and the result, dual N + K^2 a
/// thread, newton 3 N K. Throws BadArgument (settings, shapes), ResourceError.
template <class T>
COTERIE_API LabelSolution<T> solve_labels(const Matrix<T>& predictions, const LabelSettings& settings, int threads,
                                          const FixedLabels<T>& fixed = {});

/// How far labels, found by whatever means, are from the optimum.
struct LabelCertificate {
    double objective = 0;  // P(y)
    double gap = 0;        // P(y) - D(a): P(y) is at most this far above the optimum, but for rounding
    double gradient = 0;   // max_k |ybar_k - ybar_k(a)|; with multipliers max_k |lambda u_k / a_k - ybar_k(a)|
};
/// a: of the multipliers that a solution has; without them lambda u / ybar. Where every label is fixed there is nothing
/// to be far from: gap and gradient are 0.
template <class T>
COTERIE_API LabelCertificate certify_labels(const Matrix<T>& predictions, const Matrix<T>& labels,
                                            const LabelSettings& settings, int threads,
                                            const FixedLabels<T>& fixed = {}, const Vector<double>& multipliers = {});

/// The prior itself: uniform when `prior` is empty. BadArgument unless it is K numbers above 0 that sum to 1 (to 1e-6);
/// the option it names is `prior`, or another that the prior came from.
COTERIE_API std::vector<double> checked_prior(const std::vector<double>& prior, Index clusters,
                                              const std::string& option = "prior");

}  // namespace coterie
