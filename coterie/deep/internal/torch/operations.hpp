#pragma once
// Internal to coterie-deep: coterie's own layers on the CPU, and their gradients. Their bits do not depend on the
// number of threads. Gradients use the batch, so it must live until the pass ends. An empty `bias` means no bias.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

/// x weight' + bias, computed in blocks of outputs.
Tensor blocked_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
/// The same, computed in blocks of this process's items x of a batch.
Tensor blocked_dense(const Tensor& x, const Tensor& weight, const Tensor& bias, const Batch& batch);
/// Convolves this process's images x of a batch with `weight`, and adds `bias`. `transposed` applies the transposed
/// convolution: the convolution of its result has the shape of x.
Tensor blocked_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t stride,
                           std::int64_t pad, bool transposed, const Batch& batch);

/// Max pooling of images in single precision or bfloat16. pad < kernel / 2.
Tensor max_pool(const Tensor& x, std::int64_t kernel, std::int64_t stride, std::int64_t pad);

/// (x - mean) / sqrt(variance + 1e-5) * weight + bias, with the moments of each channel over the batch. x: this
/// process's items of the batch, in single precision or bfloat16. Running moments become (1 - momentum) old + momentum
/// new, with the sample variance of the batch.
Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& running_mean,
                  Tensor& running_variance, double momentum, const Batch& batch);

}  // namespace coterie_deep
