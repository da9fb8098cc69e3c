#pragma once
// Internal to coterie-deep: plain and transposed convolutions on the CPU, and dense layers beside them.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

// With their gradients, which are kept until the pass ends: so long must the batch live. An empty bias: none.

/// This process' images x of a batch convolved with `weight` (transposed: images of which x would be the convolution),
/// plus `bias`.
at::Tensor blocked_convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                               std::int64_t stride, std::int64_t pad, bool transposed, const Batch& batch);
/// x weight' + bias.
at::Tensor blocked_dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const Batch& batch);

}  // namespace coterie_deep
