// Steps of the optimizers. LibTorch's versions make one pass over memory per operation. On the CPU, a step here is one
// pass over the memory of each parameter. Each number is computed by one thread, so the bits are the same for any
// number of threads. Other devices use LibTorch's operations.

#include "coterie/deep/internal/torch/optimizer.hpp"

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

Optimizer::Optimizer(const coterie_optimizer& plan, std::vector<Tensor> parameters)
    : plan_(plan), parameters_(std::move(parameters)) {
    for (const Tensor& parameter : parameters_) {
        first_.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Contiguous));
        if (plan.kind == COTERIE_ADAM) second_.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Contiguous));
    }
}

void Optimizer::step() {
    const torch::NoGradGuard guard;
    ++steps_;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
        Tensor& parameter = parameters_[p];
        Tensor gradient = parameter.mutable_grad();
        if (!gradient.defined()) continue;
        gradient = gradient.contiguous();
        if (plan_.weight_decay != 0 && !parameter.device().is_cpu())
            gradient = gradient.add(parameter, plan_.weight_decay);
        if (plan_.kind == COTERIE_ADAM)
            adam(parameter, gradient, first_[p], second_[p]);
        else
            descend(parameter, gradient, first_[p]);
    }
}

int64_t Optimizer::memory_size() const {
    int64_t size = 1;
    for (const Tensor& tensor : first_) size += tensor.numel();
    for (const Tensor& tensor : second_) size += tensor.numel();
    return size;
}

float* Optimizer::get_memory(float* to) const {
    // Stores the bits of the count, because as a single-precision number it would be inexact from 2^24 on.
    const auto steps = static_cast<uint32_t>(steps_);
    std::memcpy(to++, &steps, sizeof steps);
    for (const auto* tensors : {&first_, &second_})
        for (const Tensor& tensor : *tensors) {
            const Tensor host = tensor.cpu();
            std::memcpy(to, host.data_ptr<float>(), sizeof(float) * static_cast<std::size_t>(host.numel()));
            to += host.numel();
        }
    return to;
}

const float* Optimizer::set_memory(const float* from) {
    const torch::NoGradGuard guard;
    uint32_t steps = 0;
    std::memcpy(&steps, from++, sizeof steps);
    steps_ = steps;
    for (auto* tensors : {&first_, &second_})
        for (Tensor& tensor : *tensors) {
            tensor.copy_(torch::from_blob(const_cast<float*>(from), tensor.sizes(), torch::kFloat32));
            from += tensor.numel();
        }
    return from;
}

void Optimizer::adam(Tensor& parameter, const Tensor& gradient, Tensor& first, Tensor& second) const {
    const double correction1 = 1 - std::pow(plan_.beta1, static_cast<double>(steps_));
    const double correction2 = 1 - std::pow(plan_.beta2, static_cast<double>(steps_));
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
