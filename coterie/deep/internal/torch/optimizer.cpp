// Steps of the optimizers. LibTorch's versions make one pass over memory per operation. On the CPU, a step here is one
// pass over the memory of each parameter. Each number is computed by one thread, so the bits are the same for any
// number of threads. Other devices use LibTorch's operations.

#include "coterie/deep/internal/torch/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/types.h>

namespace coterie_deep {
namespace {

struct AdamStep {
    float rate, scale, beta1, beta2, epsilon, decay;
};
// A separate function without aliasing, so that the compiler vectorises it.
void adam_step(int64_t count, const AdamStep with, const float* __restrict g, float* __restrict x, float* __restrict m,
               float* __restrict v) {
    for (int64_t i = 0; i < count; ++i) {
        const float slope = g[i] + with.decay * x[i];
        m[i] = with.beta1 * m[i] + (1 - with.beta1) * slope;
        v[i] = with.beta2 * v[i] + (1 - with.beta2) * slope * slope;
        x[i] -= with.rate * m[i] / (std::sqrt(v[i]) * with.scale + with.epsilon);
    }
}

}  // namespace

int64_t Moments::size() const {
    int64_t size = 1;
    for (const auto* tensors : {&first, &second})
        for (const Tensor& tensor : *tensors) size += tensor.numel();
    return size;
}

float* Moments::write(float* to) const {
    // Stores the bits of the count, because as a single-precision number it would be inexact from 2^24 on.
    std::memcpy(to++, &steps, sizeof steps);
    for (const auto* tensors : {&first, &second})
        for (const Tensor& tensor : *tensors) {
            const Tensor host = tensor.cpu();
            to = std::copy_n(host.data_ptr<float>(), host.numel(), to);
        }
    return to;
}

const float* Moments::read(const float* from) {
    const torch::NoGradGuard guard;
    std::memcpy(&steps, from++, sizeof steps);
    for (auto* tensors : {&first, &second})
        for (Tensor& tensor : *tensors) {
            tensor.copy_(torch::from_blob(const_cast<float*>(from), tensor.sizes(), torch::kFloat32));
            from += tensor.numel();
        }
    return from;
}

Optimizer::Optimizer(const coterie_optimizer& plan, std::vector<Tensor> parameters)
    : plan_(plan), parameters_(std::move(parameters)) {
    for (const Tensor& parameter : parameters_) {
        memory_.first.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Contiguous));
        if (plan.kind == COTERIE_ADAM)
            memory_.second.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Contiguous));
    }
}

void Optimizer::step() {
    const torch::NoGradGuard guard;
    ++memory_.steps;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
        Tensor& parameter = parameters_[p];
        Tensor gradient = parameter.mutable_grad();
        if (!gradient.defined()) continue;
        gradient = gradient.contiguous();
        if (plan_.weight_decay != 0 && !parameter.device().is_cpu())
            gradient = gradient.add(parameter, plan_.weight_decay);
        if (plan_.kind == COTERIE_ADAM)
            adam(parameter, gradient, memory_.first[p], memory_.second[p]);
        else
            descend(parameter, gradient, memory_.first[p]);
    }
}

void Optimizer::adam(Tensor& parameter, const Tensor& gradient, Tensor& first, Tensor& second) const {
    const double correction1 = 1 - std::pow(plan_.beta1, memory_.steps);
    const double correction2 = 1 - std::pow(plan_.beta2, memory_.steps);
    if (!parameter.device().is_cpu()) {
        first.mul_(plan_.beta1).add_(gradient, 1 - plan_.beta1);
        second.mul_(plan_.beta2).addcmul_(gradient, gradient, 1 - plan_.beta2);
        const Tensor denominator = second.sqrt().div_(std::sqrt(correction2)).add_(plan_.epsilon);
        parameter.addcdiv_(first, denominator, -plan_.learning_rate / correction1);
        return;
    }
    const AdamStep rates{static_cast<float>(plan_.learning_rate / correction1),
                         static_cast<float>(1 / std::sqrt(correction2)),
                         static_cast<float>(plan_.beta1),
                         static_cast<float>(plan_.beta2),
                         static_cast<float>(plan_.epsilon),
                         static_cast<float>(plan_.weight_decay)};
    float* const x = parameter.data_ptr<float>();
    float* const m = first.data_ptr<float>();
    float* const v = second.data_ptr<float>();
    const float* const g = gradient.data_ptr<float>();
    at::parallel_for(0, parameter.numel(), 16384, [&](int64_t begin, int64_t end) {
        adam_step(end - begin, rates, g + begin, x + begin, m + begin, v + begin);
    });
}

void Optimizer::descend(Tensor& parameter, const Tensor& gradient, Tensor& velocity) const {
    if (!parameter.device().is_cpu()) {
        velocity.mul_(plan_.momentum).add_(gradient);
        parameter.sub_(velocity, plan_.learning_rate);
        return;
    }
    const auto rate = static_cast<float>(plan_.learning_rate), momentum = static_cast<float>(plan_.momentum);
    const auto decay = static_cast<float>(plan_.weight_decay);
    float* const x = parameter.data_ptr<float>();
    float* const m = velocity.data_ptr<float>();
    const float* const g = gradient.data_ptr<float>();
    at::parallel_for(0, parameter.numel(), 16384, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            m[i] = momentum * m[i] + g[i] + decay * x[i];
            x[i] -= rate * m[i];
        }
    });
}

}  // namespace coterie_deep
