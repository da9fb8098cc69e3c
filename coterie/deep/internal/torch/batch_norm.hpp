#pragma once
// Internal to coterie-deep: batch norm on the CPU, by the moments of a batch that processes may share.

#include <ATen/core/Tensor.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

/// x (this process' items of the batch, in single precision or bfloat16) less the channels' means over the batch,
/// divided by sqrt(variance + 1e-5), times weight, plus bias; with its gradient, until which the batch must live. The
/// running moments (the variance that of a sample) go `momentum` of the way to the batch's.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, at::Tensor& running_mean,
                      at::Tensor& running_variance, double momentum, const Batch& batch);

}  // namespace coterie_deep
