#pragma once
// Internal to coterie-deep: plain and transposed convolutions, and dense layers, on the CPU.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

// Gradients use the batch, so it must live until the pass ends. An empty `bias` means no bias.

/// Convolves this process's images x of a batch with `weight`, and adds `bias`. `transposed` applies the transposed
/// convolution: the convolution of its result has the shape of x.
at::Tensor blocked_convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                               std::int64_t stride, std::int64_t pad, bool transposed, const Batch& batch);
/// x weight' + bias.
at::Tensor blocked_dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const Batch& batch);

}  // namespace coterie_deep
