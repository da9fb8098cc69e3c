#pragma once
// Internal to coterie-deep: memory of tensors on the CPU that is kept between the steps of a training. The activations
// of a batch are freed and taken again at every step; malloc gives the large ones back to the system, which then has to
// find and clear all of their pages anew: a third of the time of convolutional networks.

namespace coterie_deep {

/// Tensors on the CPU take their memory from here from now on. Only for a LibTorch that nobody else in the process
/// uses: the allocator is LibTorch's as a whole.
void keep_memory_between_steps();

/// While one lives, memory of tensors that are freed is kept for those to come, and goes back when the last one is
/// gone.
class KeptMemory {
public:
    KeptMemory();
    ~KeptMemory();
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;
};

}  // namespace coterie_deep
