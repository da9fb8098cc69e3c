#pragma once
// Internal to coterie-deep: work on the CPU, cut into blocks that depend only on sizes. One thread computes each block,
// and results are added along a tree over the blocks. So the bits are the same for any number of threads and, if a
// batch is shared, of processes. LibTorch's own layers divide work by the number of threads, which changes the bits.

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

// While it lives, this thread uses no other threads and records no graph for gradients.
class Alone {
public:
#ifdef _OPENMP
    Alone() {
        at::internal::lazy_init_num_threads();  // otherwise the first operator sets the number again
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
// Calls f(block, its first item, number of items).
template <class F>
void for_each_block(const Blocks& blocks, F&& f) {
    // At least 2, because then LibTorch and MKL do not divide the work of a block again.
    at::parallel_for(0, std::max<int64_t>(2, blocks.count), 1, [&](int64_t begin, int64_t end) {
        const Alone alone;
        for (int64_t block = begin; block < std::min(end, blocks.count); ++block) {
            const int64_t first = block * blocks.size;
            f(block, first, std::min(blocks.size, blocks.items - first));
        }
    });
}

/// The items of a batch, and the part of this process: some consecutive blocks, or none.
class Batch {
public:
    // With fewer than 32 items, packing weights and images for the kernels takes a larger share of the time.
    static Blocks blocks_of(int64_t items) { return {items, 32}; }

    /// All items belong to this process.
    explicit Batch(int64_t items) : all_(blocks_of(items)), own_(all_) {}
    Batch(int64_t own, const coterie_sharing& sharing)
        : all_(blocks_of(sharing.items)), own_(own, all_.size), first_(sharing.first / all_.size), sharing_(sharing) {}

    int64_t items() const { return all_.items; }
    /// This process's blocks, numbered from 0; one block without items if it has none.
    const Blocks& own() const { return own_; }
    /// The sum over all blocks, in their order. `parts` has `count` numbers for each block of this process.
    std::vector<double> sum_of(const std::vector<double>& parts, int64_t count) const;
    /// The same for tensors in single precision, but added along the tree. Overwrites the parts.
    Tensor sum_of(const std::vector<Tensor>& parts) const;

    /// Whether a backward pass needs gradients with respect to the parameters.
    bool of_parameters = true;

private:
    Blocks all_, own_;
    int64_t first_ = 0;          // number of the first own block
    coterie_sharing sharing_{};  // if it has no functions, all blocks belong to this process
};

}  // namespace coterie_deep
