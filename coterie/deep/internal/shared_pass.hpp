#pragma once
// Internal: the pass of a batch through a network, shared by several processes (coterie_sharing of network_abi.h).

#include <exception>
#include <span>
#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/deep/network_abi.h"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// Which process has which items of a batch, and the exchanges between processes during the pass.
class SharedPass {
public:
    SharedPass(Communicator& communicator, const RowBlocks& items);
    SharedPass(const SharedPass&) = delete;
    SharedPass& operator=(const SharedPass&) = delete;

    /// This process's items; none if there are fewer blocks than processes.
    Range own() const;
    /// The argument for forward(). It is valid as long as this object lives.
    const coterie_sharing& sharing() const { return sharing_; }
    /// Runs `work` on all processes. `work` calls the functions of sharing() in the same order on every process. If one
    /// process throws, all throw, as in together(), even if the others wait in such a function or have finished `work`.
    void run(FunctionRef<void()> work);
    /// Sends the rows of each process's own items to all processes.
    void gather(std::span<float> rows, Index columns);

private:
    std::int32_t call(FunctionRef<void()> exchange);
    /// Process p sends the bytes of `all` from borders[p] * size to borders[p + 1] * size to all processes.
    void spread(std::span<std::byte> all, const std::vector<Index>& borders, std::size_t size);
    void add(const float* const* sums, Index count, float* total);

    Communicator& communicator_;
    RowBlocks items_;
    std::vector<int> owner_;     // of each block
    std::vector<Index> blocks_;  // first block of each process, and the total
    std::vector<char> whole_;    // for each block: whether a process sends a node that begins with it
    coterie_sharing sharing_{};
    std::exception_ptr error_;  // of an exchange
};

}  // namespace coterie::deep::internal
