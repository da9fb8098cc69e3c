#pragma once
// Internal to coterie-deep: the dense layer on the CPU.

#include <ATen/core/Tensor.h>

namespace coterie_deep {

/// x weight' + bias, and its gradient; an empty `bias` means no bias. Outputs are computed in blocks, so that the bits
/// do not depend on the number of threads.
at::Tensor blocked_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace coterie_deep
