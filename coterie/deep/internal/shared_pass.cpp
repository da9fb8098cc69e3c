// Before each exchange, and at the end of run(), all processes agree on whether one of them has failed. A process that
// has failed takes part in the next agreement of the others. So no process waits for it.
//
// Sums: each process adds an equal part of the numbers and sends the result to all. So a process sends the numbers of
// its nodes and those of the sum once, for any number of processes. The order of additions depends only on the number
// of blocks.

#include "coterie/deep/internal/shared_pass.hpp"

#include <algorithm>

#include "coterie/base/matrix.hpp"
#include "coterie/base/parallel/collective.hpp"

namespace coterie::deep::internal {
namespace {

// Calls f(left, right, end), from lower to higher levels: it combines the nodes that begin at the blocks `left` and
// `right` into one node, which ends before block `end`.
template <class F>
void for_each_pair(Index blocks, F&& f) {
    for (Index step = 1; step < blocks; step *= 2)
        for (Index left = 0; left + step < blocks; left += 2 * step)
            f(left, left + step, std::min(left + 2 * step, blocks));
}

SharedPass& pass_of(void* context) { return *static_cast<SharedPass*>(context); }

}  // namespace

SharedPass::SharedPass(Communicator& communicator, const RowBlocks& items)
    : communicator_(communicator), items_(items), whole_(at(items.count()), 1) {
    for (Index block = 0; block < items.count(); ++block) owner_.push_back(process_of(block, items, communicator));
    for (int process = 0; process <= communicator.size(); ++process)
        blocks_.push_back(std::lower_bound(owner_.begin(), owner_.end(), process) - owner_.begin());
    for_each_pair(items.count(), [&](Index left, Index right, Index end) {
        if (owner_[at(left)] == owner_[at(end - 1)]) whole_[at(right)] = 0;
    });
    sharing_.items = items.rows;
    sharing_.first = own().begin;
    sharing_.context = this;
    sharing_.gather = [](void* context, double* numbers, std::int64_t count) {
        SharedPass& pass = pass_of(context);
        return pass.call([&] {
            agree(pass.communicator_, nullptr);
            const std::span<double> all(numbers, at(count * pass.items_.count()));
            pass.spread(std::as_writable_bytes(all), pass.blocks_, sizeof(double) * at(count));
        });
    };
    sharing_.add = [](void* context, const float* const* sums, std::int64_t count, float* total) {
        return pass_of(context).call([&] { pass_of(context).add(sums, count, total); });
    };
}

Range SharedPass::own() const {
    const auto rank = at(communicator_.rank());
    return {std::min(items_.rows, items_.begin(blocks_[rank])), std::min(items_.rows, items_.begin(blocks_[rank + 1]))};
}

void SharedPass::run(FunctionRef<void()> work) {
    std::exception_ptr own;
    try {
        work();
    } catch (const std::exception&) {
        own = std::current_exception();
    }
    if (!error_) call([&] { agree(communicator_, own); });  // otherwise all processes know of the error
    if (error_) std::rethrow_exception(error_);
}

void SharedPass::gather(std::span<float> rows, Index columns) {
    std::vector<Index> borders;
    for (const Index block : blocks_) borders.push_back(std::min(items_.rows, items_.begin(block)));
    spread(std::as_writable_bytes(rows), borders, sizeof(float) * at(columns));
}

std::int32_t SharedPass::call(FunctionRef<void()> exchange) {
    try {
        exchange();
        return 0;
    } catch (...) {
        error_ = std::current_exception();
        return 1;
    }
}

void SharedPass::spread(std::span<std::byte> all, const std::vector<Index>& borders, std::size_t size) {
    for (int process = 0; process < communicator_.size(); ++process) {
        const std::size_t begin = at(borders[at(process)]) * size, end = at(borders[at(process) + 1]) * size;
        if (begin < end) communicator_.broadcast(all.subspan(begin, end - begin), process);
    }
}

void SharedPass::add(const float* const* sums, Index count, float* total) {
    const int size = communicator_.size(), rank = communicator_.rank();
    std::vector<Index> parts;  // boundaries of the numbers that each process adds
    std::vector<std::vector<float>> nodes(owner_.size());
    together(communicator_, [&] {
        for (Index process = 0; process <= size; ++process) parts.push_back(count * process / size);
        for (std::size_t block = 0; block < nodes.size(); ++block)
            if (whole_[block]) nodes[block].resize(at(parts[at(rank) + 1] - parts[at(rank)]));
    });
    const auto for_each_node = [&](int process, auto&& f) {
        for (Index block = blocks_[at(process)]; block < blocks_[at(process) + 1]; ++block)
            if (whole_[at(block)]) f(block);
    };
    const auto own_part = [&](Index block, int process) {
        return std::span(sums[block - blocks_[at(rank)]], at(count))
            .subspan(at(parts[at(process)]), at(parts[at(process) + 1] - parts[at(process)]));
    };
    for_each_node(rank, [&](Index block) {
        const auto own = own_part(block, rank);
        std::copy(own.begin(), own.end(), nodes[at(block)].begin());
    });
    const auto send = [&](int to) {
        for_each_node(rank, [&](Index block) { communicator_.send(std::as_bytes(own_part(block, to)), to); });
    };
    const auto receive = [&](int from) {
        for_each_node(from, [&](Index block) {
            communicator_.receive(std::as_writable_bytes(std::span(nodes[at(block)])), from);
        });
    };
    // In each round every process has at most one partner.
    for (int round = 0; round < size; ++round) {
        const int partner = (round - rank + size) % size;
        if (partner > rank) send(partner);
        if (partner != rank) receive(partner);
        if (partner < rank) send(partner);
    }
    for_each_pair(items_.count(), [&](Index left, Index right, Index end) {
        if (owner_[at(left)] == owner_[at(end - 1)]) return;  // the process that has both computes this node
        std::vector<float>& sum = nodes[at(left)];
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += nodes[at(right)][i];
    });
    std::copy(nodes[0].begin(), nodes[0].end(), total + parts[at(rank)]);
    spread(std::as_writable_bytes(std::span(total, at(count))), parts, sizeof(float));
}

}  // namespace coterie::deep::internal
