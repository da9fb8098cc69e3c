#pragma once
// Internal to coterie-deep: work on the CPU cut into blocks that depend on sizes alone, each one thread's, added up in
// the order of the blocks: the same bits at any number of threads. LibTorch's own layers share out the work by the
// number of threads and have other bits with other numbers.

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace coterie_deep {

using at::Tensor;

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

/// In single precision, in their order.
Tensor sum_of(const std::vector<Tensor>& parts);

}  // namespace coterie_deep
