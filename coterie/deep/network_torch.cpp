// The library behind network_abi.h: nothing of coterie's is included but that header. Compiles against LibTorch 1.13
// and 2.x alike.

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/grad_mode.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#include "coterie/deep/network_abi.h"

// Compiled for AVX2 and for what every processor has, chosen when the library is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define COTERIE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define COTERIE_WIDE
#endif

namespace {

// The activations of a batch are freed and taken again at every step: while a network lives, what is freed stays with
// the process. Otherwise every step asks the system for all of their pages anew.
class KeptMemory {
public:
    KeptMemory() {
        if (living()++ == 0) set(0, 2147483647);
    }
    ~KeptMemory() {
        if (--living() == 0) set(65536, 128 * 1024);
    }
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;

private:
    static std::atomic<int>& living() {
        static std::atomic<int> count{0};
        return count;
    }
    static void set([[maybe_unused]] int maps, [[maybe_unused]] int trim) {
#ifdef __GLIBC__
        mallopt(M_MMAP_MAX, maps);
        mallopt(M_TRIM_THRESHOLD, trim);
        if (maps > 0) malloc_trim(0);
#endif
    }
};

// One thread a product of matrices while it lives, where OpenBLAS has threads of its own: they know nothing of the
// threads here, and more threads than processors take more than twice as long. OpenBLAS built for OpenMP knows. Many
// may live at once, unlike in linalg/eigen.cpp, where OpenMP's threads must stand still, too.
class NoBlasThreads {
public:
    NoBlasThreads() {
        if (!openblas().has_own_threads) return;
        const std::lock_guard<std::mutex> lock(openblas().mutex);
        if (openblas().living++ > 0) return;
        openblas().before = openblas().get_num_threads();
        openblas().set_num_threads(1);
    }
    ~NoBlasThreads() {
        if (!openblas().has_own_threads) return;
        const std::lock_guard<std::mutex> lock(openblas().mutex);
        if (--openblas().living == 0) openblas().set_num_threads(openblas().before);
    }
    NoBlasThreads(const NoBlasThreads&) = delete;
    NoBlasThreads& operator=(const NoBlasThreads&) = delete;

private:
    struct OpenBlas {
        int (*get_num_threads)() = found<int (*)()>("openblas_get_num_threads");
        void (*set_num_threads)(int) = found<void (*)(int)>("openblas_set_num_threads");
        int (*get_parallel)() = found<int (*)()>("openblas_get_parallel");  // 0: no threads, 1: its own, 2: OpenMP's
        bool has_own_threads =
            get_num_threads != nullptr && set_num_threads != nullptr && get_parallel != nullptr && get_parallel() == 1;
        std::mutex mutex;
        int living = 0;  // how many of this class there are
        int before = 1;

        template <class Function>
        static Function found(const char* symbol) {
            return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));  // also in what LibTorch depends on
        }
    };
    static OpenBlas& openblas() {
        static OpenBlas one;
        return one;
    }
};

using torch::Tensor;

thread_local std::string last_error;

// Runs f; what it throws becomes 1 and the text of error().
template <class F>
int32_t guarded(F&& f) {
    try {
        const NoBlasThreads none;
        f();
        return 0;
    } catch (const c10::Error& error) {
        last_error = error.what_without_backtrace();
    } catch (const std::exception& error) {
        last_error = error.what();
    } catch (...) {
        last_error = "an error without a name";
    }
    return 1;
}

// Of this thread's passes. Asking for as many as there are would still start a pool of threads anew, which spin before
// they sleep: twice the time of a pass.
void use_threads(int32_t threads) {
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

// Dense and convolutional layers on the CPU. LibTorch's own have other bits with other numbers of threads: they share
// out the work by them. These cut it into blocks that depend on sizes alone, each one thread's, and add up in the
// order of the blocks.

// One thread computes, without a graph, while it lives.
class Alone {
public:
#ifdef _OPENMP
    Alone() {
        at::internal::lazy_init_num_threads();  // else the first operator of a thread sets its number
        omp_set_num_threads(1);
    }
    ~Alone() { omp_set_num_threads(before_); }
#else
    Alone() = default;
#endif
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

private:
#ifdef _OPENMP
    int before_ = omp_get_max_threads();
#endif
    at::AutoDispatchBelowADInplaceOrView no_graph_;
};

struct Blocks {
    Blocks(int64_t of, int64_t least) : items(of), size(std::max(least, (of + 15) / 16)) {}
    int64_t items, size;
    int64_t count = std::max<int64_t>(1, (items + size - 1) / size);
};
// f(block, its first item, how many).
template <class F>
void for_each_block(const Blocks& blocks, F&& f) {
    // Two at least: what runs beside another is not shared out once more, by MKL either.
    at::parallel_for(0, std::max<int64_t>(2, blocks.count), 1, [&](int64_t begin, int64_t end) {
        const Alone alone;
        for (int64_t block = begin; block < std::min(end, blocks.count); ++block) {
            const int64_t first = block * blocks.size;
            f(block, first, std::min(blocks.size, blocks.items - first));
        }
    });
}

// In single precision, in their order.
Tensor sum_of(const std::vector<Tensor>& parts) {
    std::vector<Tensor> floats;
    for (const Tensor& part : parts) floats.push_back(part.to(torch::kFloat32).contiguous());
    Tensor out = floats[0].clone();
    float* const sum = out.data_ptr<float>();
    at::parallel_for(0, out.numel(), 16384, [&](int64_t begin, int64_t end) {
        for (std::size_t p = 1; p < floats.size(); ++p) {
            const float* const part = floats[p].data_ptr<float>();
            for (int64_t i = begin; i < end; ++i) sum[i] += part[i];
        }
    });
    return out;
}

class BlockedLinear : public torch::autograd::Function<BlockedLinear> {
    // Wide enough for a product of matrices to be worth a thread.
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

// Loops by themselves and without overlaps, so that the compiler makes vectors of them.
void copy(int64_t count, const float* __restrict from, float* __restrict to) { std::copy_n(from, count, to); }
COTERIE_WIDE void copy(int64_t count, const at::BFloat16* __restrict from, float* __restrict to) {
    for (int64_t i = 0; i < count; ++i) to[i] = c10::detail::f32_from_bits(from[i].x);
}
COTERIE_WIDE void copy(int64_t count, const float* __restrict from, at::BFloat16* __restrict to) {
    for (int64_t i = 0; i < count; ++i) {
        uint32_t bits = 0;
        std::memcpy(&bits, &from[i], sizeof bits);
        const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;  // to even
        to[i].x = static_cast<uint16_t>(from[i] == from[i] ? rounded : 0x7FC0);
    }
}
// The larger of two numbers and its place; of equal ones the first, before any number one that is none.
void raise(float value, int32_t place, float& largest, int32_t& where) {
    const bool larger =
        (value > largest) | ((value == largest) & (place < where)) | ((value != value) & (largest == largest));
    largest = larger ? value : largest;
    where = larger ? place : where;
}
COTERIE_WIDE void raise_columns(int64_t count, const float* __restrict from, int32_t place, float* __restrict largest,
                                int32_t* __restrict where) {
    for (int32_t j = 0; j < static_cast<int32_t>(count); ++j) raise(from[j], place + j, largest[j], where[j]);
}
COTERIE_WIDE void raise_every_second(int64_t count, const float* __restrict from, const int32_t* __restrict places,
                                     float* __restrict largest, int32_t* __restrict where) {
    for (int64_t j = 0; j < count; ++j) raise(from[2 * j], places[2 * j], largest[j], where[j]);
}

// Maxima over windows, each at the first of the largest; not a number where a window has something that is none.
// LibTorch's own, which goes through the places one by one, took a sixth of the time of VGG4.
class MaxPool : public torch::autograd::Function<MaxPool> {
    struct Plan {
        int64_t kernel, stride, pad;
        int64_t places(int64_t side) const { return (side + 2 * pad - kernel) / stride + 1; }
        // The places whose window has its column `offset` inside a side: from `first` to before `end`.
        int64_t first(int64_t offset) const { return std::max<int64_t>(0, (pad - offset + stride - 1) / stride); }
        int64_t end(int64_t offset, int64_t side) const {
            const int64_t last = side - 1 + pad - offset;
            return last < 0 ? 0 : std::min(places(side), last / stride + 1);
        }
    };

    // f(begin, end) shares out the channels of the images.
    template <class F>
    static void for_planes(const Tensor& pooled, F&& f) {
        const int64_t places = std::max<int64_t>(1, pooled.size(2) * pooled.size(3));
        at::parallel_for(0, pooled.size(0) * pooled.size(1), std::max<int64_t>(1, 16384 / places), f);
    }

    // Of every column the maxima over a window's rows, then of these over its columns; `where` are places in a plane.
    template <class Number>
    static void forward_as(const Tensor& x, Tensor& out, Tensor& where, const Plan& plan) {
        const int64_t rows = x.size(2), columns = x.size(3), out_rows = out.size(2), out_columns = out.size(3);
        const int64_t places = out_rows * out_columns;
        // All rows are one where windows neither overlap nor leave columns out.
        const bool one = plan.pad == 0 && columns == plan.stride * out_columns;
        const int64_t lines = one ? 1 : out_rows, length = one ? places : out_columns;
        for_planes(out, [&](int64_t begin, int64_t end) {
            constexpr float none = -std::numeric_limits<float>::infinity();
            constexpr int32_t nowhere = std::numeric_limits<int32_t>::max();
            std::vector<float> plane(static_cast<std::size_t>(rows * columns));
            std::vector<float> tall(static_cast<std::size_t>(out_rows * columns));
            std::vector<int32_t> from(tall.size());
            std::vector<float> largest(static_cast<std::size_t>(places));
            for (int64_t p = begin; p < end; ++p) {
                copy(rows * columns, x.data_ptr<Number>() + p * rows * columns, plane.data());
                std::fill(tall.begin(), tall.end(), none);
                std::fill(from.begin(), from.end(), nowhere);
                for (int64_t i = 0; i < out_rows; ++i)
                    for (int64_t down = 0; down < plan.kernel; ++down) {
                        const int64_t row = i * plan.stride - plan.pad + down;
                        if (row >= 0 && row < rows)
                            raise_columns(columns, plane.data() + row * columns, static_cast<int32_t>(row * columns),
                                          tall.data() + i * columns, from.data() + i * columns);
                    }
                int32_t* const to = where.data_ptr<int32_t>() + p * places;
                std::fill(largest.begin(), largest.end(), none);
                std::fill_n(to, places, nowhere);
                for (int64_t line = 0; line < lines; ++line)
                    for (int64_t right = 0; right < plan.kernel; ++right) {
                        const int64_t first = one ? 0 : plan.first(right);
                        const int64_t count = one ? length : plan.end(right, columns) - first;
                        const int64_t start = line * columns + first * plan.stride - plan.pad + right;
                        float* const out_line = largest.data() + line * length + first;
                        int32_t* const to_line = to + line * length + first;
                        if (plan.stride == 2)
                            raise_every_second(count, tall.data() + start, from.data() + start, out_line, to_line);
                        else
                            for (int64_t j = 0; j < count; ++j)
                                raise(tall[static_cast<std::size_t>(start + j * plan.stride)],
                                      from[static_cast<std::size_t>(start + j * plan.stride)], out_line[j], to_line[j]);
                    }
                copy(places, largest.data(), out.data_ptr<Number>() + p * places);
            }
        });
    }

    template <class Number>
    static void backward_as(const Tensor& gradient, const Tensor& where, Tensor& by_x) {
        const int64_t items = by_x.size(2) * by_x.size(3), places = gradient.size(2) * gradient.size(3);
        for_planes(gradient, [&](int64_t begin, int64_t end) {
            std::vector<float> sums(static_cast<std::size_t>(items)), slopes(static_cast<std::size_t>(places));
            for (int64_t p = begin; p < end; ++p) {
                std::fill(sums.begin(), sums.end(), 0.0F);
                copy(places, gradient.data_ptr<Number>() + p * places, slopes.data());
                const int32_t* const at = where.data_ptr<int32_t>() + p * places;
                for (std::size_t k = 0; k < slopes.size(); ++k) sums[static_cast<std::size_t>(at[k])] += slopes[k];
                copy(items, sums.data(), by_x.data_ptr<Number>() + p * items);
            }
        });
    }

public:
    static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& from, int64_t kernel, int64_t stride,
                          int64_t pad) {
        if (2 * pad >= kernel) throw std::runtime_error("a window of maxima may lie outside");
        const Plan plan{kernel, stride, pad};
        const Tensor x = from.contiguous();
        const auto sizes = {x.size(0), x.size(1), plan.places(x.size(2)), plan.places(x.size(3))};
        Tensor out = at::empty(sizes, x.options()), where = at::empty(sizes, x.options().dtype(torch::kInt32));
        const auto run = x.scalar_type() == torch::kBFloat16 ? forward_as<at::BFloat16> : forward_as<float>;
        run(x, out, where, plan);
        context->save_for_backward({where});
        context->saved_data["sizes"] = x.sizes().vec();
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const Tensor gradient = gradients[0].contiguous(), where = context->get_saved_variables()[0];
        Tensor by_x = at::empty(context->saved_data["sizes"].toIntVector(), gradient.options());
        const auto run = gradient.scalar_type() == torch::kBFloat16 ? backward_as<at::BFloat16> : backward_as<float>;
        run(gradient, where, by_x);
        return {by_x, Tensor(), Tensor(), Tensor()};
    }
};

struct Shape {
    int64_t channels, rows, columns;
    int64_t items() const { return channels * rows * columns; }
};

struct Layer {
    coterie_layer plan;
    Tensor weight, bias;
    Tensor running_mean, running_variance;  // batch norm
};

class Part {
public:
    Part() = default;
    Part(const coterie_layer* plans, int32_t count, const torch::Device& device) {
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

    struct Pass {
        bool training;  // batch norms use the batch's own means, and move the running ones by `momentum`
        double momentum;
        bool half;  // dense and convolutional layers in bfloat16
    };
    Tensor run(Tensor x, const Pass& pass) { return run(std::move(x), 0, layers_.size(), pass); }

    std::ptrdiff_t trained_in_last_layer() const {
        return layers_.empty() ? 0 : layers_.back().weight.defined() + layers_.back().bias.defined();
    }
    // What is trained, and what is kept with it.
    void collect(std::vector<Tensor>& trained, std::vector<Tensor>& all) {
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

private:
    static Tensor activated(const Tensor& x, int32_t activation) {
        return activation == COTERIE_RELU ? torch::relu(x) : x;
    }

    static Tensor linear(const Layer& layer, const Tensor& from, bool half) {
        if (!from.device().is_cpu()) return at::linear(from, layer.weight, layer.bias);
        const auto type = half ? torch::kBFloat16 : torch::kFloat32;
        return BlockedLinear::apply(from.contiguous().to(type), layer.weight.to(type), in_type(layer.bias, type));
    }
    static Tensor convolution(const Layer& layer, const Tensor& from, int64_t pad, bool half) {
        const int64_t stride = layer.plan.stride;
        const bool transposed = layer.plan.kind == COTERIE_TRANSPOSED_CONVOLUTION;
        if (!from.device().is_cpu())
            return transposed ? at::conv_transpose2d(from, layer.weight, layer.bias, stride)
                              : at::conv2d(from, layer.weight, layer.bias, stride, pad);
        // LibTorch 1.13 has no gradient of transposed ones in bfloat16.
        const auto type = half && !transposed ? torch::kBFloat16 : torch::kFloat32;
        return BlockedConvolution::apply(from.contiguous().to(type), layer.weight.to(type), in_type(layer.bias, type),
                                         stride, pad, transposed);
    }
    // Of none an empty one: functions take no undefined tensor.
    static Tensor in_type(const Tensor& bias, torch::ScalarType type) {
        return bias.defined() ? bias.to(type) : at::empty({0});
    }

    Tensor run(Tensor x, std::size_t begin, std::size_t end, const Pass& pass) {
        for (std::size_t i = begin; i < end; ++i) {
            Layer& layer = layers_[i];
            const coterie_layer& plan = layer.plan;
            switch (plan.kind) {
                case COTERIE_DENSE: x = linear(layer, x.flatten(1), pass.half); break;
                case COTERIE_CONVOLUTION: {
                    if (plan.pad_before == plan.pad_after) {
                        x = convolution(layer, x, plan.pad_before, pass.half);
                    } else {
                        const int64_t before = plan.pad_before, after = plan.pad_after;
                        x = convolution(layer, at::constant_pad_nd(x, {before, after, before, after}), 0, pass.half);
                    }
                    break;
                }
                case COTERIE_TRANSPOSED_CONVOLUTION: {
                    x = convolution(layer, x, 0, pass.half);
                    const int64_t rows = x.size(2) - plan.pad_before - plan.pad_after;
                    const int64_t columns = x.size(3) - plan.pad_before - plan.pad_after;
                    x = x.narrow(2, plan.pad_before, rows).narrow(3, plan.pad_before, columns);
                    break;
                }
                case COTERIE_RESHAPE: x = x.reshape({x.size(0), plan.out, plan.rows, plan.columns}); break;
                case COTERIE_BATCH_NORM: {
                    // Of one place an item as of one item whose places are the batch: sums over the batch are shared
                    // out by the number of threads, those over places are one thread's.
                    const auto sizes = x.sizes().vec();
                    const bool one_place = x.numel() == sizes[0] * sizes[1];
                    if (one_place) x = x.flatten(1).t().unsqueeze(0).contiguous();
                    x = at::batch_norm(x, layer.weight, layer.bias, layer.running_mean, layer.running_variance,
                                       pass.training, pass.momentum, 1e-5, false);
                    if (one_place) x = x.squeeze(0).t().reshape(sizes);
                    break;
                }
                case COTERIE_MAX_POOL:
                    x = x.device().is_cpu() ? MaxPool::apply(x, plan.kernel, plan.stride, plan.pad_before)
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

    std::vector<Layer> layers_;
};

struct AdamStep {
    float rate, scale, beta1, beta2, epsilon, decay;
};
// By itself and without overlaps, so that the compiler makes vectors of it.
void adam_step(int64_t count, const AdamStep with, const float* __restrict g, float* __restrict x, float* __restrict m,
               float* __restrict v) {
    for (int64_t i = 0; i < count; ++i) {
        const float slope = g[i] + with.decay * x[i];
        m[i] = with.beta1 * m[i] + (1 - with.beta1) * slope;
        v[i] = with.beta2 * v[i] + (1 - with.beta2) * slope * slope;
        x[i] -= with.rate * m[i] / (std::sqrt(v[i]) * with.scale + with.epsilon);
    }
}

// One optimizer's parameters and what it remembers of them. On the CPU a step is one pass over each parameter's
// memory.
class Optimizer {
public:
    Optimizer(const coterie_optimizer& plan, std::vector<Tensor> parameters)
        : plan_(plan), parameters_(std::move(parameters)) {
        for (const Tensor& parameter : parameters_) {
            first_.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Contiguous));
            if (plan.kind == COTERIE_ADAM)
                second_.push_back(torch::zeros_like(parameter, torch::MemoryFormat::Contiguous));
        }
    }

    void step() {
        const torch::NoGradGuard guard;
        ++steps_;
        for (std::size_t p = 0; p < parameters_.size(); ++p) {
            Tensor& parameter = parameters_[p];
            Tensor gradient = parameter.mutable_grad();
            if (!gradient.defined()) continue;
            gradient = gradient.contiguous();
            if (plan_.weight_decay != 0 && !parameter.device().is_cpu())
                gradient = gradient.add(parameter, plan_.weight_decay);
            if (plan_.kind == COTERIE_ADAM)
                adam(parameter, gradient, first_[p], second_[p]);
            else
                descend(parameter, gradient, first_[p]);
        }
    }

    int64_t memory_size() const {
        int64_t size = 1;
        for (const Tensor& tensor : first_) size += tensor.numel();
        for (const Tensor& tensor : second_) size += tensor.numel();
        return size;
    }
    float* get_memory(float* to) const {
        // The count as it is: as a number of single precision it would be inexact from 2^24 on.
        const auto steps = static_cast<uint32_t>(steps_);
        std::memcpy(to++, &steps, sizeof steps);
        for (const auto* tensors : {&first_, &second_})
            for (const Tensor& tensor : *tensors) {
                const Tensor host = tensor.cpu();
                std::memcpy(to, host.data_ptr<float>(), sizeof(float) * static_cast<std::size_t>(host.numel()));
                to += host.numel();
            }
        return to;
    }
    const float* set_memory(const float* from) {
        const torch::NoGradGuard guard;
        uint32_t steps = 0;
        std::memcpy(&steps, from++, sizeof steps);
        steps_ = steps;
        for (auto* tensors : {&first_, &second_})
            for (Tensor& tensor : *tensors) {
                tensor.copy_(torch::from_blob(const_cast<float*>(from), tensor.sizes(), torch::kFloat32));
                from += tensor.numel();
            }
        return from;
    }

private:
    void adam(Tensor& parameter, const Tensor& gradient, Tensor& first, Tensor& second) const {
        const double correction1 = 1 - std::pow(plan_.beta1, static_cast<double>(steps_));
        const double correction2 = 1 - std::pow(plan_.beta2, static_cast<double>(steps_));
        if (!parameter.device().is_cpu()) {
            first.mul_(plan_.beta1).add_(gradient, 1 - plan_.beta1);
            second.mul_(plan_.beta2).addcmul_(gradient, gradient, 1 - plan_.beta2);
            const Tensor denominator = second.sqrt().div_(std::sqrt(correction2)).add_(plan_.epsilon);
            parameter.addcdiv_(first, denominator, -plan_.learning_rate / correction1);
            return;
        }
        const AdamStep rates{static_cast<float>(plan_.learning_rate / correction1),
                             static_cast<float>(1 / std::sqrt(correction2)),
                             static_cast<float>(plan_.beta1),
                             static_cast<float>(plan_.beta2),
                             static_cast<float>(plan_.epsilon),
                             static_cast<float>(plan_.weight_decay)};
        float* const x = parameter.data_ptr<float>();
        float* const m = first.data_ptr<float>();
        float* const v = second.data_ptr<float>();
        const float* const g = gradient.data_ptr<float>();
        at::parallel_for(0, parameter.numel(), 16384, [&](int64_t begin, int64_t end) {
            adam_step(end - begin, rates, g + begin, x + begin, m + begin, v + begin);
        });
    }

    void descend(Tensor& parameter, const Tensor& gradient, Tensor& velocity) const {
        if (!parameter.device().is_cpu()) {
            velocity.mul_(plan_.momentum).add_(gradient);
            parameter.sub_(velocity, plan_.learning_rate);
            return;
        }
        const auto rate = static_cast<float>(plan_.learning_rate), momentum = static_cast<float>(plan_.momentum);
        const auto decay = static_cast<float>(plan_.weight_decay);
        float* const x = parameter.data_ptr<float>();
        float* const m = velocity.data_ptr<float>();
        const float* const g = gradient.data_ptr<float>();
        at::parallel_for(0, parameter.numel(), 16384, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                m[i] = momentum * m[i] + g[i] + decay * x[i];
                x[i] -= rate * m[i];
            }
        });
    }

    coterie_optimizer plan_;
    std::vector<Tensor> parameters_, first_, second_;
    int64_t steps_ = 0;
};

// While it lives, layers that are worth it run in bfloat16 on CUDA.
class HalfGuard {
public:
    explicit HalfGuard(bool on) : on_(on) { set(true); }
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

}  // namespace

struct coterie_network {
    KeptMemory kept;
    torch::Device device{torch::kCPU};
    bool half = false;
    int threads = 1;
    Shape shape{};
    Part encoder, decoder;
    int64_t decoder_inputs = 0;  // 0: there is no decoder
    std::vector<Tensor> encoder_trained, decoder_trained, all;
    std::vector<Optimizer> optimizers;
    Tensor points;
    // The pass that is kept.
    Tensor input, output, loss;

    Tensor batch(const int64_t* rows, int64_t count, const float* affine, const float* colour, const float* noise) {
        if (!points.defined()) throw std::runtime_error("no points were set");
        const Tensor numbers = torch::from_blob(const_cast<int64_t*>(rows), {count}, torch::kInt64).to(device);
        Tensor x = points.index_select(0, numbers).reshape({count, shape.channels, shape.rows, shape.columns});
        const auto moved = [&](const float* from, at::IntArrayRef sizes) {
            return torch::from_blob(const_cast<float*>(from), sizes, torch::kFloat32).to(device);
        };
        if (affine != nullptr) {
            const Tensor grid = at::affine_grid_generator(moved(affine, {count, 2, 3}), x.sizes(), false);
            x = at::grid_sampler_2d(x, grid, 0, 0, false);  // bilinear, zeros outside
        }
        if (colour != nullptr) {
            const Tensor change = moved(colour, {count, shape.channels, 2});
            x = x * change.select(2, 0).reshape({count, shape.channels, 1, 1}) +
                change.select(2, 1).reshape({count, shape.channels, 1, 1});
        }
        if (noise != nullptr) x = x + moved(noise, x.sizes());
        return x;
    }

    static void to_host(const Tensor& tensor, float* to) {
        const Tensor host = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
        std::memcpy(to, host.data_ptr<float>(), sizeof(float) * static_cast<std::size_t>(host.numel()));
    }
    Tensor gradient_of(const float* host) const {
        return torch::from_blob(const_cast<float*>(host), output.sizes(), torch::kFloat32).to(device);
    }
    Part::Pass pass(bool training, double momentum = 0.1) const { return {training, momentum, half}; }
    void require_pass() const {
        if (!output.defined()) throw std::runtime_error("there is no pass");
    }
    void end_pass() { input = output = loss = Tensor(); }
};

namespace {

const char* description() {
    static const std::string text = std::string("LibTorch ") + TORCH_VERSION;
    return text.c_str();
}
const char* error() { return last_error.c_str(); }

int32_t has_device(const char* device) {
    int32_t found = 0;
    guarded([&] {
        const std::string name = device;
        found = name == "cpu" || (name == "cuda" && torch::cuda::is_available()) ? 1 : 0;
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

int32_t set_points(coterie_network* network, const float* points, int64_t count) {
    return guarded([&] {
        Tensor host = torch::from_blob(const_cast<float*>(points), {count, network->shape.items()}, torch::kFloat32);
        network->points = network->device.is_cpu() ? host.clone() : host.to(network->device);
    });
}

int32_t forward(coterie_network* network, const int64_t* rows, int64_t count, const float* affine, const float* colour,
                const float* noise, int32_t training, float* output) {
    return guarded([&] {
        use_threads(network->threads);
        network->end_pass();
        const HalfGuard half(network->half && network->device.is_cuda());
        if (training == 0) {
            const torch::NoGradGuard guard;
            const Tensor found =
                network->encoder.run(network->batch(rows, count, affine, colour, noise), network->pass(false));
            coterie_network::to_host(found.flatten(1), output);
            return;
        }
        network->input = network->batch(rows, count, affine, colour, noise);
        if (training == 2) network->input.set_requires_grad(true);
        network->output = network->encoder.run(network->input, network->pass(true, training == 2 ? 0.0 : 0.1))
                              .flatten(1)
                              .to(torch::kFloat32);
        coterie_network::to_host(network->output, output);
    });
}

int32_t reconstruct(coterie_network* network, double weight, double* value) {
    return guarded([&] {
        network->require_pass();
        if (network->decoder_inputs == 0) throw std::runtime_error("the network has no decoder");
        const HalfGuard half(network->half && network->device.is_cuda());
        const Tensor made = network->decoder.run(network->output, network->pass(true)).reshape(network->input.sizes());
        // Item by item, then one after the other: one mean of all is shared out by the number of threads.
        const Tensor errors =
            at::mse_loss(made.to(torch::kFloat32), network->input.detach(), at::Reduction::None).flatten(1).mean(1);
        std::vector<float> host(static_cast<std::size_t>(errors.size(0)));
        coterie_network::to_host(errors, host.data());
        *value = std::accumulate(host.begin(), host.end(), 0.0) / static_cast<double>(host.size());
        const Tensor loss = errors.mean();
        const Tensor weighted = loss * weight;
        network->loss = network->loss.defined() ? network->loss + weighted : weighted;
    });
}

int32_t decode(coterie_network* network, const float* output, int64_t count, float* item) {
    return guarded([&] {
        if (network->decoder_inputs == 0) throw std::runtime_error("the network has no decoder");
        const torch::NoGradGuard guard;
        const HalfGuard half(network->half && network->device.is_cuda());
        const Tensor from =
            torch::from_blob(const_cast<float*>(output), {count, network->decoder_inputs}, torch::kFloat32)
                .to(network->device);
        coterie_network::to_host(network->decoder.run(from, network->pass(false)), item);
    });
}

int32_t input_gradient(coterie_network* network, const float* output_gradient, float* gradient) {
    return guarded([&] {
        network->require_pass();
        if (!network->input.requires_grad()) throw std::runtime_error("the pass was not made for an input's gradient");
        const auto found =
            torch::autograd::grad({network->output}, {network->input}, {network->gradient_of(output_gradient)}, true);
        coterie_network::to_host(found[0], gradient);
    });
}

int32_t backward(coterie_network* network, const float* output_gradient) {
    return guarded([&] {
        network->require_pass();
        std::vector<Tensor> roots, gradients;
        if (output_gradient != nullptr) {
            roots.push_back(network->output);
            gradients.push_back(network->gradient_of(output_gradient));
        }
        if (network->loss.defined()) {
            roots.push_back(network->loss);
            gradients.push_back(torch::ones_like(network->loss));
        }
        if (!roots.empty()) torch::autograd::backward(roots, gradients);
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
    for (const Optimizer& optimizer : network->optimizers) size += optimizer.memory_size();
    return size;
}
int32_t get_memory(coterie_network* network, float* to) {
    return guarded([&] {
        for (const Optimizer& optimizer : network->optimizers) to = optimizer.get_memory(to);
    });
}
int32_t set_memory(coterie_network* network, const float* from) {
    return guarded([&] {
        for (Optimizer& optimizer : network->optimizers) from = optimizer.set_memory(from);
    });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const coterie_network_api* coterie_network_functions(int32_t abi) {
    static const coterie_network_api functions = {
        COTERIE_NETWORK_ABI, &description,   &error,          &has_device, &create,      &destroy,     &parameters,
        &parameter_size,     &get_parameter, &set_parameter,  &set_points, &forward,     &reconstruct, &decode,
        &input_gradient,     &backward,      &set_optimizers, &step,       &memory_size, &get_memory,  &set_memory};
    return abi == COTERIE_NETWORK_ABI ? &functions : nullptr;
}
