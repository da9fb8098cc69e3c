#pragma once
// Internal to coterie-deep: batch norm on the CPU, with the moments of a batch that processes may share.

#include <ATen/core/Tensor.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

/// (x - mean) / sqrt(variance + 1e-5) * weight + bias, with the moments of each channel over the batch. x: this
/// process's items of the batch, in single precision or bfloat16. Also defines the gradient; the batch must live until
/// it is computed. Running moments become (1 - momentum) old + momentum new, with the sample variance of the batch.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, at::Tensor& running_mean,
                      at::Tensor& running_variance, double momentum, const Batch& batch);

}  // namespace coterie_deep
