// The functions of network_abi.h. This library may be compiled with another string ABI than coterie
// (cmake/FindLibTorch.cmake). So it includes only that header of coterie, and no C++ object, exception or string
// crosses the interface. Compiles with LibTorch 1.13 and 2.x.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#include <dlfcn.h>

#include "coterie/deep/internal/torch/guarded.hpp"
#include "coterie/deep/internal/torch/kept_memory.hpp"
#include "coterie/deep/internal/torch/layers.hpp"
#include "coterie/deep/internal/torch/optimizer.hpp"

/// An encoder and a decoder, their optimizers, and the kept pass.
struct coterie_network {
    using Tensor = at::Tensor;
    struct Shape {
        int64_t channels, rows, columns;
        int64_t items() const { return channels * rows * columns; }
    };

    coterie_deep::KeptMemory kept;
    torch::Device device{torch::kCPU};
    bool half = false;
    int threads = 1;
    Shape shape{};
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
        roots.clear();
        slopes.clear();
    }
};

namespace coterie_deep {
namespace {

/// While it lives, a network with `half` uses bfloat16 on CUDA, in the layers that LibTorch chooses (autocast). On the
/// CPU, layers.cpp chooses the layers.
class HalfGuard {
public:
    explicit HalfGuard(const coterie_network& network) : on_(network.half && network.device.is_cuda()) { set(true); }
    ~HalfGuard() { set(false); }
    HalfGuard(const HalfGuard&) = delete;
    HalfGuard& operator=(const HalfGuard&) = delete;

private:
    void set(bool on) const {
        if (!on_) return;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
        at::autocast::set_autocast_dtype(torch::kCUDA, at::kBFloat16);
        at::autocast::set_autocast_enabled(torch::kCUDA, on);
#else
        at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
        at::autocast::set_enabled(on);
#endif
        if (!on) at::autocast::clear_cache();
    }

    bool on_;
};

const char* description() {
    static const std::string text = std::string("LibTorch ") + TORCH_VERSION;
    return text.c_str();
}

// LibTorch's CUDA library registers itself when it is loaded. It is not linked, because loading takes time and only
// users of CUDA need it. A LibTorch for the CPU does not have it.
bool has_cuda() {
    static const void* const part = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL);
    return part != nullptr && torch::cuda::is_available();
}

int32_t has_device(const char* device) {
    int32_t found = 0;
    guarded([&] {
        const std::string name = device;
        found = name == "cpu" || (name == "cuda" && has_cuda()) ? 1 : 0;
    });
    return found;
}

coterie_network* create(const coterie_layer* encoder, int32_t encoder_layers, const coterie_layer* decoder,
                        int32_t decoder_layers, int32_t channels, int32_t rows, int32_t columns, const char* device,
                        int32_t threads, int32_t half) {
    std::unique_ptr<coterie_network> out;
    const int32_t failed = guarded([&] {
        use_threads(threads);
        out = std::make_unique<coterie_network>();
        out->threads = threads;
        out->device = torch::Device(device);
        out->half = half != 0;
        out->shape = {channels, rows, columns};
        out->encoder = Part(encoder, encoder_layers, out->device);
        out->decoder = Part(decoder, decoder_layers, out->device);
        if (decoder_layers > 0) out->decoder_inputs = decoder[0].in;
        out->encoder.collect(out->encoder_trained, out->all);
        out->decoder.collect(out->decoder_trained, out->all);
    });
    return failed ? nullptr : out.release();
}
void destroy(coterie_network* network) { delete network; }

int32_t parameters(const coterie_network* network) { return static_cast<int32_t>(network->all.size()); }
int64_t parameter_size(const coterie_network* network, int32_t number) {
    return network->all[static_cast<std::size_t>(number)].numel();
}
int32_t get_parameter(coterie_network* network, int32_t number, float* to) {
    return guarded([&] { coterie_network::to_host(network->all[static_cast<std::size_t>(number)], to); });
}
int32_t set_parameter(coterie_network* network, int32_t number, const float* from) {
    return guarded([&] {
        const torch::NoGradGuard guard;
        Tensor& tensor = network->all[static_cast<std::size_t>(number)];
        tensor.copy_(torch::from_blob(const_cast<float*>(from), tensor.sizes(), torch::kFloat32));
    });
}

int32_t forward(coterie_network* network, const float* items, int64_t count, const float* affine, const float* colour,
                const float* noise, int32_t training, const coterie_sharing* sharing, float* output) {
    return guarded([&] {
        use_threads(network->threads);
        network->end_pass();
        const HalfGuard half(*network);
        network->batch = sharing != nullptr ? Batch(count, *sharing) : Batch(count);
        const Tensor input = network->moved(items, count, affine, colour, noise);
        if (training == 0) {
            const torch::NoGradGuard guard;
            const Tensor found = network->encoder.run(input, network->pass(false, network->batch));
            coterie_network::to_host(found.flatten(1), output);
            return;
        }
        network->input = input;
        if (training == 2) network->input.set_requires_grad(true);
        const auto pass = network->pass(true, network->batch, training == 2 ? 0.0 : 0.1);
        network->output = network->encoder.run(network->input, pass).flatten(1).to(torch::kFloat32);
        coterie_network::to_host(network->output, output);
    });
}

int64_t items_per_block(const coterie_network* network, int64_t items) {
    return network->shares() ? Batch::blocks_of(items).size : 0;
}

// One thread sums the squared differences of a block, in double.
int32_t reconstruct(coterie_network* network, double weight, double* value) {
    return guarded([&] {
        network->require_pass();
        if (network->decoder_inputs == 0) throw std::runtime_error("the network has no decoder");
        const HalfGuard half(*network);
        const Batch& batch = network->batch;
        network->roots.push_back(network->decoder.run(network->output, network->pass(true, batch))
                                     .reshape(network->input.sizes())
                                     .to(torch::kFloat32));
        const torch::NoGradGuard guard;
        const Tensor difference = network->roots.back().detach() - network->input.detach();
        const double numbers = static_cast<double>(network->shape.items()), all = static_cast<double>(batch.items());
        std::vector<double> sums(static_cast<std::size_t>(batch.own().count));
        const auto add_up = [&](int64_t block, int64_t first, int64_t count) {
            const Tensor own = difference.narrow(0, first, count);
            sums[static_cast<std::size_t>(block)] = (own * own).sum(torch::kFloat64).item<double>();
        };
        if (network->device.is_cpu())
            for_each_block(batch.own(), add_up);
        else
            add_up(0, 0, batch.items());
        *value = batch.sum_of(sums, 1)[0] / numbers / all;
        const float slope = static_cast<float>(weight) / static_cast<float>(all) / static_cast<float>(numbers);
        network->slopes.push_back(difference * (2 * slope));
    });
}

int32_t decode(coterie_network* network, const float* output, int64_t count, float* item) {
    return guarded([&] {
        if (network->decoder_inputs == 0) throw std::runtime_error("the network has no decoder");
        const torch::NoGradGuard guard;
        const HalfGuard half(*network);
        const Tensor from =
            torch::from_blob(const_cast<float*>(output), {count, network->decoder_inputs}, torch::kFloat32)
                .to(network->device);
        coterie_network::to_host(network->decoder.run(from, network->pass(false, Batch(count))), item);
    });
}

int32_t input_gradient(coterie_network* network, const float* output_gradient, float* gradient) {
    return guarded([&] {
        network->require_pass();
        if (!network->input.requires_grad()) throw std::runtime_error("the pass was not made for an input's gradient");
        network->batch.of_parameters = false;
        const auto found =
            torch::autograd::grad({network->output}, {network->input}, {network->gradient_of(output_gradient)}, true);
        coterie_network::to_host(found[0], gradient);
    });
}

int32_t backward(coterie_network* network, const float* output_gradient) {
    return guarded([&] {
        network->require_pass();
        network->batch.of_parameters = true;
        if (output_gradient != nullptr) {
            network->roots.push_back(network->output);
            network->slopes.push_back(network->gradient_of(output_gradient));
        }
        if (!network->roots.empty()) torch::autograd::backward(network->roots, network->slopes);
        network->end_pass();
    });
}

int32_t set_optimizers(coterie_network* network, const coterie_optimizer* plans, int32_t count) {
    return guarded([&] {
        network->optimizers.clear();
        for (int32_t i = 0; i < count; ++i) {
            std::vector<Tensor> trained;
            const auto head = network->encoder_trained.end() - network->encoder.trained_in_last_layer();
            if (plans[i].part & COTERIE_TRUNK) trained.insert(trained.end(), network->encoder_trained.begin(), head);
            if (plans[i].part & COTERIE_HEAD) trained.insert(trained.end(), head, network->encoder_trained.end());
            if (plans[i].part & COTERIE_DECODER)
                trained.insert(trained.end(), network->decoder_trained.begin(), network->decoder_trained.end());
            network->optimizers.emplace_back(plans[i], std::move(trained));
        }
    });
}

int32_t step(coterie_network* network) {
    return guarded([&] {
        for (Optimizer& optimizer : network->optimizers) optimizer.step();
        for (const auto* trained : {&network->encoder_trained, &network->decoder_trained})
            for (const Tensor& parameter : *trained) parameter.mutable_grad() = Tensor();
    });
}

int64_t memory_size(coterie_network* network) {
    int64_t size = 0;
    for (Optimizer& optimizer : network->optimizers) size += optimizer.memory().size();
    return size;
}
int32_t get_memory(coterie_network* network, float* to) {
    return guarded([&] {
        for (Optimizer& optimizer : network->optimizers) to = optimizer.memory().write(to);
    });
}
int32_t set_memory(coterie_network* network, const float* from) {
    return guarded([&] {
        for (Optimizer& optimizer : network->optimizers) from = optimizer.memory().read(from);
    });
}

constexpr coterie_network_api network_functions = {COTERIE_NETWORK_ABI,
                                                   &description,
                                                   &error,
                                                   &has_device,
                                                   &keep_memory_between_steps,
                                                   &create,
                                                   &destroy,
                                                   &parameters,
                                                   &parameter_size,
                                                   &get_parameter,
                                                   &set_parameter,
                                                   &forward,
                                                   &items_per_block,
                                                   &reconstruct,
                                                   &decode,
                                                   &input_gradient,
                                                   &backward,
                                                   &set_optimizers,
                                                   &step,
                                                   &memory_size,
                                                   &get_memory,
                                                   &set_memory};

}  // namespace
}  // namespace coterie_deep

extern "C" __attribute__((visibility("default"))) const coterie_network_api* coterie_network_functions(int32_t abi) {
    return abi == COTERIE_NETWORK_ABI ? &coterie_deep::network_functions : nullptr;
}
