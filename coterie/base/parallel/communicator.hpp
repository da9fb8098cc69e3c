#pragma once
// The processes that work on one fit together, all by the same program (SPMD): each calls the same functions in the
// same order. One process is the default; Open MPI, mpi4py or torch.distributed come in by deriving from this class.

#include <cstddef>
#include <span>

#include "coterie/base/export.hpp"

namespace coterie {

class COTERIE_API Communicator {
public:
    virtual ~Communicator() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }
    /// How many of the processes share this machine's memory.
    virtual int processes_here() const { return size(); }
    /// Hands bytes to process `to`, which receives as many. Messages of one process to another arrive in their order.
    virtual void send(std::span<const std::byte> bytes, int to);
    virtual void receive(std::span<std::byte> bytes, int from);

    // By default made of send and receive.
    /// Replaces `bytes` on every process by those of process `root`.
    virtual void broadcast(std::span<std::byte> bytes, int root);
    /// The largest of the processes' values, on all of them.
    virtual int highest(int value);
};

}  // namespace coterie
