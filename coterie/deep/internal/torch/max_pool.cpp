// Max pooling on the CPU. The maximum of a window is at the first of its largest values, or at NaN if it contains NaN.
// Maxima are computed over rows first, then over columns, in loops that the compiler vectorises. LibTorch's version
// handles positions one by one, and took a sixth of the time of VGG4.

#include "coterie/deep/internal/torch/operations.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "coterie/deep/internal/torch/vectors.hpp"

namespace coterie_deep {
namespace {

// Keeps the larger of two numbers and its position, or the first if they are equal. NaN is larger than any number.
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

class MaxPool : public torch::autograd::Function<MaxPool> {
    struct Plan {
        int64_t kernel, stride, pad;
        int64_t places(int64_t side) const { return (side + 2 * pad - kernel) / stride + 1; }
        // Column `offset` of the window is inside the side for positions from first() to before end().
        int64_t first(int64_t offset) const { return std::max<int64_t>(0, (pad - offset + stride - 1) / stride); }
        int64_t end(int64_t offset, int64_t side) const {
            const int64_t last = side - 1 + pad - offset;
            return last < 0 ? 0 : std::min(places(side), last / stride + 1);
        }
    };

    // Calls f(begin, end) for blocks of channels of the images.
    template <class F>
    static void for_planes(const Tensor& pooled, F&& f) {
        const int64_t places = std::max<int64_t>(1, pooled.size(2) * pooled.size(3));
        at::parallel_for(0, pooled.size(0) * pooled.size(1), std::max<int64_t>(1, 16384 / places), f);
    }

    // Maxima over the rows of the window for each column, then over its columns. `where`: positions in a plane.
    template <class Number>
    static void forward_as(const Tensor& x, Tensor& out, Tensor& where, const Plan& plan) {
        const int64_t rows = x.size(2), columns = x.size(3), out_rows = out.size(2), out_columns = out.size(3);
        const int64_t places = out_rows * out_columns;
        // If windows neither overlap nor skip columns, all rows are handled as one line.
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
        Tensor out = at::empty(sizes, x.options()), where = at::empty(sizes, x.options().dtype(at::kInt));
        const auto run = x.scalar_type() == at::kBFloat16 ? forward_as<at::BFloat16> : forward_as<float>;
        run(x, out, where, plan);
        context->save_for_backward({where});
        context->saved_data["sizes"] = x.sizes().vec();
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const Tensor gradient = gradients[0].contiguous(), where = context->get_saved_variables()[0];
        Tensor by_x = at::empty(context->saved_data["sizes"].toIntVector(), gradient.options());
        const auto run = gradient.scalar_type() == at::kBFloat16 ? backward_as<at::BFloat16> : backward_as<float>;
        run(gradient, where, by_x);
        return {by_x, Tensor(), Tensor(), Tensor()};
    }
};

}  // namespace

Tensor max_pool(const Tensor& x, int64_t kernel, int64_t stride, int64_t pad) {
    return MaxPool::apply(x, kernel, stride, pad);
}

}  // namespace coterie_deep
