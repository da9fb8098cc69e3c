#pragma once
// Internal: the hot loops of the label solvers and of linear models, compiled per instruction set and chosen at run
// time.
//
// A tile is 16 rows of predictions or labels, stored by cluster: the number of row r for cluster k is at k * 16 + r. So
// a SIMD vector holds numbers of several rows for one cluster, whatever K is. This header includes no standard header
// with inline functions: *_isa.cpp are compiled for instruction sets that not every processor has.

#include <cstddef>

namespace coterie::entropy::internal {

constexpr std::ptrdiff_t tile_rows = 16;

template <class T>
struct LabelRounds {
    /// One round of EM (equations 45, 46) over `tiles` consecutive tiles:
    ///     y_k = (sigma_k + factor_k y_k) / (1 + sum_c factor_c y_c),   sums_k += y_k,
    /// with factor_k = lambda N u_k / sum_j y_jk of the previous round. sums: K x 16, one lane per row of the tile.
    void (*round)(const T* sigma, T* y, std::ptrdiff_t tiles, std::ptrdiff_t clusters, const T* factor, T* sums);
};

struct LabelKernels {
    LabelRounds<float> float32;
    LabelRounds<double> float64;
    /// For each row of one tile: the root t > 0 of sum_k sigma_k / (t + c_k) = 1, and y_k = sigma_k / (t + c_k). sigma
    /// > 0, and some c_k is 0. t is 16 numbers: on entry the start (any number), on return the roots.
    void (*roots)(const double* sigma, std::ptrdiff_t clusters, const double* c, double* t, double* y);
    /// D_k / sqrt(sum_l D_l), D_k = sigma_k / (t + c_k)^2, for the rows of one tile: the number of row r for cluster k
    /// is at out[k * stride + r].
    void (*curvature)(const double* sigma, std::ptrdiff_t clusters, const double* c, const double* t, double* out,
                      std::ptrdiff_t stride);
};

template <class T>
struct LinearProducts {
    /// c_kp += sum_r g_rk x_rp for the columns p in begin..end-1. rows: pointers to rows of x; g: `count` x `clusters`,
    /// contiguous; column p of c is at k * stride + p - begin.
    void (*add_gradient)(const T* const* rows, std::ptrdiff_t count, const T* g, std::ptrdiff_t clusters,
                         std::ptrdiff_t begin, std::ptrdiff_t end, T* c, std::ptrdiff_t stride);
};

struct LinearKernels {
    LinearProducts<float> float32;
    LinearProducts<double> float64;
};

/// The kernels for this processor's best instruction set.
const LabelKernels& label_kernels();
const LinearKernels& linear_kernels();

/// Those for numbers of type T.
template <class T, class Kernels>
const auto& of_type(const Kernels& kernels) {
    if constexpr (sizeof(T) == sizeof(float))
        return kernels.float32;
    else
        return kernels.float64;
}

}  // namespace coterie::entropy::internal
