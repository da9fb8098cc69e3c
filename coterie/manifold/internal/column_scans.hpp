#pragma once
// Internal: passes over all columns for one query, and products of the reduced problem. They are compiled per
// instruction set. Everything runs on the calling thread. This header includes no header of Eigen or of the library:
// column_scans_isa.cpp includes it after giving Eigen a separate namespace.
//
// Notation, for columns j and one query y, both relative to a common centre: p_j = z_j . z_y, s_j = |z_j|^2, r_j =
// |z_j|.

#include <cstddef>
#include <cstdint>

namespace coterie::manifold::internal {

enum class WeightKind : int { linear, exponential, equal, given };

/// The terms that turn a product p_j into a squared distance and a correlation b_j.
struct QueryTerms {
    float squared = 0;   // |z_y|^2
    float norm = 0;      // |z_y|
    float constant = 0;  // b_j = p_j + along_j + constant: <x_j, y> of the homogenised points
    float slope = 0;  // rounding error of a squared distance, and of b_j except for rest: at most slope (r_j + |z_y|)^2
    float rest = 0;   // the other rounding error of b_j
    float rate = 0;   // exponential weights: exp(rate d_j)
    float least = 0;  // lower limit of the squared distance in a linear weight
};

/// A column is measured again if |q_j + constant| + slope r_j + rest > threshold_j, q_j = z_j . r.
struct ResidualTerms {
    float constant = 0;
    float slope = 0;  // rounding error of q_j: at most slope r_j + rest
    float rest = 0;
    float factor = 0;     // threshold_j = factor times the weight's lower bound
    float rate = 0;       // exponential: weight exp(rate d_j - reference), the exponent at most 80
    float reference = 0;  // rate times the distance at which the weight is 1
    float least = 0;      // as in QueryTerms
    float norm = 0;       // |r|, rounded up
};

struct ColumnScans {
    /// Writes lower[j], a lower bound of the squared distance (given weights: lower[j] is the weight and does not
    /// change). Writes key[j], an upper bound of a value that grows with |b_j| / w_j: (b_j / d_j)^2, log |b_j| - rate
    /// d_j, or |b_j| / w_j. Returns the smallest of `lower` (equal weights: 0).
    float (*keys)(WeightKind kind, const float* product, const float* squared, const float* norms, const float* along,
                  std::ptrdiff_t count, const QueryTerms& terms, float* lower, float* key);
    /// Writes the positions with key > limit to `hits` (space for `count`), ascending, and returns their number.
    std::ptrdiff_t (*above)(const float* key, std::ptrdiff_t count, float limit, std::int32_t* hits);
    /// Writes the positions that reach their threshold. Adds to `screened` the number of positions whose norm alone
    /// excludes this: r_j |r| + |constant| + rest is below the threshold.
    std::ptrdiff_t (*reaching)(WeightKind kind, const float* product, const float* norms, const float* lower,
                               std::ptrdiff_t count, const ResidualTerms& terms, std::int32_t* hits,
                               std::int64_t* screened);
    /// max_j |q_j + constant| - slope r_j - rest.
    float (*largest)(const float* product, const float* norms, std::ptrdiff_t count, const ResidualTerms& terms);
    /// sum_j sqrt(squared_j), in double from sums of 64.
    double (*sum_of_roots)(const float* squared, std::ptrdiff_t count);
    /// In double: out[0] = x . a, out[1] = x . b.
    void (*two_dots_float)(const float* x, const double* a, const double* b, std::ptrdiff_t d, double* out);
    void (*two_dots_double)(const double* x, const double* a, const double* b, std::ptrdiff_t d, double* out);
    /// g -= sum_i coefficients[i] rows[i]. Rows of `matrix` have `columns` numbers and are `stride` numbers apart.
    void (*subtract_rows)(const double* matrix, std::ptrdiff_t stride, const std::int32_t* rows,
                          const double* coefficients, std::ptrdiff_t count, double* g, std::ptrdiff_t columns);
    /// x := L^-1 x and x := L^-T x, L lower triangular, row-major.
    void (*solve_lower)(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t size, double* x);
    void (*solve_transposed)(const double* factor, std::ptrdiff_t stride, std::ptrdiff_t size, double* x);
};

/// The scans for this processor's best instruction set.
const ColumnScans& column_scans();

}  // namespace coterie::manifold::internal
