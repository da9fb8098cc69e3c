#pragma once
// Internal to coterie-deep: stochastic gradient descent with momentum, and Adam.

#include <vector>

#include <ATen/ATen.h>

#include "coterie/deep/network_abi.h"

namespace coterie_deep {

using at::Tensor;

/// The parameters of one optimizer, and its state.
class Optimizer {
public:
    Optimizer(const coterie_optimizer& plan, std::vector<Tensor> parameters);

    void step();

    // The state as single-precision numbers: the count of steps, then the moments.
    int64_t memory_size() const;
    float* get_memory(float* to) const;
    const float* set_memory(const float* from);

private:
    void adam(Tensor& parameter, const Tensor& gradient, Tensor& first, Tensor& second) const;
    void descend(Tensor& parameter, const Tensor& gradient, Tensor& velocity) const;

    coterie_optimizer plan_;
    std::vector<Tensor> parameters_, first_, second_;
    int64_t steps_ = 0;
};

}  // namespace coterie_deep
