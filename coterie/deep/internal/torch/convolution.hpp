#pragma once
// Internal to coterie-deep: plain and transposed convolutions on the CPU.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace coterie_deep {

/// Images x convolved with `weight` (transposed: images of which x would be the convolution), plus `bias` (empty:
/// none), with its gradient: blocks of images, so that the bits do not depend on the number of threads.
at::Tensor blocked_convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                               std::int64_t stride, std::int64_t pad, bool transposed);

}  // namespace coterie_deep
