#pragma once
// Internal to coterie-deep: max pooling on the CPU.

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace coterie_deep {

/// Max pooling of images in single precision or bfloat16, and its gradient. pad < kernel / 2.
at::Tensor max_pool(const at::Tensor& x, std::int64_t kernel, std::int64_t stride, std::int64_t pad);

}  // namespace coterie_deep
