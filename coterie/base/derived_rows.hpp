#pragma once
// Rows that are computed from the rows of another source when they are read, such as prepared points.

#include <memory>
#include <utility>

#include "coterie/base/memory.hpp"
#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Points that derive(PointsView rows, Index first, void* to) computes from the rows of `from`, which must not be
/// resident. derive writes `columns` numbers per row, of the same scalar type as `from`. `first` is the number of the
/// first row. Several threads may call derive at once.
template <class Derive>
Points derived_rows(const Points& from, Index columns, Derive derive) {
    class Derived : public RowSource {
    public:
        Derived(Points from, Index columns, Derive derive)
            : from_(std::move(from)), columns_(columns), derive_(std::move(derive)) {}
        Index rows() const override { return from_.rows(); }
        Index columns() const override { return columns_; }
        ScalarType scalar() const override { return from_.scalar(); }
        void read(Index begin, Index end, void* to) const override {
            // With the same number of columns, derive works in place.
            if (from_.columns() == columns_) {
                from_.view().source()->read(begin, end, to);
                from_.view().with_scalar([&]<class Scalar>() {
                    derive_(PointsView(static_cast<const Scalar*>(to), end - begin, columns_), begin, to);
                });
                return;
            }
            thread_local RowBuffer buffer;
            derive_(from_.view().block(begin, end, buffer), begin, to);
        }
        void expect(Index begin, Index end) const override { from_.view().source()->expect(begin, end); }

    private:
        Points from_;
        Index columns_;
        Derive derive_;
    };
    return Points(std::make_shared<const Derived>(from, columns, std::move(derive)));
}

/// The same for any dense points. Points in memory are computed now, after a check of the memory for `copy`.
template <class Derive>
Points derived_copy(const Points& from, Index columns, std::string_view copy, Derive derive) {
    if (!from.resident()) return derived_rows(from, columns, std::move(derive));
    require_memory(double_product(from.rows(), columns, size_of(from.scalar())), copy);
    return from.view().with_scalar([&]<class Scalar>() {
        Matrix<Scalar> out(from.rows(), columns);
        derive(from.view(), 0, out.data());
        return Points(std::move(out));
    });
}

}  // namespace coterie::internal
