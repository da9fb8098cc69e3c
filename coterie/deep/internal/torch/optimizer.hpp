#pragma once
// Internal to coterie-deep: stochastic gradient descent with momentum, and Adam.

#include <vector>

#include <ATen/ATen.h>

#include "coterie/deep/network_abi.h"

namespace coterie_deep {

using at::Tensor;

/// What an optimizer remembers between steps: the number of steps, and moments of the gradients.
struct Moments {
    std::vector<Tensor> first, second;
    uint32_t steps = 0;

    // As single-precision numbers: the bits of `steps`, then the moments. write() and read() return the end.
    int64_t size() const;
    float* write(float* to) const;
    const float* read(const float* from);
};

/// The parameters of one optimizer, and its state.
class Optimizer {
public:
    Optimizer(const coterie_optimizer& plan, std::vector<Tensor> parameters);

    void step();

    Moments& memory() { return memory_; }

private:
    void adam(Tensor& parameter, const Tensor& gradient, Tensor& first, Tensor& second) const;
    void descend(Tensor& parameter, const Tensor& gradient, Tensor& velocity) const;

    coterie_optimizer plan_;
    std::vector<Tensor> parameters_;
    Moments memory_;
};

}  // namespace coterie_deep
