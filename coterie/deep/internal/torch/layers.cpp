// Parameters of layers, and the pass of a batch through them. On the CPU, dense and convolutional layers and max pools
// are coterie's own (operations.hpp), with the same bits for any number of threads. Batch norms of convolutional
// networks are also coterie's own. All layers of such networks work on blocks of items, which processes may share.
// LibTorch computes everything else, and everything on other devices.

#include "coterie/deep/internal/torch/layers.hpp"

#include <algorithm>
#include <stdexcept>

#include <torch/types.h>

#include "coterie/deep/internal/torch/operations.hpp"

namespace coterie_deep {
namespace {

Tensor activated(const Tensor& x, int32_t activation) { return activation == COTERIE_RELU ? torch::relu(x) : x; }

// Returns an empty tensor if there is no bias, because autograd functions accept no undefined tensors.
Tensor in_type(const Tensor& bias, torch::ScalarType type) { return bias.defined() ? bias.to(type) : at::empty({0}); }

Tensor dense(const Layer& layer, const Tensor& from, const Part::Pass& pass) {
    if (!from.device().is_cpu()) return at::linear(from, layer.weight, layer.bias);
    const auto type = pass.half ? torch::kBFloat16 : torch::kFloat32;
    const Tensor x = from.contiguous().to(type), weight = layer.weight.to(type), bias = in_type(layer.bias, type);
    return pass.batch != nullptr ? blocked_dense(x, weight, bias, *pass.batch) : blocked_linear(x, weight, bias);
}
Tensor convolved(const Layer& layer, const Tensor& from, int64_t pad, const Part::Pass& pass) {
    const int64_t stride = layer.plan.stride;
    const bool transposed = layer.plan.kind == COTERIE_TRANSPOSED_CONVOLUTION;
    if (!from.device().is_cpu())
        return transposed ? at::conv_transpose2d(from, layer.weight, layer.bias, stride)
                          : at::conv2d(from, layer.weight, layer.bias, stride, pad);
    // LibTorch 1.13 has no gradient of transposed convolutions in bfloat16.
    const auto type = pass.half && !transposed ? torch::kBFloat16 : torch::kFloat32;
    return blocked_convolution(from.contiguous().to(type), layer.weight.to(type), in_type(layer.bias, type), stride,
                               pad, transposed, *pass.batch);
}

}  // namespace

Part::Part(const coterie_layer* plans, int32_t count, const at::Device& device) {
    const auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
    for (int32_t i = 0; i < count; ++i) {
        const coterie_layer& plan = plans[i];
        Layer layer;
        layer.plan = plan;
        switch (plan.kind) {
            case COTERIE_DENSE: layer.weight = torch::zeros({plan.out, plan.in}, options); break;
            case COTERIE_CONVOLUTION:
                layer.weight = torch::zeros({plan.out, plan.in, plan.kernel, plan.kernel}, options);
                break;
            case COTERIE_TRANSPOSED_CONVOLUTION:
                layer.weight = torch::zeros({plan.in, plan.out, plan.kernel, plan.kernel}, options);
                break;
            case COTERIE_BATCH_NORM:
                layer.weight = torch::ones({plan.in}, options);
                layer.running_mean = torch::zeros({plan.in}, options);
                layer.running_variance = torch::ones({plan.in}, options);
                break;
            case COTERIE_RESHAPE:
            case COTERIE_MAX_POOL:
            case COTERIE_AVERAGE:
            case COTERIE_RESIDUAL: break;
            default: throw std::runtime_error("layer of an unknown kind");
        }
        if (layer.weight.defined()) {
            layer.weight.set_requires_grad(true);
            if (plan.bias || plan.kind == COTERIE_BATCH_NORM) {
                const int64_t size = plan.kind == COTERIE_BATCH_NORM ? plan.in : plan.out;
                layer.bias = torch::zeros({size}, options).set_requires_grad(true);
            }
        }
        layers_.push_back(std::move(layer));
    }
}

bool Part::has_convolutions() const {
    return std::any_of(layers_.begin(), layers_.end(), [](const Layer& layer) {
        return layer.plan.kind == COTERIE_CONVOLUTION || layer.plan.kind == COTERIE_TRANSPOSED_CONVOLUTION;
    });
}

void Part::collect(std::vector<Tensor>& trained, std::vector<Tensor>& all) {
    for (Layer& layer : layers_) {
        for (Tensor* tensor : {&layer.weight, &layer.bias})
            if (tensor->defined()) {
                trained.push_back(*tensor);
                all.push_back(*tensor);
            }
        for (Tensor* tensor : {&layer.running_mean, &layer.running_variance})
            if (tensor->defined()) all.push_back(*tensor);
    }
}

Tensor Part::run(Tensor x, std::size_t begin, std::size_t end, const Pass& pass) {
    for (std::size_t i = begin; i < end; ++i) {
        Layer& layer = layers_[i];
        const coterie_layer& plan = layer.plan;
        switch (plan.kind) {
            case COTERIE_DENSE: x = dense(layer, x.flatten(1), pass); break;
            case COTERIE_CONVOLUTION: {
                if (plan.pad_before == plan.pad_after) {
                    x = convolved(layer, x, plan.pad_before, pass);
                } else {
                    const int64_t before = plan.pad_before, after = plan.pad_after;
                    x = convolved(layer, at::constant_pad_nd(x, {before, after, before, after}), 0, pass);
                }
                break;
            }
            case COTERIE_TRANSPOSED_CONVOLUTION: {
                x = convolved(layer, x, 0, pass);
                const int64_t rows = x.size(2) - plan.pad_before - plan.pad_after;
                const int64_t columns = x.size(3) - plan.pad_before - plan.pad_after;
                x = x.narrow(2, plan.pad_before, rows).narrow(3, plan.pad_before, columns);
                break;
            }
            case COTERIE_RESHAPE: x = x.reshape({x.size(0), plan.out, plan.rows, plan.columns}); break;
            case COTERIE_BATCH_NORM: {
                if (pass.training && pass.batch != nullptr) {
                    x = batch_norm(x, layer.weight, layer.bias, layer.running_mean, layer.running_variance,
                                   pass.momentum, *pass.batch);
                    break;
                }
                // If each item has one position, they become one item whose positions are the batch. LibTorch divides
                // sums over the batch by the number of threads, but one thread computes sums over positions.
                const auto sizes = x.sizes().vec();
                const bool one_place = x.numel() == sizes[0] * sizes[1];
                if (one_place) x = x.flatten(1).t().unsqueeze(0).contiguous();
                x = at::batch_norm(x, layer.weight, layer.bias, layer.running_mean, layer.running_variance,
                                   pass.training, pass.momentum, 1e-5, false);
                if (one_place) x = x.squeeze(0).t().reshape(sizes);
                break;
            }
            case COTERIE_MAX_POOL:
                x = x.device().is_cpu() ? max_pool(x, plan.kernel, plan.stride, plan.pad_before)
                                        : at::max_pool2d(x, plan.kernel, plan.stride, plan.pad_before);
                break;
            case COTERIE_AVERAGE: x = x.mean(at::IntArrayRef{2, 3}, true); break;
            case COTERIE_RESIDUAL: {
                const std::size_t main = i + 1 + static_cast<std::size_t>(plan.out);
                const std::size_t shortcut = main + static_cast<std::size_t>(plan.in);
                if (shortcut > end) throw std::runtime_error("a residual layer spans more layers than there are");
                const Tensor other = run(x, main, shortcut, pass);
                x = run(x, i + 1, main, pass) + other;
                i = shortcut - 1;
                break;
            }
            default: throw std::runtime_error("layer of an unknown kind");
        }
        x = activated(x, plan.activation);
    }
    return x;
}

}  // namespace coterie_deep
