#pragma once
// Internal to coterie-deep: a coterie_network. It has an encoder and a decoder, their optimizers, and the kept pass.

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <ATen/ATen.h>
#include <torch/types.h>

#include "coterie/deep/internal/torch/blocks.hpp"
#include "coterie/deep/internal/torch/kept_memory.hpp"
#include "coterie/deep/internal/torch/layers.hpp"
#include "coterie/deep/internal/torch/optimizer.hpp"

namespace coterie_deep {

struct Shape {
    int64_t channels, rows, columns;
    int64_t items() const { return channels * rows * columns; }
};

}  // namespace coterie_deep

struct coterie_network {
    using Tensor = at::Tensor;

    coterie_deep::KeptMemory kept;
    torch::Device device{torch::kCPU};
    bool half = false;
    int threads = 1;
    coterie_deep::Shape shape{};
    coterie_deep::Part encoder, decoder;
    int64_t decoder_inputs = 0;  // 0: no decoder
    std::vector<Tensor> encoder_trained, decoder_trained, all;
    std::vector<coterie_deep::Optimizer> optimizers;
    // The kept pass: its batch, and the roots of the backward pass with their gradients.
    coterie_deep::Batch batch{0};
    Tensor input, output;
    std::vector<Tensor> roots, slopes;

    Tensor moved(const float* items, int64_t count, const float* affine, const float* colour, const float* noise) {
        const auto to_device = [&](const float* from, at::IntArrayRef sizes) {
            return torch::from_blob(const_cast<float*>(from), sizes, torch::kFloat32).to(device);
        };
        Tensor x = to_device(items, {count, shape.channels, shape.rows, shape.columns});
        if (device.is_cpu()) x = x.clone();  // a kept pass outlives the caller's items
        if (affine != nullptr) {
            const Tensor grid = at::affine_grid_generator(to_device(affine, {count, 2, 3}), x.sizes(), false);
            x = at::grid_sampler_2d(x, grid, 0, 0, false);  // bilinear, zeros outside
        }
        if (colour != nullptr) {
            const Tensor change = to_device(colour, {count, shape.channels, 2});
            x = x * change.select(2, 0).reshape({count, shape.channels, 1, 1}) +
                change.select(2, 1).reshape({count, shape.channels, 1, 1});
        }
        if (noise != nullptr) x = x + to_device(noise, x.sizes());
        return x;
    }

    static void to_host(const Tensor& tensor, float* to) {
        const Tensor host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
        std::copy_n(host.data_ptr<float>(), host.numel(), to);  // also without items
    }
    Tensor gradient_of(const float* host) const {
        return torch::from_blob(const_cast<float*>(host), output.sizes(), torch::kFloat32).to(device);
    }
    bool shares() const { return device.is_cpu() && (encoder.has_convolutions() || decoder.has_convolutions()); }
    coterie_deep::Part::Pass pass(bool training, const coterie_deep::Batch& of, double momentum = 0.1) const {
        return {training, momentum, half, shares() ? &of : nullptr};
    }
    void require_pass() const {
        if (!output.defined()) throw std::runtime_error("there is no pass");
    }
    void end_pass() {
        input = output = Tensor();
        roots.clear(), slopes.clear();
    }
};
