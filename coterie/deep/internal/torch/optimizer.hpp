#pragma once
// Internal to coterie-deep: stochastic gradient descent with momentum, and Adam.

#include <vector>

#include <ATen/ATen.h>

#include "coterie/deep/network_abi.h"

namespace coterie_deep {

using at::Tensor;

/// One optimizer's parameters and what it remembers of them.
class Optimizer {
public:
    Optimizer(const coterie_optimizer& plan, std::vector<Tensor> parameters);

    void step();

    // What it remembers, as numbers of single precision: the count of steps, then moments.
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
