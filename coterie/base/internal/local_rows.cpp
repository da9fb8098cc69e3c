// Every process knows who holds and who works on which rows, so that nothing need be asked for: pairs of processes
// exchange what they share in one order on all of them, in which nobody waits for a message that waits for another.

#include "coterie/base/internal/local_rows.hpp"

#include <algorithm>
#include <cstring>

#include "coterie/base/internal/together.hpp"
#include "coterie/base/memory.hpp"

namespace coterie::internal {
namespace {

// The rows `wanted[rank]`, of `width` bytes each, from the processes that have them: `have` says which each has, `own`
// are this one's.
std::vector<std::byte> exchanged(const std::vector<Range>& have, const std::vector<Range>& wanted, const std::byte* own,
                                 std::size_t width, Communicator& communicator) {
    const auto me = static_cast<std::size_t>(communicator.rank());
    std::vector<std::byte> out(static_cast<std::size_t>(wanted[me].count()) * width);
    for (std::size_t from = 0; from < have.size(); ++from)
        for (std::size_t to = 0; to < wanted.size(); ++to) {
            const Index begin = std::max(have[from].begin, wanted[to].begin);
            const Index end = std::min(have[from].end, wanted[to].end);
            if (begin >= end || (from != me && to != me)) continue;
            const std::size_t bytes = static_cast<std::size_t>(end - begin) * width;
            const auto behind = [&](const Range& first) {
                return static_cast<std::size_t>(begin - first.begin) * width;
            };
            if (from != to && from == me)
                communicator.send({own + behind(have[me]), bytes}, static_cast<int>(to));
            else if (from != to)
                communicator.receive({out.data() + behind(wanted[me]), bytes}, static_cast<int>(from));
            else
                std::copy_n(own + behind(have[me]), bytes, out.data() + behind(wanted[me]));
        }
    return out;
}

struct Shape {
    Index rows, columns;
    int type;
};

}  // namespace

LocalRows::LocalRows(PointsView held, Communicator& communicator) : communicator_(communicator) {
    const std::vector<Shape> shapes =
        gather(communicator, std::vector<Shape>{{held.rows(), held.columns(), static_cast<int>(held.scalar())}});
    const Shape* first = &shapes[0];
    for (const Shape& shape : shapes) {
        held_.push_back({rows_, rows_ + shape.rows});
        rows_ += shape.rows;
        if (first->rows == 0) first = &shape;
        if (shape.rows == 0 || (shape.columns == first->columns && shape.type == first->type)) continue;
        const auto text = [](const Shape& of) {
            return std::to_string(of.columns) + " columns of " + std::string(name(static_cast<ScalarType>(of.type)));
        };
        throw BadArgument("points: process " + std::to_string(&shape - shapes.data()) + " holds rows with " +
                          text(shape) + ", process " + std::to_string(first - shapes.data()) + " with " + text(*first));
    }
    columns_ = first->columns;
    scalar_ = static_cast<ScalarType>(first->type);
    worked_ = gather(communicator, std::vector<Range>{own_rows(grid_of(rows_, columns_), communicator)});
    const std::size_t width = static_cast<std::size_t>(columns_) * size_of(scalar_);
    const auto me = static_cast<std::size_t>(communicator.rank());
    std::vector<std::byte> copy;  // where the part does not lie row by row
    together(communicator, [&] {
        const bool packed = held.resident() && (held.stride() == held.columns() || held.rows() < 2);
        const auto bytes = [&](const Range& of) {
            return static_cast<double>(of.count()) * static_cast<double>(width);
        };
        require_memory(bytes(worked_[me]) + (packed ? 0.0 : bytes(held_[me])), "the rows that a process works on");
        if (packed || held.rows() == 0) return;
        copy.resize(static_cast<std::size_t>(held.rows()) * width);
        RowBuffer buffer;
        const RowBlocks grid = grid_of(held);
        for (Index block = 0; block < grid.count(); ++block) {
            const PointsView some = held.block(grid.begin(block), grid.end(block), buffer);
            for (Index row = 0; row < some.rows(); ++row)
                std::memcpy(copy.data() + static_cast<std::size_t>(grid.begin(block) + row) * width,
                            static_cast<const std::byte*>(some.data()) +
                                static_cast<std::size_t>(row * some.stride()) * size_of(scalar_),
                            width);
        }
    });
    const auto* const own = copy.empty() ? static_cast<const std::byte*>(held.data()) : copy.data();
    own_ = exchanged(held_, worked_, own, width, communicator);
}

const void* LocalRows::in_memory(Index begin, Index end) const {
    const Range& own = worked_[static_cast<std::size_t>(communicator_.rank())];
    if (begin < own.begin || end > own.end) return nullptr;
    return own_.data() + static_cast<std::size_t>((begin - own.begin) * columns_) * size_of(scalar_);
}

void LocalRows::read(Index begin, Index end, void* to) const {
    const void* const from = in_memory(begin, end);
    if (from == nullptr) throw InternalError("rows that another process works on were read");
    std::memcpy(to, from, static_cast<std::size_t>((end - begin) * columns_) * size_of(scalar_));
}

Labels LocalRows::to_holders(const Labels& own) const {
    const auto bytes = exchanged(worked_, held_, reinterpret_cast<const std::byte*>(own.data()),
                                 sizeof(Labels::value_type), communicator_);
    Labels out(bytes.size() / sizeof(Labels::value_type));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

}  // namespace coterie::internal
