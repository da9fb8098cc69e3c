// The dense layer on the CPU and its gradient. A matrix product adds only along the inner dimension. So blocks of the
// outer dimensions (blocks.hpp), computed by several threads, give the same bits as a single thread.

#include "coterie/deep/internal/torch/operations.hpp"

#include <torch/csrc/autograd/custom_function.h>

namespace coterie_deep {
namespace {

class BlockedLinear : public torch::autograd::Function<BlockedLinear> {
    // A block is wide enough to be worth a thread.
    static Blocks features(int64_t count) { return {count, 64}; }

public:
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                          const Tensor& bias) {
        context->save_for_backward({x, weight});
        context->saved_data["inner"] = x.requires_grad();
        context->saved_data["bias"] = bias.numel() > 0;
        Tensor out = at::empty({x.size(0), weight.size(0)}, x.options());
        for_each_block(features(weight.size(0)), [&](int64_t, int64_t first, int64_t count) {
            Tensor columns = out.narrow(1, first, count);
            const Tensor own = weight.narrow(0, first, count).t();
            if (bias.numel() > 0)
                at::addmm_out(columns, bias.narrow(0, first, count), x, own);
            else
                at::mm_out(columns, x, own);
        });
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const Tensor &x = saved[0], &weight = saved[1];
        const Tensor gradient = gradients[0].contiguous();
        Tensor by_x, by_weight = at::empty_like(weight), by_bias;
        if (context->saved_data["inner"].toBool()) {
            by_x = at::empty_like(x);
            for_each_block(features(x.size(1)), [&](int64_t, int64_t first, int64_t count) {
                Tensor columns = by_x.narrow(1, first, count);
                at::mm_out(columns, gradient, weight.narrow(1, first, count));
            });
        }
        for_each_block(features(weight.size(0)), [&](int64_t, int64_t first, int64_t count) {
            Tensor rows = by_weight.narrow(0, first, count);
            at::mm_out(rows, gradient.narrow(1, first, count).t(), x);
        });
        if (context->saved_data["bias"].toBool()) by_bias = gradient.sum(0);
        return {by_x, by_weight, by_bias};
    }
};

}  // namespace

Tensor blocked_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    return BlockedLinear::apply(x, weight, bias);
}

}  // namespace coterie_deep
