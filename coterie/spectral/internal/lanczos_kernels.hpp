#pragma once
// Internal: the passes of block Lanczos over its rows, compiled per instruction set and chosen at run time. Blocks are
// n x 4, row by row. The basis is n x p with a stride; columns of finite numbers pad p to a multiple of 8. Matrix
// products of libraries are not used: they first pack their operands, which for four columns takes as long as the
// product.

#include <cstddef>
#include <cstdint>

namespace coterie::spectral::internal {

inline constexpr std::ptrdiff_t lanczos_block = 4;
inline constexpr std::ptrdiff_t lanczos_padding = 8;  // lanes of the widest instruction set

struct LanczosKernels {
    /// to = scale (M - shift I) x + keep to for rows begin..end-1. M is given by the starts, columns and values of its
    /// rows.
    void (*multiply)(const std::int64_t* starts, const std::int32_t* columns, const double* values,
                     std::ptrdiff_t begin, std::ptrdiff_t end, const double* x, double scale, double shift, double keep,
                     double* to);
    /// seen += right' basis: 4 x columns, row by row; `columns` is a multiple of 8.
    void (*add_seen)(const double* basis, std::ptrdiff_t stride, std::ptrdiff_t columns, const double* right,
                     std::ptrdiff_t rows, double* seen);
    /// right -= basis seen'.
    void (*take_off)(const double* basis, std::ptrdiff_t stride, std::ptrdiff_t columns, const double* seen,
                     std::ptrdiff_t rows, double* right);
    /// gram += right' right, 4 x 4.
    void (*add_gram)(const double* right, std::ptrdiff_t rows, double* gram);
};

/// The kernels for this processor's best instruction set.
const LanczosKernels& lanczos_kernels();

}  // namespace coterie::spectral::internal
