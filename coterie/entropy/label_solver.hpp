#pragma once
// Pseudo-labels of self-labelling entropy clustering (Zhang and Boykov, section 3.2): with the predictions sigma fixed,
// the minimiser over y of the convex function
//
//     P(y) = 1/N sum_ik -sigma_ik ln y_ik + lambda KL(u || ybar),   y_i in the simplex         (equation 42)
//
//     sigma  N x K  predictions, rows sum to 1; entries may be exactly 0 and 1
//     y      N x K  labels;  ybar_k = 1/N sum_i y_ik
//     u      K      prior, each above 0, sum 1
//     a      K      multipliers of ybar in the dual:  ybar_k = lambda u_k / a_k,  y_ik = sigma_ik / (mu_i - a_k),
//                   with the mu_i > max a that gives sum_k y_ik = 1
//     D(a)   the dual, D <= P, equal at the optimum; its gradient is lambda u_k / a_k - ybar_k(a)
//
// Rows with fixed labels count in ybar but not in the first sum. Their loss is the ordinary cross-entropy.
// Predictions below 1e-20 (float: 1e-30) are raised to that value.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

enum class LabelSolver {
    em,     // equations 45 and 46, starting at y = sigma; converges linearly, and slowly for large lambda
    dual,   // Newton on the K - 1 free multipliers, one pass over the rows per step: the global optimum up to rounding
    newton  // the paper's comparison: Newton on y itself with its barrier; N K numbers per step
};

struct LabelSettings {
    LabelSolver solver = LabelSolver::em;
    double lambda = 100;             // weight of fairness, above 0, at most 1e6
    std::vector<double> prior = {};  // u; empty: uniform
    int rounds = 10;                 // for em: maximum
    int steps = 500;                 // for dual and newton: maximum
    double tolerance = 0;  // stop if no ybar_k moves by more (em), or if the gradient is at most this (dual, newton)
};

/// Labels that are fixed: ascending row numbers, and K numbers per row that sum to 1.
template <class T>
struct FixedLabels {
    std::vector<Index> rows = {};
    Matrix<T> labels = {};
};

template <class T>
struct LabelSolution {
    Matrix<T> labels;  // y
    int rounds = 0;
    bool converged = false;  // the tolerance was met; dual, newton: or the gradient is 0 up to rounding
    /// dual: max_k |lambda u_k / a_k - ybar_k|. newton: the largest next move of any ybar_k. em: infinity (use
    /// certify_labels).
    double gradient = 0;
    /// dual: the K numbers max a - a_k, which give the best multipliers; labels near 0 and 1 do not determine these.
    /// Empty for the other solvers, and if every label is fixed.
    Vector<double> multipliers = {};
};

/// The result has the same bits for any number of threads. Memory in addition to the input and the result: em 2 N K
/// numbers, dual N + K^2 per thread, newton 3 N K. Throws BadArgument (settings, shapes), ResourceError.
template <class T>
COTERIE_API LabelSolution<T> solve_labels(const Matrix<T>& predictions, const LabelSettings& settings, int threads,
                                          const FixedLabels<T>& fixed = {});

/// How far given labels are from the optimum. They may come from any source.
struct LabelCertificate {
    double objective = 0;  // P(y)
    double gap = 0;        // P(y) - D(a); up to rounding, P(y) is at most this far above the optimum
    double gradient = 0;   // max_k |ybar_k - ybar_k(a)|; with multipliers: max_k |lambda u_k / a_k - ybar_k(a)|
};
/// a comes from the given multipliers of a solution; without multipliers it is lambda u / ybar. If every label is
/// fixed, gap and gradient are 0.
template <class T>
COTERIE_API LabelCertificate certify_labels(const Matrix<T>& predictions, const Matrix<T>& labels,
                                            const LabelSettings& settings, int threads,
                                            const FixedLabels<T>& fixed = {}, const Vector<double>& multipliers = {});

/// Returns `prior`, or the uniform prior if it is empty. Throws BadArgument unless `prior` is K numbers above 0 that
/// sum to 1 (to 1e-6). `option`: the option that the message names, `prior` or another source of the prior.
COTERIE_API std::vector<double> checked_prior(const std::vector<double>& prior, Index clusters,
                                              const std::string& option = "prior");

}  // namespace coterie
