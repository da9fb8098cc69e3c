// The functions of encoder_abi.h, with LibTorch's operations and their derivatives. Sentences are stored one after
// another as rows, so that dense layers have no padding. Only attention pads them to the longest one, and masks added
// keys.
// A hash of the given number and the position decides what is dropped (splitmix64, four 16-bit draws per hash).
// LibTorch's generator uses one thread and takes longer than the pass. LibTorch computes the sums, so the bits are the
// same only for the same number of threads. Compiles with LibTorch 1.13 and 2.x.

#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/types.h>

#include "coterie/deep/encoder_abi.h"
#include "coterie/deep/internal/torch/guarded.hpp"
#include "coterie/deep/internal/torch/kept_memory.hpp"
#include "coterie/deep/internal/torch/operations.hpp"
#include "coterie/deep/internal/torch/optimizer.hpp"

struct coterie_encoder {
    using Tensor = at::Tensor;

    coterie_deep::KeptMemory kept;
    coterie_encoder_plan plan{};
    int threads = 1;
    std::vector<Tensor> parameters;
    coterie_deep::Moments moments;
    Tensor vectors;  // of the kept pass
};

namespace coterie_deep {
namespace {

coterie_encoder* create_encoder(const coterie_encoder_plan* plan, const int64_t* rows, const int64_t* columns,
                                int32_t beside, int32_t threads) {
    std::unique_ptr<coterie_encoder> out;
    const int32_t failed = guarded([&] {
        use_threads(threads);
        out = std::make_unique<coterie_encoder>();
        out->plan = *plan;
        out->threads = threads;
        const auto add = [&](int64_t r, int64_t c) {
            out->parameters.push_back(torch::zeros({r, c}, torch::kFloat32).set_requires_grad(true));
            out->moments.first.push_back(torch::zeros({r, c}, torch::kFloat32));
            out->moments.second.push_back(torch::zeros({r, c}, torch::kFloat32));
        };
        const auto dense = [&](int64_t to, int64_t from) {
            add(to, from);
            add(1, to);
        };
        add(plan->pieces, plan->hidden);
        add(plan->positions, plan->hidden);
        add(1, plan->hidden);
        add(1, plan->hidden);
        if (plan->buckets > 0) add(plan->buckets, plan->heads);
        for (int64_t l = 0; l < plan->layers; ++l) {
            for (int i = 0; i < 4; ++i) dense(plan->hidden, plan->hidden);
            add(1, plan->hidden);
            add(1, plan->hidden);
            dense(plan->inner, plan->hidden);
            dense(plan->hidden, plan->inner);
            add(1, plan->hidden);
            add(1, plan->hidden);
        }
        for (int32_t b = 0; b < beside; ++b) add(rows[b], columns[b]);
    });
    return failed ? nullptr : out.release();
}
void destroy_encoder(coterie_encoder* encoder) { delete encoder; }

int32_t encoder_parameters(const coterie_encoder* encoder) { return static_cast<int32_t>(encoder->parameters.size()); }
int64_t encoder_parameter_size(const coterie_encoder* encoder, int32_t number) {
    return encoder->parameters[static_cast<std::size_t>(number)].numel();
}
std::size_t bytes_of(const Tensor& tensor) { return sizeof(float) * static_cast<std::size_t>(tensor.numel()); }
int32_t get_encoder_parameter(coterie_encoder* encoder, int32_t number, float* to) {
    const Tensor& tensor = encoder->parameters[static_cast<std::size_t>(number)];
    return guarded([&] { std::memcpy(to, tensor.data_ptr<float>(), bytes_of(tensor)); });
}
int32_t set_encoder_parameter(coterie_encoder* encoder, int32_t number, const float* from) {
    Tensor& tensor = encoder->parameters[static_cast<std::size_t>(number)];
    return guarded([&] { std::memcpy(tensor.data_ptr<float>(), from, bytes_of(tensor)); });
}
int32_t get_encoder_gradient(coterie_encoder* encoder, int32_t number, float* to) {
    return guarded([&] {
        const Tensor& tensor = encoder->parameters[static_cast<std::size_t>(number)];
        const Tensor gradient = tensor.grad().defined() ? tensor.grad().contiguous() : torch::zeros_like(tensor);
        std::memcpy(to, gradient.data_ptr<float>(), bytes_of(tensor));
    });
}

/// What a pass drops.
class Drops {
public:
    explicit Drops(uint64_t number) : number_(number) {}

    Tensor operator()(const Tensor& x, double share) {
        ++calls_;
        if (number_ == 0 || share <= 0) return x;
        const auto least = static_cast<uint64_t>(std::lround(share * 65536));
        const auto scale = static_cast<float>(65536.0 / static_cast<double>(65536 - least));
        Tensor mask = at::empty(x.sizes(), x.options().requires_grad(false));
        float* const to = mask.data_ptr<float>();
        const int64_t count = mask.numel();
        const uint64_t start = mixed(number_ + 0x9e3779b97f4a7c15ULL * calls_);
        at::parallel_for(0, (count + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const uint64_t lots = mixed(start + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15ULL);
                for (int64_t j = 4 * i; j < std::min(count, 4 * i + 4); ++j)
                    to[j] = ((lots >> (16 * (j - 4 * i))) & 0xffff) < least ? 0.0F : scale;
            }
        });
        return x * mask;
    }

private:
    static uint64_t mixed(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    uint64_t number_, calls_ = 0;
};

// The bucket of a relative position, key minus query, as in encoder.cpp.
int64_t bucket_of(int64_t relative, int64_t buckets) {
    const int64_t half = buckets / 2, exact = half / 2, far = std::abs(relative);
    int64_t bucket = far;
    if (far >= exact) {
        const float scaled = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                             static_cast<float>(std::log(128.0 / static_cast<double>(exact))) *
                             static_cast<float>(half - exact);
        bucket = std::min(exact + static_cast<int64_t>(scaled), half - 1);
    }
    return bucket + (relative > 0 ? half : 0);
}

Tensor indices(const std::vector<int64_t>& of) { return torch::tensor(of, torch::kInt64); }

Tensor states(const coterie_encoder& encoder, const int32_t* pieces, const int64_t* starts, int64_t sentences,
              uint64_t drop) {
    const coterie_encoder_plan& plan = encoder.plan;
    std::size_t next = 0;
    const auto take = [&]() -> const Tensor& { return encoder.parameters[next++]; };
    const auto normal = [&](const Tensor& x) {
        const Tensor weight = take().flatten(), bias = take().flatten();
        return at::layer_norm(x, {plan.hidden}, weight, bias, plan.epsilon);
    };
    const auto dense = [&](const Tensor& x) {
        const Tensor& weight = take();
        return blocked_linear(x, weight, take().flatten());
    };
    Drops dropped(drop);

    const int64_t rows = starts[sentences];
    int64_t longest = 0;
    for (int64_t s = 0; s < sentences; ++s) longest = std::max(longest, starts[s + 1] - starts[s]);
    std::vector<int64_t> numbers(pieces, pieces + rows), places(static_cast<std::size_t>(rows));
    std::vector<int64_t> laid(static_cast<std::size_t>(sentences * longest), 0);  // row of each position in attention
    std::vector<int64_t> back(static_cast<std::size_t>(rows));                    // the inverse
    Tensor mask = torch::zeros({sentences, 1, 1, longest}, torch::kFloat32);
    for (int64_t s = 0; s < sentences; ++s)
        for (int64_t i = 0; i < longest; ++i) {
            const int64_t row = starts[s] + i;
            if (row >= starts[s + 1]) {
                mask.data_ptr<float>()[s * longest + i] = -1e30F;
                continue;
            }
            places[static_cast<std::size_t>(row)] = plan.first_position + i;
            laid[static_cast<std::size_t>(s * longest + i)] = row;
            back[static_cast<std::size_t>(row)] = s * longest + i;
        }
    const Tensor to_attention = indices(laid), from_attention = indices(back);

    const Tensor& of_pieces = take();
    const Tensor& of_places = take();
    Tensor x = normal(of_pieces.index_select(0, indices(numbers)) + of_places.index_select(0, indices(places)));
    x = dropped(x, plan.dropout);
    if (plan.buckets > 0) {
        std::vector<int64_t> of;
        for (int64_t i = 0; i < longest; ++i)
            for (int64_t j = 0; j < longest; ++j) of.push_back(bucket_of(j - i, plan.buckets));
        mask =
            mask + take().index_select(0, indices(of)).reshape({1, longest, longest, plan.heads}).permute({0, 3, 1, 2});
    }
    const int64_t width = plan.hidden / plan.heads;
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    const auto heads = [&](const Tensor& of) {
        return of.index_select(0, to_attention).reshape({sentences, longest, plan.heads, width}).permute({0, 2, 1, 3});
    };
    for (int64_t l = 0; l < plan.layers; ++l) {
        const Tensor query = heads(dense(x)), key = heads(dense(x)), value = heads(dense(x));
        const Tensor shares = at::softmax(at::matmul(query * scale, key.transpose(2, 3)) + mask, 3);
        const Tensor mixed = at::matmul(dropped(shares, plan.dropout_of_attention), value)
                                 .permute({0, 2, 1, 3})
                                 .reshape({sentences * longest, plan.hidden})
                                 .index_select(0, from_attention);
        const Tensor output = dropped(dense(mixed), plan.dropout_of_mixed);
        x = normal(x + output);
        Tensor wide = dense(x);
        wide = plan.activation == 0 ? at::gelu(wide) : plan.activation == 1 ? at::gelu(wide, "tanh") : at::relu(wide);
        const Tensor outer = dropped(dense(wide), plan.dropout);
        x = normal(x + outer);
    }
    return x;
}

int32_t forward_words(coterie_encoder* encoder, const int32_t* pieces, const int64_t* starts, int64_t sentences,
                      const int64_t* words, int64_t count, uint64_t drop, float* vectors) {
    return guarded([&] {
        use_threads(encoder->threads);
        encoder->vectors = Tensor();
        const torch::AutoGradMode graph(drop != 0);
        const Tensor all = states(*encoder, pieces, starts, sentences, drop);
        std::vector<int64_t> first, last;
        for (int64_t w = 0; w < count; ++w) {
            first.push_back(words[2 * w]);
            last.push_back(words[2 * w + 1]);
        }
        const Tensor found = 0.5 * (all.index_select(0, indices(first)) + all.index_select(0, indices(last)));
        std::memcpy(vectors, found.detach().contiguous().data_ptr<float>(), bytes_of(found));
        if (drop != 0) encoder->vectors = found;
    });
}

int32_t backward_words(coterie_encoder* encoder, const float* gradient) {
    return guarded([&] {
        if (!encoder->vectors.defined()) throw std::runtime_error("there is no pass");
        torch::autograd::backward({encoder->vectors}, {torch::from_blob(const_cast<float*>(gradient),
                                                                        encoder->vectors.sizes(), torch::kFloat32)});
        encoder->vectors = Tensor();
    });
}

int32_t add_encoder_gradient(coterie_encoder* encoder, int32_t number, const float* gradient) {
    return guarded([&] {
        Tensor& tensor = encoder->parameters[static_cast<std::size_t>(number)];
        const Tensor given = torch::from_blob(const_cast<float*>(gradient), tensor.sizes(), torch::kFloat32);
        tensor.mutable_grad() = tensor.grad().defined() ? tensor.grad() + given : given.clone();
    });
}

int32_t step_encoder(coterie_encoder* encoder, const coterie_encoder_step* how) {
    return guarded([&] {
        use_threads(encoder->threads);
        const torch::NoGradGuard guard;
        double norm = 0;
        for (Tensor& tensor : encoder->parameters)
            if (tensor.grad().defined()) norm += tensor.grad().square().sum().item<double>();
        norm = std::sqrt(norm);
        const auto scale = static_cast<float>(norm > how->clip ? how->clip / norm : 1.0);
        const uint32_t steps = ++encoder->moments.steps;
        const double correction1 = 1 - std::pow(how->beta1, steps);
        const auto beta1 = static_cast<float>(how->beta1), beta2 = static_cast<float>(how->beta2);
        const auto rate = static_cast<float>(how->learning_rate / correction1);
        const auto spread = static_cast<float>(1 / std::sqrt(1 - std::pow(how->beta2, steps)));
        const auto epsilon = static_cast<float>(how->epsilon);
        for (std::size_t p = 0; p < encoder->parameters.size(); ++p) {
            Tensor& tensor = encoder->parameters[p];
            if (!tensor.grad().defined()) continue;
            const Tensor gradient = tensor.grad().contiguous();
            const double decay = tensor.size(0) > 1 ? how->learning_rate * how->weight_decay : 0.0;
            const auto kept = static_cast<float>(1 - decay);
            const float* const g = gradient.data_ptr<float>();
            float* const x = tensor.data_ptr<float>();
            float* const m = encoder->moments.first[p].data_ptr<float>();
            float* const v = encoder->moments.second[p].data_ptr<float>();
            at::parallel_for(0, tensor.numel(), 16384, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    const float slope = scale * g[i];
                    m[i] = beta1 * m[i] + (1 - beta1) * slope;
                    v[i] = beta2 * v[i] + (1 - beta2) * slope * slope;
                    x[i] = kept * x[i] - rate * m[i] / (std::sqrt(v[i]) * spread + epsilon);
                }
            });
            tensor.mutable_grad() = Tensor();
        }
    });
}

int64_t encoder_memory_size(const coterie_encoder* encoder) { return encoder->moments.size(); }
int32_t get_encoder_memory(const coterie_encoder* encoder, float* to) {
    return guarded([&] { encoder->moments.write(to); });
}
int32_t set_encoder_memory(coterie_encoder* encoder, const float* from) {
    return guarded([&] { encoder->moments.read(from); });
}

constexpr coterie_encoder_api encoder_functions = {COTERIE_ENCODER_ABI,    &error,
                                                   &create_encoder,        &destroy_encoder,
                                                   &encoder_parameters,    &encoder_parameter_size,
                                                   &get_encoder_parameter, &set_encoder_parameter,
                                                   &get_encoder_gradient,  &forward_words,
                                                   &backward_words,        &add_encoder_gradient,
                                                   &step_encoder,          &encoder_memory_size,
                                                   &get_encoder_memory,    &set_encoder_memory};

}  // namespace
}  // namespace coterie_deep

extern "C" __attribute__((visibility("default"))) const coterie_encoder_api* coterie_encoder_functions(int32_t abi) {
    return abi == COTERIE_ENCODER_ABI ? &coterie_deep::encoder_functions : nullptr;
}
