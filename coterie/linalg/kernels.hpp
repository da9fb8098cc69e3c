#pragma once
// Internal: the hot loops, one table of functions per instruction set and scalar type. kernels_isa.cpp is compiled once
// per instruction set, each time with another namespace, so the linker cannot mix functions of different sets.
//
// A panel holds a few centroids g_j side by side: for each dimension p, `vectors * lanes` numbers, one per centroid
// (column). Columns after the last centroid are 0 and have bias +infinity. The score of row x and column j is bias_j -
// x . g_j ; smallest score = nearest centroid.

#include <cstddef>
#include <cstdint>

#include "coterie/base/sparse_row.hpp"

namespace coterie::internal {

template <class T>
struct Kernels {
    int lanes;        // numbers a vector register holds
    int max_vectors;  // widest panel, in vectors
    /// For each row: the smallest score of the panel, its column (the lowest among equal scores), and the smallest
    /// score of the other columns. rows: `count` row pointers. second may be null.
    void (*panel_best)(const T* const* rows, std::ptrdiff_t count, std::ptrdiff_t d, const T* panel, const T* bias,
                       int vectors, T* best, std::int32_t* column, T* second);
    /// All scores of each row: out is count x (vectors * lanes).
    void (*panel_scores)(const T* const* rows, std::ptrdiff_t count, std::ptrdiff_t d, const T* panel, const T* bias,
                         int vectors, T* out);
    /// The same for sparse rows.
    void (*sparse_best)(const SparseRow<T>* rows, std::ptrdiff_t count, const T* panel, const T* bias, int vectors,
                        T* best, std::int32_t* column, T* second);
    void (*sparse_scores)(const SparseRow<T>* rows, std::ptrdiff_t count, const T* panel, const T* bias, int vectors,
                          T* out);
    /// || a - b ||^2; one partial sum per lane, added pairwise.
    T (*squared_distance)(const T* a, const T* b, std::ptrdiff_t d);
    /// || x - center ||^2, in double.
    double (*squared_deviation)(const T* x, const double* center, std::ptrdiff_t d);
    /// sum += weight * x, in double.
    void (*add_scaled)(double* sum, const T* x, double weight, std::ptrdiff_t d);
    /// sum += weight * (x - center), in double.
    void (*add_deviation)(double* sum, const T* x, const double* center, double weight, std::ptrdiff_t d);
    /// The same, and squares_p += weight * (x_p - center_p)^2.
    void (*add_moments)(double* sum, double* squares, const T* x, const double* center, double weight,
                        std::ptrdiff_t d);
    /// gain_j += sum_r weight_r max(0, closest_r - squared_rj), squared_rj = max(0, norm_r + 2 score_rj). columns: row
    /// length of scores. weight null: all weights are 1.
    void (*add_gains)(const T* scores, std::ptrdiff_t count, int columns, const T* norm, const T* closest,
                      const double* weight, double* gain);
    /// Writes weight (x_p - center_p), p < d, in the layout of add_outer: number p goes to out[p / lanes * stride + p %
    /// lanes], and the last vector is filled with 0.
    void (*pack_float)(const float* x, const double* center, double weight, std::ptrdiff_t d, T* out,
                       std::ptrdiff_t stride);
    void (*pack_double)(const double* x, const double* center, double weight, std::ptrdiff_t d, T* out,
                        std::ptrdiff_t stride);
    /// c_ij += sum_r left_ri right_rj, rounded to a multiple of q_ij. To round, adds and subtracts m_ij = 1.5 * 2^52
    /// q_ij = left_factor_i right_factor_j. left and right are packed columns: vectors of `lanes` columns one after
    /// another, each rows x lanes numbers, `stride` apart. c has left_vectors * lanes rows, `stride_c` apart. The sum
    /// over the rows is in T, so give at most a few hundred rows. `symmetric`: c lies on the diagonal of a symmetric
    /// sum, and its numbers below the diagonal need not be computed.
    void (*add_outer)(const T* left, std::ptrdiff_t left_vectors, const double* left_factor, const T* right,
                      std::ptrdiff_t right_vectors, const double* right_factor, std::ptrdiff_t stride,
                      std::ptrdiff_t rows, bool symmetric, double* c, std::ptrdiff_t stride_c);
};

/// The best table that this processor can run.
template <class T>
const Kernels<T>& kernels();

/// All tables that this processor can run, fastest first, with their names; for tests.
struct InstructionSet {
    const char* name;
    const Kernels<float>* float32;
    const Kernels<double>* float64;
};
const InstructionSet* instruction_sets(std::size_t& count);

}  // namespace coterie::internal
