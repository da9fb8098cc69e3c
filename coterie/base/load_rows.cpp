// Copies rows from a source into memory, block by block: all rows if a method needs them there, otherwise this
// process's own rows, so that they are read once and not in every pass.

#include "coterie/base/load_rows.hpp"

#include <algorithm>
#include <utility>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/local_rows.hpp"
#include "coterie/base/sparse_points.hpp"

namespace coterie {
namespace {

// Copies this process's rows, which are those of `range`, one after another.
template <class Scalar>
void copy_rows(const Points& points, internal::Range range, Scalar* to, const Run& run) {
    internal::for_each_row_block<Scalar>(
        points, run, {.name = "reading"}, [&](const internal::RowBlock<Scalar>& block, int) {
            const Index columns = points.columns();
            std::copy_n(block.rows.data, block.rows.rows * columns, to + (block.first - range.begin) * columns);
        });
}

// A source that holds some of its rows in memory.
template <class Scalar>
class HeldRows : public RowSource {
public:
    HeldRows(Points points, internal::Range range, Matrix<Scalar> held)
        : points_(std::move(points)), range_(range), held_(std::move(held)) {}
    Index rows() const override { return points_.rows(); }
    Index columns() const override { return points_.columns(); }
    ScalarType scalar() const override { return points_.scalar(); }
    void read(Index begin, Index end, void* to) const override {
        if (const void* there = in_memory(begin, end))
            std::copy_n(static_cast<const Scalar*>(there), (end - begin) * columns(), static_cast<Scalar*>(to));
        else
            points_.view().source()->read(begin, end, to);
    }
    const void* in_memory(Index begin, Index end) const override {
        if (begin < range_.begin || end > range_.end) return nullptr;
        return held_.data() + (begin - range_.begin) * columns();
    }
    void expect(Index begin, Index end) const override {
        if (in_memory(begin, end) == nullptr) points_.view().source()->expect(begin, end);
    }

private:
    Points points_;
    internal::Range range_;
    Matrix<Scalar> held_;
};

}  // namespace

Points load(const Points& points, std::string_view what, const Run& run) {
    if (points.resident()) return points;
    require_memory(static_cast<double>(points.rows()) * static_cast<double>(points.columns()) *
                       static_cast<double>(size_of(points.scalar())),
                   what);
    return points.view().with_scalar([&]<class Scalar>() {
        Matrix<Scalar> out(points.rows(), points.columns());
        copy_rows(points, {0, points.rows()}, out.data(), run.alone());
        return Points(std::move(out));
    });
}

Points hold_own_rows(const Points& points, const Run& run) {
    if (points.resident() || as_sparse(points) != nullptr) return points;
    if (dynamic_cast<const internal::LocalRows*>(points.view().source()) != nullptr)
        return points;  // it holds them already
    const internal::Range own = internal::own_rows(points, run);
    const double bytes = static_cast<double>(own.count()) * static_cast<double>(points.columns()) *
                         static_cast<double>(size_of(points.scalar()));
    const auto available = static_cast<double>(available_memory()) / run.communicator().processes_here();
    // All processes make the same decision. Otherwise one would read its rows in every pass while the others wait.
    const int short_of_memory = available > 0 && bytes > available / 2 ? 1 : 0;
    if (run.communicator().highest(short_of_memory) != 0) return points;
    if (run.communicator().size() == 1) return load(points, "the points", run);
    // All processes call copy_rows, also those without own rows, because each waits for the outcome of the others.
    return points.view().with_scalar([&]<class Scalar>() {
        Matrix<Scalar> held(own.count(), points.columns());
        copy_rows(points, own, held.data(), run);
        return Points(std::make_shared<const HeldRows<Scalar>>(points, own, std::move(held)));
    });
}

}  // namespace coterie
