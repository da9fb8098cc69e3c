#pragma once
// Internal: the lasso of few columns, given by their Gram matrix, solved exactly:
//
//     min_c  sum_j t_j |c_j| + 1/2 c'(G + ridge I) c - b'c,      g = b - (G + ridge I) c
//
//     optimal:  g_j = t_j sign(c_j) where c_j != 0,  |g_j| <= t_j elsewhere
//
// An active-set method. For a support P with given signs, the optimum solves a linear system, which is kept as a
// Cholesky factor. A step towards the optimum ends where the first coefficient would change its sign; this column
// leaves P. When P is optimal, columns with |g_j| > t_j enter with the sign of g_j. The objective falls from one
// optimal P to the next. So no P repeats, and the method ends after finitely many steps for any columns.
//
// A column j that depends linearly on P would make the system singular. Let v be the direction that changes c_j by
// sign(g_j), and the coefficients of P so that Gv = 0. Along v, the objective falls at the rate |g_j| - t_j until a
// coefficient of P is 0. Column j replaces the column of this coefficient.

#include <cstdint>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/manifold/internal/column_scans.hpp"

namespace coterie::manifold::internal {

using namespace coterie::internal;

struct ReducedProblem {
    const double* gram = nullptr;  // size x size, symmetric, rows `stride` apart
    Index stride = 0;
    Index size = 0;
    const double* correlations = nullptr;  // b
    const double* thresholds = nullptr;    // t, above 0; infinity excludes a column
    double ridge = 0;
};

class ReducedLasso {
public:
    /// On entry, c is the start: its support and signs are tried first. On return, c is the solution. Returns false if
    /// the limit of steps was reached, which only rounding can cause. c is then the best point found.
    bool solve(const ReducedProblem& problem, double* c);
    /// Of the last solution: columns with c_j != 0, in the order in which they entered, and g of all columns.
    const std::vector<std::int32_t>& support() const { return support_; }
    const std::vector<double>& gradient() const { return g_; }
    Index steps() const { return steps_; }

private:
    double entry(Index i, Index j) const { return problem_.gram[i * problem_.stride + j]; }
    double diagonal(Index j) const { return entry(j, j) + problem_.ridge; }
    double slack(Index j) const;
    bool factor_row(Index j, double& pivot);
    void append(Index j, double pivot);
    void remove(std::size_t position);
    void move(double alpha, const double* direction, double* c);
    void to_optimum(double* c);
    bool exchange(Index j, double* c);
    void refresh_gradient(const double* c);

    ReducedProblem problem_;
    const ColumnScans& scans_ = column_scans();
    Index steps_ = 0;
    double noise_ = 0;
    std::vector<std::int32_t> support_;
    std::vector<char> inside_;
    std::vector<double> sign_;    // per column
    std::vector<double> factor_;  // L of G_PP + ridge I, rows `size` apart
    std::vector<double> row_;
    std::vector<double> direction_;
    std::vector<double> g_;
    std::vector<std::pair<double, std::int32_t>> entering_;
};

}  // namespace coterie::manifold::internal
