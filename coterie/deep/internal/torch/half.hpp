#pragma once
// Internal to coterie-deep: passes in bfloat16 on CUDA, where LibTorch chooses suitable layers (autocast). On the CPU,
// layers.cpp chooses the layers.

#include <ATen/autocast_mode.h>
#include <torch/types.h>
#include <torch/version.h>

namespace coterie_deep {

/// While it lives, suitable layers run in bfloat16 on CUDA.
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

}  // namespace coterie_deep
