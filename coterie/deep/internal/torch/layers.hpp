#pragma once
// Internal to coterie-deep: an encoder or a decoder, which is a sequence of layers as in network_abi.h.

#include <vector>

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

struct Layer {
    coterie_layer plan;
    Tensor weight, bias;
    Tensor running_mean, running_variance;  // batch norm
};

class Part {
public:
    struct Pass {
        bool training;  // batch norms use the batch's means, and update the running means with `momentum`
        double momentum;
        bool half;           // dense and convolutional layers in bfloat16
        const Batch* batch;  // on the CPU, for a network with convolutions; otherwise null
    };

    Part() = default;
    Part(const coterie_layer* plans, int32_t count, const at::Device& device);

    Tensor run(Tensor x, const Pass& pass) { return run(std::move(x), 0, layers_.size(), pass); }

    std::ptrdiff_t trained_in_last_layer() const {
        return layers_.empty() ? 0 : layers_.back().weight.defined() + layers_.back().bias.defined();
    }
    bool has_convolutions() const;
    // Appends the trained tensors to `trained`, and both the trained tensors and the running means to `all`.
    void collect(std::vector<Tensor>& trained, std::vector<Tensor>& all);

private:
    Tensor run(Tensor x, std::size_t begin, std::size_t end, const Pass& pass);

    std::vector<Layer> layers_;
};

}  // namespace coterie_deep
