#pragma once
// Internal: one pass of a batch through a network that several processes share (coterie_sharing of network_abi.h).

#include <exception>
#include <span>
#include <vector>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/deep/network_abi.h"

namespace coterie::internal {

/// Who has which items of a batch, and what the processes tell each other while it is in the network.
class SharedPass {
public:
    SharedPass(Communicator& communicator, const RowBlocks& items);
    SharedPass(const SharedPass&) = delete;
    SharedPass& operator=(const SharedPass&) = delete;

    /// This process' items; none where there are fewer blocks than processes.
    Range own() const;
    /// For forward(), as long as this object lives.
    const coterie_sharing& sharing() const { return sharing_; }
    /// Work of all processes in which the functions of sharing() are called, each by all of them in the same order.
    /// What one throws all throw, as of together(), whether the others wait for it there or have ended.
    void run(FunctionRef<void()> work);
    /// Rows of each process' own items, to all.
    void gather(std::span<float> rows, Index columns);

private:
    std::int32_t call(FunctionRef<void()> exchange);
    /// Bytes of `all` from borders[p] * size to borders[p + 1] * size are process p's; all get them.
    void spread(std::span<std::byte> all, const std::vector<Index>& borders, std::size_t size);
    void add(const float* const* sums, Index count, float* total);

    Communicator& communicator_;
    RowBlocks items_;
    std::vector<int> owner_;     // of each block
    std::vector<Index> blocks_;  // the first one of each process, and one more
    std::vector<char> whole_;    // for each block: whether it begins a node that a process hands over
    coterie_sharing sharing_{};
    std::exception_ptr error_;  // of an exchange
};

}  // namespace coterie::internal
