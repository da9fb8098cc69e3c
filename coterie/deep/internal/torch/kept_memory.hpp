#pragma once
// Internal to coterie-deep: keeps memory of CPU tensors between training steps. Every step frees and allocates the
// activations of a batch. malloc returns large blocks to the system, which must then provide and clear all pages again.
// That takes a third of the time of convolutional networks.

namespace coterie_deep {

/// From now on, CPU tensors get their memory from here. Use it only with a LibTorch that no other code in the process
/// uses, because it replaces the allocator of the whole LibTorch.
void keep_memory_between_steps();

/// While an object lives, memory of freed tensors is kept for later ones. It is released with the last object.
class KeptMemory {
public:
    KeptMemory();
    ~KeptMemory();
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;
};

}  // namespace coterie_deep
