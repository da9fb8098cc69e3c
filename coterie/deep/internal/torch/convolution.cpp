// Layers of convolutional networks on the CPU and their gradients, one block of items after another (blocks.hpp). Only
// gradients of weights and biases are sums over the items, so processes that share a batch exchange nothing else in
// these layers. The products of a block have the same shapes, and so the same bits, on any process.

#include "coterie/deep/internal/torch/operations.hpp"

#include <array>
#include <tuple>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

namespace coterie_deep {
namespace {

class BlockedProduct : public torch::autograd::Function<BlockedProduct> {
    struct Plan {
        int64_t stride, pad;
        bool transposed;
    };
    static Tensor plain(const Tensor& x, const Tensor& weight, const Tensor& bias, const Plan& plan) {
        return at::convolution(x, weight, bias, at::IntArrayRef{plan.stride, plan.stride},
                               at::IntArrayRef{plan.pad, plan.pad}, at::IntArrayRef{1, 1}, false, at::IntArrayRef{0, 0},
                               1);
    }
    // The gradients of a plain convolution with respect to input, weight and bias, as selected by `wanted`.
    static std::tuple<Tensor, Tensor, Tensor> plain_backward(const Tensor& gradient, const Tensor& x,
                                                             const Tensor& weight, const Plan& plan,
                                                             std::array<bool, 3> wanted) {
        const int64_t channels = gradient.size(1);
        return at::convolution_backward(gradient, x, weight,
                                        wanted[2] ? at::OptionalIntArrayRef(channels) : at::OptionalIntArrayRef(),
                                        at::IntArrayRef{plan.stride, plan.stride}, at::IntArrayRef{plan.pad, plan.pad},
                                        at::IntArrayRef{1, 1}, false, at::IntArrayRef{0, 0}, 1, wanted);
    }
    // A transposed convolution is computed as the gradient of a plain convolution with respect to its input. LibTorch's
    // own version is slower: it builds a matrix of the neighbourhoods of all positions.
    static Tensor transposed(const Tensor& x, const Tensor& weight, const Tensor& bias, const Plan& plan) {
        const auto side = [&](int64_t of) { return (x.size(of) - 1) * plan.stride - 2 * plan.pad + weight.size(of); };
        // Only the shape of `input` is used.
        const Tensor input = at::empty({x.size(0), weight.size(1), side(2), side(3)}, x.options());
        Tensor out = std::get<0>(plain_backward(x, input, weight, plan, {true, false, false}));
        return bias.defined() ? out.add_(bias.reshape({1, -1, 1, 1})) : out;
    }
    static std::tuple<Tensor, Tensor, Tensor> transposed_backward(const Tensor& gradient, const Tensor& x,
                                                                  const Tensor& weight, const Plan& plan,
                                                                  std::array<bool, 3> wanted) {
        return {wanted[0] ? plain(gradient, weight, Tensor(), plan) : Tensor(),
                wanted[1] ? std::get<1>(plain_backward(x, gradient, weight, plan, {false, true, false})) : Tensor(),
                wanted[2] ? gradient.sum(at::IntArrayRef{0, 2, 3}) : Tensor()};
    }

    static Tensor dense(const Tensor& x, const Tensor& weight, const Tensor& bias, const Plan&) {
        return bias.defined() ? at::addmm(bias, x, weight.t()) : at::mm(x, weight.t());
    }
    static std::tuple<Tensor, Tensor, Tensor> dense_backward(const Tensor& gradient, const Tensor& x,
                                                             const Tensor& weight, const Plan&,
                                                             std::array<bool, 3> wanted) {
        return {wanted[0] ? at::mm(gradient, weight) : Tensor(), wanted[1] ? at::mm(gradient.t(), x) : Tensor(),
                wanted[2] ? gradient.sum(0) : Tensor()};
    }

public:
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                          const Tensor& bias, int64_t stride, int64_t pad, bool is_transposed, const Batch* batch) {
        context->save_for_backward({x, weight});
        context->saved_data["inner"] = x.requires_grad();
        context->saved_data["bias"] = bias.numel() > 0;
        context->saved_data["stride"] = stride;
        context->saved_data["pad"] = pad;
        context->saved_data["transposed"] = is_transposed;
        context->saved_data["batch"] = reinterpret_cast<int64_t>(batch);
        const Plan plan{stride, pad, is_transposed};
        const auto forward = weight.dim() == 2 ? dense : is_transposed ? transposed : plain;
        std::vector<Tensor> parts(static_cast<std::size_t>(batch->own().count));
        for_each_block(batch->own(), [&](int64_t block, int64_t first, int64_t count) {
            parts[static_cast<std::size_t>(block)] =
                forward(x.narrow(0, first, count), weight, bias.numel() > 0 ? bias : Tensor(), plan).contiguous();
        });
        return at::cat(parts);
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const Tensor &x = saved[0], &weight = saved[1];
        const Tensor gradient = gradients[0].contiguous();
        const Batch& batch = *reinterpret_cast<const Batch*>(context->saved_data["batch"].toInt());
        const bool inner = context->saved_data["inner"].toBool();
        const bool bias = batch.of_parameters && context->saved_data["bias"].toBool();
        const Plan plan{context->saved_data["stride"].toInt(), context->saved_data["pad"].toInt(),
                        context->saved_data["transposed"].toBool()};
        const auto backward = weight.dim() == 2 ? dense_backward
                              : plan.transposed ? transposed_backward
                                                : plain_backward;
        const auto count = static_cast<std::size_t>(batch.own().count);
        std::vector<Tensor> by_x(count), by_weight(count), by_bias(count);
        for_each_block(batch.own(), [&](int64_t block, int64_t first, int64_t size) {
            const auto b = static_cast<std::size_t>(block);
            std::tie(by_x[b], by_weight[b], by_bias[b]) =
                backward(gradient.narrow(0, first, size), x.narrow(0, first, size), weight, plan,
                         {inner, batch.of_parameters, bias});
            if (inner) by_x[b] = by_x[b].contiguous();
        });
        return {inner ? at::cat(by_x) : Tensor(),
                batch.of_parameters ? batch.sum_of(by_weight) : Tensor(),
                bias ? batch.sum_of(by_bias) : Tensor(),
                Tensor(),
                Tensor(),
                Tensor(),
                Tensor()};
    }
};

}  // namespace

Tensor blocked_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t pad,
                           bool transposed, const Batch& batch) {
    return BlockedProduct::apply(x, weight, bias, stride, pad, transposed, &batch);
}

Tensor blocked_dense(const Tensor& x, const Tensor& weight, const Tensor& bias, const Batch& batch) {
    return BlockedProduct::apply(x, weight, bias, 0, 0, false, &batch);
}

}  // namespace coterie_deep
