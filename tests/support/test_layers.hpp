#pragma once
// For tests: layers computed by their definitions, in double precision.

#include <algorithm>
#include <cmath>

#include "coterie/deep/architecture.hpp"

namespace coterie::test {

// A convolution of one channel-first image with zero padding, or a transposed convolution with cropping.
inline std::vector<double> plain_convolution(const std::vector<double>& x, int rows, int columns,
                                             const coterie_layer& plan, const std::vector<float>& weight,
                                             const std::vector<float>& bias, int& out_rows, int& out_columns) {
    const bool transposed = plan.kind == COTERIE_TRANSPOSED_CONVOLUTION;
    const int k = plan.kernel;
    const auto side = [&](int s) {
        return transposed ? (s - 1) * plan.stride + k - plan.pad_before - plan.pad_after
                          : (s + plan.pad_before + plan.pad_after - k) / plan.stride + 1;
    };
    out_rows = side(rows), out_columns = side(columns);
    std::vector<double> y(static_cast<std::size_t>(plan.out * out_rows * out_columns));
    for (int o = 0; o < plan.out; ++o)
        for (int r = 0; r < out_rows; ++r)
            for (int c = 0; c < out_columns; ++c)
                y[static_cast<std::size_t>((o * out_rows + r) * out_columns + c)] =
                    bias.empty() ? 0 : bias[static_cast<std::size_t>(o)];
    for (int o = 0; o < plan.out; ++o)
        for (int i = 0; i < plan.in; ++i)
            for (int small_r = 0; small_r < (transposed ? rows : out_rows); ++small_r)
                for (int small_c = 0; small_c < (transposed ? columns : out_columns); ++small_c)
                    for (int a = 0; a < k; ++a)
                        for (int b = 0; b < k; ++b) {
                            const int large_r = small_r * plan.stride + a - plan.pad_before;
                            const int large_c = small_c * plan.stride + b - plan.pad_before;
                            const int large_rows = transposed ? out_rows : rows;
                            const int large_columns = transposed ? out_columns : columns;
                            if (large_r < 0 || large_r >= large_rows || large_c < 0 || large_c >= large_columns)
                                continue;
                            const int first = transposed ? i : o;
                            const int second = transposed ? o : i;
                            const int seconds = transposed ? plan.out : plan.in;
                            const double w =
                                weight[static_cast<std::size_t>(((first * seconds + second) * k + a) * k + b)];
                            const int to_r = transposed ? large_r : small_r, to_c = transposed ? large_c : small_c;
                            const int from_r = transposed ? small_r : large_r, from_c = transposed ? small_c : large_c;
                            y[static_cast<std::size_t>((o * out_rows + to_r) * out_columns + to_c)] +=
                                w * x[static_cast<std::size_t>((i * rows + from_r) * columns + from_c)];
                        }
    if (plan.activation == COTERIE_RELU)
        for (double& value : y) value = std::max(value, 0.0);
    return y;
}

/// A batch of images, channel first.
struct Images {
    int channels, rows, columns;
    std::vector<std::vector<double>> pixels;
};

/// A list of layers, with parameters in the order of network_abi.h. In training, batch norms use the means of the batch
/// and update the running means.
class PlainNetwork {
public:
    PlainNetwork(const std::vector<internal::Layer>& layers, std::vector<std::vector<float>>& parameters, bool training)
        : layers_(layers), parameters_(parameters), training_(training) {}

    Images operator()(Images x) {
        next_ = 0;
        return run(std::move(x), 0, layers_.size());
    }

private:
    Images run(Images x, std::size_t begin, std::size_t end) {
        for (std::size_t l = begin; l < end; ++l) {
            const coterie_layer& plan = layers_[l].plan;
            if (plan.kind == COTERIE_RESIDUAL) {
                const std::size_t main = l + 1 + static_cast<std::size_t>(plan.out);
                const std::size_t after = main + static_cast<std::size_t>(plan.in);
                const Images changed = run(x, l + 1, main);
                x = run(std::move(x), main, after);
                for (std::size_t i = 0; i < x.pixels.size(); ++i)
                    for (std::size_t p = 0; p < x.pixels[i].size(); ++p) x.pixels[i][p] += changed.pixels[i][p];
                l = after - 1;
            } else {
                x = layer(x, plan);
            }
            if (plan.activation == COTERIE_RELU)
                for (auto& image : x.pixels)
                    for (double& value : image) value = std::max(value, 0.0);
        }
        return x;
    }

    Images layer(const Images& x, const coterie_layer& plan) {
        Images out = x;
        const auto at = [](int c, int r, int column, const Images& of) {
            return static_cast<std::size_t>((c * of.rows + r) * of.columns + column);
        };
        switch (plan.kind) {
            case COTERIE_CONVOLUTION: {
                const auto& weight = parameters_[next_++];
                const std::vector<float> bias = plan.bias ? parameters_[next_++] : std::vector<float>();
                coterie_layer linear = plan;
                linear.activation = COTERIE_LINEAR;
                out.channels = plan.out;
                for (std::size_t i = 0; i < x.pixels.size(); ++i)
                    out.pixels[i] =
                        plain_convolution(x.pixels[i], x.rows, x.columns, linear, weight, bias, out.rows, out.columns);
                break;
            }
            case COTERIE_DENSE: {
                const auto& weight = parameters_[next_++];
                const std::vector<float> bias = plan.bias ? parameters_[next_++] : std::vector<float>();
                out = {plan.out, 1, 1, {}};
                for (const auto& from : x.pixels) {
                    std::vector<double> to(static_cast<std::size_t>(plan.out), 0.0);
                    for (std::size_t o = 0; o < to.size(); ++o) {
                        if (!bias.empty()) to[o] = bias[o];
                        for (std::size_t p = 0; p < from.size(); ++p) to[o] += weight[o * from.size() + p] * from[p];
                    }
                    out.pixels.push_back(std::move(to));
                }
                break;
            }
            case COTERIE_BATCH_NORM: {
                auto &weight = parameters_[next_], &bias = parameters_[next_ + 1];
                auto &running_mean = parameters_[next_ + 2], &running_variance = parameters_[next_ + 3];
                next_ += 4;
                const int places = x.rows * x.columns;
                for (int c = 0; c < x.channels; ++c) {
                    const auto channel = static_cast<std::size_t>(c);
                    double mean = running_mean[channel], variance = running_variance[channel];
                    if (training_) {
                        const double count = static_cast<double>(places) * static_cast<double>(x.pixels.size());
                        double sum = 0, squares = 0;
                        const auto each = [&](auto&& f) {
                            for (const auto& image : x.pixels)
                                for (int p = 0; p < places; ++p) f(image[static_cast<std::size_t>(c * places + p)]);
                        };
                        each([&](double value) { sum += value; });
                        mean = sum / count;
                        each([&](double value) { squares += (value - mean) * (value - mean); });
                        variance = squares / count;
                        running_mean[channel] = static_cast<float>(0.9 * running_mean[channel] + 0.1 * mean);
                        running_variance[channel] =
                            static_cast<float>(0.9 * running_variance[channel] + 0.1 * squares / (count - 1));
                    }
                    for (auto& image : out.pixels)
                        for (int p = 0; p < places; ++p) {
                            double& value = image[static_cast<std::size_t>(c * places + p)];
                            value = weight[channel] * (value - mean) / std::sqrt(variance + 1e-5) + bias[channel];
                        }
                }
                break;
            }
            case COTERIE_MAX_POOL: {
                const auto side = [&](int s) { return (s + 2 * plan.pad_before - plan.kernel) / plan.stride + 1; };
                out = {x.channels, side(x.rows), side(x.columns), {}};
                for (const auto& from : x.pixels) {
                    std::vector<double> to(static_cast<std::size_t>(out.channels * out.rows * out.columns), -1e300);
                    for (int c = 0; c < x.channels; ++c)
                        for (int r = 0; r < x.rows; ++r)
                            for (int q = 0; q < x.columns; ++q)
                                for (int a = 0; a < out.rows; ++a)
                                    for (int b = 0; b < out.columns; ++b) {
                                        const int down = r + plan.pad_before - a * plan.stride;
                                        const int right = q + plan.pad_before - b * plan.stride;
                                        if (down < 0 || down >= plan.kernel || right < 0 || right >= plan.kernel)
                                            continue;
                                        double& largest = to[at(c, a, b, out)];
                                        largest = std::max(largest, from[at(c, r, q, x)]);
                                    }
                    out.pixels.push_back(std::move(to));
                }
                break;
            }
            default: {  // COTERIE_AVERAGE
                const int places = x.rows * x.columns;
                out = {x.channels, 1, 1, {}};
                for (const auto& from : x.pixels) {
                    std::vector<double> to(static_cast<std::size_t>(x.channels), 0.0);
                    for (std::size_t p = 0; p < from.size(); ++p) to[p / static_cast<std::size_t>(places)] += from[p];
                    for (double& value : to) value /= places;
                    out.pixels.push_back(std::move(to));
                }
            }
        }
        return out;
    }

    const std::vector<internal::Layer>& layers_;
    std::vector<std::vector<float>>& parameters_;
    bool training_;
    std::size_t next_ = 0;
};

}  // namespace coterie::test
