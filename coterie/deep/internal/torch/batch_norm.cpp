// Batch norm on the CPU. Its moments are sums over a batch, in double, one block of items after another (blocks.hpp).
// LibTorch's own version divides the batch by the number of threads and does not support several processes. Squares of
// single-precision numbers are exact in double, so one pass over the batch gives both moments. The backward pass adds
// up the gradient, and its products with the differences from the mean, in the same way.

#include "coterie/deep/internal/torch/operations.hpp"

#include <cmath>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "coterie/deep/internal/torch/vectors.hpp"

namespace coterie_deep {
namespace {

constexpr double least_variance = 1e-5;
constexpr int64_t lanes = 8;  // parallel partial sums, for one or two vector registers

// Adds the sums of x and of its squares.
COTERIE_WIDE void add_moments(int64_t count, const float* __restrict x, double* __restrict sum) {
    double first[lanes] = {}, second[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane) {
            const double value = x[i + lane];
            first[lane] += value;
            second[lane] += value * value;
        }
    for (; i < count; ++i) {
        const double value = x[i];
        first[0] += value;
        second[0] += value * value;
    }
    for (int64_t lane = 0; lane < lanes; ++lane) sum[0] += first[lane], sum[1] += second[lane];
}
// Adds the sums of the slopes and of their products with x - mean.
COTERIE_WIDE void add_slopes(int64_t count, const float* __restrict slope, const float* __restrict x, float mean,
                             double* __restrict sum) {
    double first[lanes] = {}, second[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (int64_t lane = 0; lane < lanes; ++lane) {
            const double value = slope[i + lane];
            first[lane] += value;
            second[lane] += value * (x[i + lane] - mean);
        }
    for (; i < count; ++i) {
        const double value = slope[i];
        first[0] += value;
        second[0] += value * (x[i] - mean);
    }
    for (int64_t lane = 0; lane < lanes; ++lane) sum[0] += first[lane], sum[1] += second[lane];
}
COTERIE_WIDE void scale(int64_t count, const float* __restrict x, float mean, float factor, float added,
                        float* __restrict to) {
    for (int64_t i = 0; i < count; ++i) to[i] = (x[i] - mean) * factor + added;
}
COTERIE_WIDE void scale_slopes(int64_t count, const float* __restrict slope, const float* __restrict x, float mean,
                               float by_slope, float by_x, float added, float* __restrict to) {
    for (int64_t i = 0; i < count; ++i) to[i] = slope[i] * by_slope + ((x[i] - mean) * by_x + added);
}

// Reads planes in single precision, directly or converted.
class Reader {
public:
    Reader(const Tensor& of, int64_t places) : of_(of), places_(places), single_(of.scalar_type() == at::kFloat) {
        if (!single_) buffer_.resize(static_cast<std::size_t>(places));
    }
    const float* operator()(int64_t plane) {
        if (single_) return of_.data_ptr<float>() + plane * places_;
        copy(places_, of_.data_ptr<at::BFloat16>() + plane * places_, buffer_.data());
        return buffer_.data();
    }

private:
    const Tensor& of_;
    int64_t places_;
    bool single_;
    std::vector<float> buffer_;
};
// Calls f(plane, channel of the plane, where to write the plane) for all planes of `out`.
template <class F>
void write_planes(Tensor& out, int64_t channels, int64_t places, const F& make_f) {
    at::parallel_for(0, out.numel() / places, std::max<int64_t>(1, 16384 / places), [&](int64_t begin, int64_t end) {
        const bool single = out.scalar_type() == at::kFloat;
        std::vector<float> buffer(static_cast<std::size_t>(single ? 0 : places));
        auto f = make_f();
        for (int64_t plane = begin; plane < end; ++plane) {
            float* const to = single ? out.data_ptr<float>() + plane * places : buffer.data();
            f(plane, static_cast<std::size_t>(plane % channels), to);
            if (!single) copy(places, to, out.data_ptr<at::BFloat16>() + plane * places);
        }
    });
}

class BatchNorm : public torch::autograd::Function<BatchNorm> {
    static int64_t places_of(const Tensor& x) {
        int64_t out = 1;
        for (int64_t side = 2; side < x.dim(); ++side) out *= x.size(side);
        return out;
    }
    // Two sums per channel over the batch. make_add() returns f(plane, channel, sums of that channel) for one thread.
    template <class F>
    static std::vector<double> sums(const Batch& batch, int64_t channels, const F& make_add) {
        std::vector<double> parts(static_cast<std::size_t>(2 * channels * batch.own().count));
        for_each_block(batch.own(), [&](int64_t block, int64_t first, int64_t count) {
            auto add = make_add();
            double* const to = parts.data() + 2 * channels * block;
            for (int64_t plane = first * channels; plane < (first + count) * channels; ++plane)
                add(plane, static_cast<std::size_t>(plane % channels), to + 2 * (plane % channels));
        });
        return batch.sum_of(parts, 2 * channels);
    }

public:
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& from, const Tensor& weight,
                          const Tensor& bias, Tensor running_mean, Tensor running_variance, double momentum,
                          const Batch* batch) {
        const Tensor x = from.contiguous();
        const int64_t channels = x.size(1), places = places_of(x);
        const double count = static_cast<double>(batch->items() * places);
        const std::vector<double> found = sums(*batch, channels, [&] {
            return [read = Reader(x, places), places](int64_t plane, std::size_t, double* sum) mutable {
                add_moments(places, read(plane), sum);
            };
        });
        Tensor moments = at::empty({2, channels}, x.options().dtype(at::kFloat));  // means, factors
        float* const mean = moments.data_ptr<float>();
        float* const factor = mean + channels;
        std::vector<float> scales(static_cast<std::size_t>(channels));
        for (int64_t c = 0; c < channels; ++c) {
            const double middle = found[static_cast<std::size_t>(2 * c)] / count;
            const double square = found[static_cast<std::size_t>(2 * c + 1)] / count;
            const double variance = std::max(square - middle * middle, square * 0);  // keeps NaN
            mean[c] = static_cast<float>(middle);
            factor[c] = static_cast<float>(1 / std::sqrt(variance + least_variance));
            scales[static_cast<std::size_t>(c)] = factor[c] * weight.data_ptr<float>()[c];
            const auto move = [&](Tensor& running, double to) {
                float& value = running.data_ptr<float>()[c];
                value = static_cast<float>((1 - momentum) * value + momentum * to);
            };
            move(running_mean, middle);
            move(running_variance, variance * count / std::max(1.0, count - 1));
        }
        const float* const added = bias.data_ptr<float>();
        Tensor out = at::empty_like(x);
        write_planes(out, channels, places, [&] {
            return [&, read = Reader(x, places)](int64_t plane, std::size_t c, float* to) mutable {
                scale(places, read(plane), mean[c], scales[c], added[c], to);
            };
        });
        context->save_for_backward({x, weight, moments});
        context->saved_data["batch"] = reinterpret_cast<int64_t>(batch);
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        const Tensor &x = saved[0], &weight = saved[1], &moments = saved[2];
        const Tensor gradient = gradients[0].contiguous();
        const Batch& batch = *reinterpret_cast<const Batch*>(context->saved_data["batch"].toInt());
        const int64_t channels = x.size(1), places = places_of(x);
        const double count = static_cast<double>(batch.items() * places);
        const float* const mean = moments.data_ptr<float>();
        const float* const factor = mean + channels;
        const std::vector<double> found = sums(batch, channels, [&] {
            return [=, read = Reader(gradient, places), read_x = Reader(x, places)](int64_t plane, std::size_t c,
                                                                                    double* sum) mutable {
                add_slopes(places, read(plane), read_x(plane), mean[c], sum);
            };
        });
        Tensor by_weight = at::empty_like(weight), by_bias = at::empty_like(weight);
        std::vector<float> by_slope(static_cast<std::size_t>(channels)), by_x = by_slope, added = by_slope;
        for (std::size_t c = 0; c < by_x.size(); ++c) {
            const double sum = found[2 * c], product = found[2 * c + 1], root = factor[c];
            by_weight.data_ptr<float>()[c] = static_cast<float>(product * root);
            by_bias.data_ptr<float>()[c] = static_cast<float>(sum);
            const double slope = root * weight.data_ptr<float>()[c];
            by_slope[c] = static_cast<float>(slope);
            by_x[c] = static_cast<float>(-slope * product * root * root / count);
            added[c] = static_cast<float>(-slope * sum / count);
        }
        Tensor out = at::empty_like(x);
        write_planes(out, channels, places, [&] {
            return [&, read = Reader(gradient, places), read_x = Reader(x, places)](int64_t plane, std::size_t c,
                                                                                    float* to) mutable {
                scale_slopes(places, read(plane), read_x(plane), mean[c], by_slope[c], by_x[c], added[c], to);
            };
        });
        return {out, by_weight, by_bias, Tensor(), Tensor(), Tensor(), Tensor()};
    }
};

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& running_mean,
                  Tensor& running_variance, double momentum, const Batch& batch) {
    return BatchNorm::apply(x, weight, bias, running_mean, running_variance, momentum, &batch);
}

}  // namespace coterie_deep
