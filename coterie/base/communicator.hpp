#pragma once
// The processes that work on one fit together. One process is the default; a distributed back end derives from this
// class.

#include <span>

#include "coterie/base/export.hpp"

namespace coterie {

class COTERIE_API Communicator {
public:
    virtual ~Communicator() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }
    /// Replaces `values` by their sum over all processes, added in rank order; the same bits everywhere.
    virtual void all_reduce_sum(std::span<double> values) { (void)values; }
    /// Replaces `values` by those of process `root`.
    virtual void broadcast(std::span<double> values, int root) {
        (void)values;
        (void)root;
    }
};

}  // namespace coterie
