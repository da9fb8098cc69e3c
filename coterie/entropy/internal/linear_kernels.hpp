#pragma once
// Internal: the product in the gradient of a linear model, compiled per instruction set and chosen at run time. This
// header includes no standard header with inline functions (see label_kernels.hpp).

#include <cstddef>

namespace coterie::entropy::internal {

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
const LinearKernels& linear_kernels();

template <class T>
const LinearProducts<T>& linear_products() {
    if constexpr (sizeof(T) == sizeof(float))
        return linear_kernels().float32;
    else
        return linear_kernels().float64;
}

}  // namespace coterie::entropy::internal
