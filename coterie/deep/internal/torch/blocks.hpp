#pragma once
// Internal to coterie-deep: work on the CPU cut into blocks that depend on sizes alone, each one thread's, added up
// along a tree over the blocks: the same bits at any number of threads and, where a batch is shared, of processes.
// LibTorch's own layers share out the work by the number of threads and have other bits with other numbers.

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "coterie/deep/network_abi.h"

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

/// The items of a batch, and which of them are this process': some blocks, one after the other, or none.
class Batch {
public:
    // Of fewer, putting weights and images in the order of the kernels takes a larger share of the time.
    static Blocks blocks_of(int64_t items) { return {items, 32}; }

    /// All of them.
    explicit Batch(int64_t items) : all_(blocks_of(items)), own_(all_) {}
    Batch(int64_t own, const coterie_sharing& sharing)
        : all_(blocks_of(sharing.items)), own_(own, all_.size), first_(sharing.first / all_.size), sharing_(sharing) {}

    int64_t items() const { return all_.items; }
    /// This process' blocks, numbered from 0; one without items where it has none.
    const Blocks& own() const { return own_; }
    /// Sums per own block, `count` of each, become those over all blocks, in the order of the blocks.
    std::vector<double> sum_of(const std::vector<double>& parts, int64_t count) const;
    /// The same of tensors in single precision, along the tree. The parts are written to.
    Tensor sum_of(const std::vector<Tensor>& parts) const;

    /// Whether gradients by the parameters are wanted of a pass backwards.
    bool of_parameters = true;

private:
    Blocks all_, own_;
    int64_t first_ = 0;          // own block among all
    coterie_sharing sharing_{};  // no functions: all are own
};

}  // namespace coterie_deep
