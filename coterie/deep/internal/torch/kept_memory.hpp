#pragma once
// Internal to coterie-deep: keeps memory of CPU tensors between training steps. Every step allocates and frees the
// activations of a batch. malloc returns large blocks to the system, which must then provide and clear all pages again.
// This would take a third of the time of convolutional networks.

namespace coterie_deep {

/// From now on, CPU tensors get their memory from here. Call this only if no other code in the process uses the same
/// LibTorch, because it replaces LibTorch's allocator.
void keep_memory_between_steps();

/// While an object lives, memory of freed tensors is kept for later tensors. The last object releases this memory.
class KeptMemory {
public:
    KeptMemory();
    ~KeptMemory();
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;
};

}  // namespace coterie_deep
