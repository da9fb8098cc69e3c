// Sums over blocks (blocks.hpp). Each number of a tensor is added along the tree over the blocks (network_abi.h). So
// threads may divide the numbers without changing a bit. Other processes receive the sums of this process's nodes.

#include "coterie/deep/internal/torch/blocks.hpp"

#include <stdexcept>

namespace coterie_deep {
namespace {

void require(int32_t failed) {
    if (failed != 0) throw std::runtime_error("another process has failed");
}

}  // namespace

std::vector<double> Batch::sum_of(const std::vector<double>& parts, int64_t count) const {
    std::vector<double> all(static_cast<std::size_t>(all_.count * count)), out(static_cast<std::size_t>(count));
    if (own_.items > 0) std::copy(parts.begin(), parts.end(), all.begin() + first_ * count);
    if (sharing_.gather != nullptr) require(sharing_.gather(sharing_.context, all.data(), count));
    for (std::size_t i = 0; i < all.size(); ++i) out[i % out.size()] += all[i];
    return out;
}

Tensor Batch::sum_of(const std::vector<Tensor>& parts) const {
    std::vector<Tensor> kept;
    std::vector<float*> sums;
    for (const Tensor& part : parts) {
        kept.push_back(part.to(at::kFloat).contiguous());
        sums.push_back(kept.back().data_ptr<float>());
    }
    const int64_t numbers = kept[0].numel(), end = own_.items > 0 ? first_ + own_.count : first_;
    at::parallel_for(0, numbers, 4096, [&](int64_t begin, int64_t stop) {
        for (int64_t step = 1; step < all_.count; step *= 2)
            for (int64_t left = 0; left + step < all_.count; left += 2 * step) {
                if (left < first_ || std::min(left + 2 * step, all_.count) > end) continue;
                float* const sum = sums[static_cast<std::size_t>(left - first_)];
                const float* const more = sums[static_cast<std::size_t>(left + step - first_)];
                for (int64_t i = begin; i < stop; ++i) sum[i] += more[i];
            }
    });
    if (sharing_.add == nullptr) return kept[0];
    Tensor total = at::empty_like(kept[0]);
    require(sharing_.add(sharing_.context, sums.data(), numbers, total.data_ptr<float>()));
    return total;
}

}  // namespace coterie_deep
