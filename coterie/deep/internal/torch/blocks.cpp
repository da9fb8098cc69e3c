// The sum over blocks (blocks.hpp): number by number, each in the order of the blocks, so that threads may share out
// the numbers without changing a bit.

#include "coterie/deep/internal/torch/blocks.hpp"

namespace coterie_deep {

Tensor sum_of(const std::vector<Tensor>& parts) {
    std::vector<Tensor> floats;
    for (const Tensor& part : parts) floats.push_back(part.to(at::kFloat).contiguous());
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

}  // namespace coterie_deep
