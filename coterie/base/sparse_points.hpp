#pragma once
// Sparse points: n rows of d numbers, of which few are not 0 (for example word counts), stored as compressed sparse
// rows. Their memory depends on the number of entries, not on n d.
//
//   const auto points = Points(std::make_shared<const SparsePoints>(n, d, starts, columns_of, values, storage));
//
// Methods that support them (Takes::sparse) use only the entries. All other code uses them as a RowSource, which writes
// a few rows at a time, including zeros.

#include <memory>
#include <span>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/sparse_row.hpp"

namespace coterie {

class COTERIE_API SparsePoints : public RowSource {
public:
    /// Row i consists of entries starts[i] to starts[i + 1] - 1 of `columns_of` and `values`; there are rows + 1
    /// starts. Number is std::int32_t or std::int64_t. The arrays are borrowed; `storage` keeps them alive. Throws
    /// BadData that names the row unless `starts` ascends and stays within the entries, and unless the columns of each
    /// row strictly ascend and are in 0..columns-1.
    template <class Number, class Scalar>
    SparsePoints(Index rows, Index columns, std::span<const Number> starts, std::span<const Number> columns_of,
                 std::span<const Scalar> values, std::shared_ptr<const void> storage);

    Index rows() const override { return rows_; }
    Index columns() const override { return columns_; }
    ScalarType scalar() const override { return scalar_; }
    void read(Index begin, Index end, void* to) const override;

    /// Number of stored entries.
    Index entries() const { return start(rows_) - start(0); }

    /// Scalar must match scalar().
    template <class Scalar>
    SparseRow<Scalar> row(Index i) const {
        const Index begin = start(i);
        SparseRow<Scalar> out;
        out.values = static_cast<const Scalar*>(values_) + (begin - first_value_);
        if (wide_)
            out.wide = static_cast<const std::int64_t*>(columns_of_) + begin;
        else
            out.narrow = static_cast<const std::int32_t*>(columns_of_) + begin;
        out.count = start(i + 1) - begin;
        return out;
    }
    /// The values of all entries, row after row.
    template <class Scalar>
    std::span<const Scalar> values() const {
        return {static_cast<const Scalar*>(values_) + (start(0) - first_value_), static_cast<std::size_t>(entries())};
    }

    /// Rows begin..end-1, in the same memory.
    SparsePoints slice(Index begin, Index end) const;
    /// Copies of some rows, in the given order.
    SparsePoints subset(std::span<const Index> rows) const;
    /// The same rows with other values at the same positions, one per entry.
    template <class Scalar>
    SparsePoints with_values(std::vector<Scalar> values) const;

private:
    SparsePoints() = default;
    Index start(Index i) const {
        return wide_ ? static_cast<Index>(static_cast<const std::int64_t*>(starts_)[i])
                     : static_cast<Index>(static_cast<const std::int32_t*>(starts_)[i]);
    }

    Index rows_ = 0;
    Index columns_ = 0;
    const void* starts_ = nullptr;
    const void* columns_of_ = nullptr;
    const void* values_ = nullptr;
    Index first_value_ = 0;  // number of the entry to which values_[0] belongs
    bool wide_ = false;      // starts and columns have 64 bits
    ScalarType scalar_ = ScalarType::float64;
    std::shared_ptr<const void> storage_;
};

/// The points as sparse points; nullptr if they are dense.
COTERIE_API const SparsePoints* as_sparse(PointsView points);

}  // namespace coterie
