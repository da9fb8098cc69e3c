// A LibTorch allocator that keeps freed memory. A training step requests the same sizes as the previous step, so whole
// blocks are kept and found by size: the smallest block that is large enough, and at most a quarter larger. Blocks
// below 64 KiB go to malloc, which keeps them itself. Kept and used memory together never exceed 1.5 times the largest
// amount used so far. Any thread may allocate and free.

#include "coterie/deep/internal/torch/kept_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/version.h>

namespace coterie_deep {
namespace {

constexpr std::size_t smallest_kept = 65536;
constexpr std::size_t before =
    64;  // bytes before the memory of a tensor; they hold its size and keep the alignment of tensors

class Keeper final : public c10::Allocator {
public:
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
    c10::DataPtr allocate(std::size_t size) override { return allocated(size); }
    void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }
#else
    c10::DataPtr allocate(std::size_t size) const override { return const_cast<Keeper*>(this)->allocated(size); }
#endif
    c10::DeleterFnPtr raw_deleter() const override { return &give; }

    void begin() {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++networks_;
    }
    void end() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (--networks_ > 0) return;
        fullest_ = used_;
        drop_to(used_);
    }

    /// The allocator of this process. It is never destroyed, because tensors may live until the process ends.
    static Keeper& one() {
        static Keeper* const keeper = new Keeper;
        return *keeper;
    }

private:
    c10::DataPtr allocated(std::size_t size) {
        void* const data = size == 0 ? nullptr : take(size);
        return {data, data, &give, c10::Device(c10::DeviceType::CPU)};
    }

    void* take(std::size_t size) {
        if (size >= smallest_kept) {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto found = kept_.lower_bound(size);
            if (found != kept_.end() && found->first <= size + size / 4) {
                void* const data = found->second;
                kept_bytes_ -= found->first;
                use(found->first);
                kept_.erase(found);
                return data;
            }
            const std::size_t most = std::max(fullest_, used_ + size);
            drop_to(most + most / 2 - size);
        }
        auto* const block = static_cast<char*>(c10::alloc_cpu(size + before));
        if (size >= smallest_kept) {
            const std::lock_guard<std::mutex> lock(mutex_);
            use(size);
        }
        std::memcpy(block, &size, sizeof size);
        return block + before;
    }

    static void give(void* data) {
        if (data == nullptr) return;
        std::size_t size = 0;
        std::memcpy(&size, static_cast<char*>(data) - before, sizeof size);
        if (size >= smallest_kept) {
            Keeper& keeper = one();
            const std::lock_guard<std::mutex> lock(keeper.mutex_);
            keeper.used_ -= size;
            if (keeper.networks_ > 0) {
                keeper.kept_.emplace(size, data);
                keeper.kept_bytes_ += size;
                return;
            }
        }
        c10::free_cpu(static_cast<char*>(data) - before);
    }

    void use(std::size_t size) {
        used_ += size;
        fullest_ = std::max(fullest_, used_);
    }
    // Frees kept blocks, the smallest first, until at most `most` bytes are held.
    void drop_to(std::size_t most) {
        while (!kept_.empty() && used_ + kept_bytes_ > most) {
            kept_bytes_ -= kept_.begin()->first;
            c10::free_cpu(static_cast<char*>(kept_.begin()->second) - before);
            kept_.erase(kept_.begin());
        }
    }

    std::mutex mutex_;
    std::multimap<std::size_t, void*> kept_;
    std::size_t kept_bytes_ = 0, used_ = 0, fullest_ = 0;  // for blocks that may be kept
    int networks_ = 0;
};

}  // namespace

void keep_memory_between_steps() { c10::SetAllocator(c10::DeviceType::CPU, &Keeper::one()); }

KeptMemory::KeptMemory() { Keeper::one().begin(); }
KeptMemory::~KeptMemory() { Keeper::one().end(); }

}  // namespace coterie_deep
