#pragma once
// The processes that work on one fit. All run the same program (SPMD): each calls the same functions in the same order.
// This class itself is one process alone. Derive from it to use Open MPI, mpi4py or torch.distributed.

#include <cstddef>
#include <span>

#include "coterie/base/export.hpp"

namespace coterie {

class COTERIE_API Communicator {
public:
    virtual ~Communicator() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }
    /// How many of the processes run on this machine and share its memory.
    virtual int processes_here() const { return size(); }
    /// Sends bytes to process `to`, which must receive the same number of bytes. Messages from one process to another
    /// arrive in the order in which they were sent.
    virtual void send(std::span<const std::byte> bytes, int to);
    virtual void receive(std::span<std::byte> bytes, int from);

    // broadcast and highest use send and receive, unless they are overridden.
    /// Replaces `bytes` on every process by the bytes of process `root`.
    virtual void broadcast(std::span<std::byte> bytes, int root);
    /// The largest of the processes' values, on every process.
    virtual int highest(int value);
};

}  // namespace coterie
