#pragma once
// Internal to coterie-deep: the dense layer on the CPU.

#include <ATen/core/Tensor.h>

namespace coterie_deep {

/// x weight' + bias (an empty bias: none), with its gradient. It computes blocks of outputs, so that the bits do not
/// depend on the number of threads.
at::Tensor blocked_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace coterie_deep
