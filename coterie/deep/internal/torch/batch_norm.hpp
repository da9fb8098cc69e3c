#pragma once
// Internal to coterie-deep: batch norm on the CPU, with the moments of a batch that processes may share.

#include <ATen/core/Tensor.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

/// x (this process's items of the batch, in single precision or bfloat16) minus the channels' means over the batch,
/// divided by sqrt(variance + 1e-5), times weight, plus bias. With its gradient; the batch must live until then.
/// Running moments become (1 - momentum) old + momentum new, with the sample variance of the batch.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, at::Tensor& running_mean,
                      at::Tensor& running_variance, double momentum, const Batch& batch);

}  // namespace coterie_deep
