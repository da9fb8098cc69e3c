// Convolutions on the CPU and their gradients, block of images by block of images (blocks.hpp): gradients of weights
// and biases are sums over the images, added up in the order of the blocks.

#include "coterie/deep/internal/torch/convolution.hpp"

#include <array>
#include <tuple>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {
namespace {

class BlockedConvolution : public torch::autograd::Function<BlockedConvolution> {
    // Of fewer, putting weights and images in the order of the kernels takes a larger share of the time.
    static Blocks images(int64_t count) { return {count, 32}; }

    struct Plan {
        int64_t stride, pad;
        bool transposed;
    };
    static Tensor plain(const Tensor& x, const Tensor& weight, const Tensor& bias, const Plan& plan) {
        return at::convolution(x, weight, bias, at::IntArrayRef{plan.stride, plan.stride},
                               at::IntArrayRef{plan.pad, plan.pad}, at::IntArrayRef{1, 1}, false, at::IntArrayRef{0, 0},
                               1);
    }
    // What `wanted` names of the gradients of a plain convolution by its input, its weight and its bias.
    static std::tuple<Tensor, Tensor, Tensor> plain_backward(const Tensor& gradient, const Tensor& x,
                                                             const Tensor& weight, const Plan& plan,
                                                             std::array<bool, 3> wanted) {
        const int64_t channels = gradient.size(1);
        return at::convolution_backward(gradient, x, weight,
                                        wanted[2] ? at::OptionalIntArrayRef(channels) : at::OptionalIntArrayRef(),
                                        at::IntArrayRef{plan.stride, plan.stride}, at::IntArrayRef{plan.pad, plan.pad},
                                        at::IntArrayRef{1, 1}, false, at::IntArrayRef{0, 0}, 1, wanted);
    }
    // A transposed convolution is the gradient of a plain one by its input, and so it is computed: LibTorch's own goes
    // through a matrix of every place's neighbourhood, which takes longer.
    static Tensor transposed(const Tensor& x, const Tensor& weight, const Tensor& bias, const Plan& plan) {
        const auto side = [&](int64_t of) { return (x.size(of) - 1) * plan.stride - 2 * plan.pad + weight.size(of); };
        // Only the shape of it is read.
        const Tensor input = at::empty({x.size(0), weight.size(1), side(2), side(3)}, x.options());
        Tensor out = std::get<0>(plain_backward(x, input, weight, plan, {true, false, false}));
        return bias.defined() ? out.add_(bias.reshape({1, -1, 1, 1})) : out;
    }
    static std::tuple<Tensor, Tensor, Tensor> transposed_backward(const Tensor& gradient, const Tensor& x,
                                                                  const Tensor& weight, const Plan& plan,
                                                                  std::array<bool, 3> wanted) {
        return {wanted[0] ? plain(gradient, weight, Tensor(), plan) : Tensor(),
                std::get<1>(plain_backward(x, gradient, weight, plan, {false, true, false})),
                wanted[2] ? gradient.sum(at::IntArrayRef{0, 2, 3}) : Tensor()};
    }

public:
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                          const Tensor& bias, int64_t stride, int64_t pad, bool is_transposed) {
        context->save_for_backward({x, weight});
        context->saved_data["inner"] = x.requires_grad();
        context->saved_data["bias"] = bias.numel() > 0;
        context->saved_data["stride"] = stride;
        context->saved_data["pad"] = pad;
        context->saved_data["transposed"] = is_transposed;
        const Plan plan{stride, pad, is_transposed};
        const Blocks blocks = images(x.size(0));
        std::vector<Tensor> parts(static_cast<std::size_t>(blocks.count));
        for_each_block(blocks, [&](int64_t block, int64_t first, int64_t count) {
            const auto forward = is_transposed ? transposed : plain;
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
        const bool inner = context->saved_data["inner"].toBool(), bias = context->saved_data["bias"].toBool();
        const Plan plan{context->saved_data["stride"].toInt(), context->saved_data["pad"].toInt(),
                        context->saved_data["transposed"].toBool()};
        const Blocks blocks = images(x.size(0));
        const auto count = static_cast<std::size_t>(blocks.count);
        std::vector<Tensor> by_x(count), by_weight(count), by_bias(count);
        for_each_block(blocks, [&](int64_t block, int64_t first, int64_t size) {
            const auto b = static_cast<std::size_t>(block);
            const auto backward = plan.transposed ? transposed_backward : plain_backward;
            std::tie(by_x[b], by_weight[b], by_bias[b]) =
                backward(gradient.narrow(0, first, size), x.narrow(0, first, size), weight, plan, {inner, true, bias});
            if (inner) by_x[b] = by_x[b].contiguous();
        });
        return {inner ? at::cat(by_x) : Tensor(),
                sum_of(by_weight),
                bias ? sum_of(by_bias) : Tensor(),
                Tensor(),
                Tensor(),
                Tensor()};
    }
};

}  // namespace

Tensor blocked_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t pad,
                           bool transposed) {
    return BlockedConvolution::apply(x, weight, bias, stride, pad, transposed);
}

}  // namespace coterie_deep
