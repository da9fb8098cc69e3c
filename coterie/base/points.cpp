// Rows in memory are used in place; rows of a source are read into the caller's buffer. A buffer keeps its memory from
// block to block, so a pass over any number of rows needs memory for one block per thread.

#include "coterie/base/points.hpp"

#include <algorithm>
#include <new>
#include <numeric>

namespace coterie {
namespace {

using internal::at;

constexpr std::align_val_t cache_line{64};
}  // namespace

void* RowBuffer::reserve(std::size_t bytes) {
    if (bytes > bytes_) {
        memory_.reset();
        memory_.reset(::operator new(bytes, cache_line));
        bytes_ = bytes;
    }
    return memory_.get();
}

void RowBuffer::Free::operator()(void* memory) const { ::operator delete(memory, cache_line); }

PointsView PointsView::block(Index begin, Index end, RowBuffer& buffer) const {
    return with_scalar([&]<class Scalar>() -> PointsView {
        if (source_ == nullptr) return Rows<Scalar>{as<Scalar>().row(begin), end - begin, columns_, stride_};
        if (const void* there = source_->in_memory(begin, end))
            return Rows<Scalar>{static_cast<const Scalar*>(there), end - begin, columns_, columns_};
        void* const memory = buffer.reserve(internal::at((end - begin) * columns_) * sizeof(Scalar));
        source_->read(begin, end, memory);
        return Rows<Scalar>{static_cast<const Scalar*>(memory), end - begin, columns_, columns_};
    });
}

Points rows_of(PointsView points, std::span<const Index> rows) {
    return points.with_scalar([&]<class Scalar>() {
        Matrix<Scalar> out(static_cast<Index>(rows.size()), points.columns());
        if (points.resident()) {
            const auto from = points.as<Scalar>();
            for (Index i = 0; i < out.rows(); ++i)
                std::copy_n(from.row(rows[at(i)]), from.columns, out.data() + i * from.columns);
            return Points(std::move(out));
        }
        // Reads in the order of the source, which may differ from the requested order.
        std::vector<std::size_t> order(rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
        for (const std::size_t i : order)
            points.source()->read(rows[i], rows[i] + 1, out.data() + static_cast<Index>(i) * points.columns());
        return Points(std::move(out));
    });
}

}  // namespace coterie
