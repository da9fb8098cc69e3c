// Every process knows which rows each process holds and works on, so no process sends requests. All processes go
// through the pairs of processes in the same order; a pair exchanges the rows that one holds and the other works on.
// Because of the common order, messages never wait for each other in a circle.

#include "coterie/base/parallel/local_rows.hpp"

#include <algorithm>
#include <cstring>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/same_work.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {

Index count_of(const std::vector<Range>& ranges) {
    Index out = 0;
    for (const Range& range : ranges) out += range.count();
    return out;
}

using Places = std::vector<std::vector<Range>>;  // for each process, the ranges of its rows, in memory order

// Fetches the rows `wanted[rank]`, of `width` bytes each, from the processes that have them. `have` lists the rows of
// each process; `own` are the rows of this one.
std::vector<std::byte> exchanged(const Places& have, const Places& wanted, const std::byte* own, std::size_t width,
                                 Communicator& communicator) {
    const auto me = at(communicator.rank());
    std::vector<std::byte> out(at(count_of(wanted[me])) * width);
    for (std::size_t from = 0; from < have.size(); ++from)
        for (std::size_t to = 0; to < wanted.size(); ++to) {
            if (from != me && to != me) continue;
            Index sent = 0;  // rows of `from` that lie before this range in its memory
            for (const Range& source : have[from]) {
                Index taken = 0;
                for (const Range& target : wanted[to]) {
                    const Index begin = std::max(source.begin, target.begin), end = std::min(source.end, target.end);
                    if (begin < end) {
                        const std::size_t bytes = at(end - begin) * width;
                        const std::byte* const there = own + at(sent + begin - source.begin) * width;
                        std::byte* const here = out.data() + at(taken + begin - target.begin) * width;
                        if (from != me)
                            communicator.receive({here, bytes}, static_cast<int>(from));
                        else if (to != me)
                            communicator.send({there, bytes}, static_cast<int>(to));
                        else
                            std::copy_n(there, bytes, here);
                    }
                    taken += target.count();
                }
                sent += source.count();
            }
        }
    return out;
}

// The ranges of every process, on every process.
Places told(const std::vector<Range>& own, Communicator& communicator) {
    const std::vector<std::size_t> counts = gather(communicator, std::vector<std::size_t>{own.size()});
    const std::vector<Range> all = gather(communicator, own);
    Places out;
    auto next = all.begin();
    for (const std::size_t count : counts) {
        out.emplace_back(next, next + static_cast<std::ptrdiff_t>(count));
        next += static_cast<std::ptrdiff_t>(count);
    }
    return out;
}

struct Shape {
    Index rows, columns;
    int type;
};

}  // namespace

LocalRows::LocalRows(PointsView held, Communicator& communicator, const std::vector<Range>& places)
    : communicator_(communicator) {
    require_same_work(Work("join the rows of the processes"), communicator);
    const std::vector<Shape> shapes =
        gather(communicator, std::vector<Shape>{{held.rows(), held.columns(), static_cast<int>(held.scalar())}});
    held_ = told(places, communicator);
    const bool placed = std::any_of(held_.begin(), held_.end(), [](const auto& ranges) { return !ranges.empty(); });
    const Shape* first = &shapes[0];
    for (const Shape& shape : shapes) {
        const auto process = at(&shape - shapes.data());
        if (!placed) held_[process] = {{rows_, rows_ + shape.rows}};
        rows_ += shape.rows;
        if (count_of(held_[process]) != shape.rows)
            throw BadArgument(Code::wrong_shape,
                              filled("process {} holds {}, but its places cover {}", process,
                                     counted(shape.rows, "row"), count_of(held_[process])),
                              "", {.option = "points"});
        if (first->rows == 0) first = &shape;
        if (shape.rows == 0 || (shape.columns == first->columns && shape.type == first->type)) continue;
        const auto text = [](const Shape& of) {
            return filled("{} columns of {}", of.columns, name(static_cast<ScalarType>(of.type)));
        };
        throw BadArgument(Code::wrong_shape,
                          filled("process {} holds rows with {}, process {} with {}", process, text(shape),
                                 first - shapes.data(), text(*first)),
                          "", {.option = "points"});
    }
    std::vector<Range> all;
    for (const auto& ranges : held_) all.insert(all.end(), ranges.begin(), ranges.end());
    std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;  // empty ones first
    });
    Index next = 0;
    for (const Range& range : all) {
        if (range.begin != next || range.end < next)
            throw BadArgument(Code::wrong_shape,
                              filled("the places leave a gap or overlap between rows {} and {}", next, range.begin), "",
                              {.option = "points"});
        next = range.end;
    }
    columns_ = first->columns;
    scalar_ = static_cast<ScalarType>(first->type);
    worked_ = told({own_rows(grid_of(rows_, columns_), communicator)}, communicator);
    const std::size_t width = at(columns_) * size_of(scalar_);
    const auto me = at(communicator.rank());
    std::vector<std::byte> copy;  // used if the rows of the part are not contiguous
    together(communicator, [&] {
        const bool packed = held.resident() && (held.stride() == held.columns() || held.rows() < 2);
        const auto bytes = [&](const std::vector<Range>& of) {
            return static_cast<double>(count_of(of)) * static_cast<double>(width);
        };
        require_memory(bytes(worked_[me]) + (packed ? 0.0 : bytes(held_[me])), "the rows that a process works on");
        if (packed || held.rows() == 0) return;
        copy.resize(at(held.rows()) * width);
        RowBuffer buffer;
        const RowBlocks grid = grid_of(held);
        for (Index block = 0; block < grid.count(); ++block) {
            const PointsView some = held.block(grid.begin(block), grid.end(block), buffer);
            for (Index row = 0; row < some.rows(); ++row)
                std::memcpy(copy.data() + at(grid.begin(block) + row) * width,
                            static_cast<const std::byte*>(some.data()) + at(row * some.stride()) * size_of(scalar_),
                            width);
        }
    });
    const auto* const own = copy.empty() ? static_cast<const std::byte*>(held.data()) : copy.data();
    own_ = exchanged(held_, worked_, own, width, communicator);
}

const void* LocalRows::in_memory(Index begin, Index end) const {
    const Range& own = worked_[at(communicator_.rank())].front();
    if (begin < own.begin || end > own.end) return nullptr;
    return own_.data() + at((begin - own.begin) * columns_) * size_of(scalar_);
}

void LocalRows::read(Index begin, Index end, void* to) const {
    if (begin == end) return;
    const void* const from = in_memory(begin, end);
    if (from == nullptr) throw InternalError("rows that another process works on were read");
    std::memcpy(to, from, at((end - begin) * columns_) * size_of(scalar_));
}

Labels LocalRows::to_holders(const Labels& own) const {
    const auto bytes = exchanged(worked_, held_, reinterpret_cast<const std::byte*>(own.data()),
                                 sizeof(Labels::value_type), communicator_);
    Labels out(bytes.size() / sizeof(Labels::value_type));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

}  // namespace coterie::internal
