// The constructor checks everything once, so loops over entries need no checks. Only this class knows whether starts
// and columns have 32 or 64 bits; it tests this once per row.

#include "coterie/base/sparse_points.hpp"

#include <algorithm>
#include <string>

#include "coterie/base/text.hpp"

namespace coterie {

using internal::at;
using internal::filled;

template <class Number, class Scalar>
SparsePoints::SparsePoints(Index rows, Index columns, std::span<const Number> starts,
                           std::span<const Number> columns_of, std::span<const Scalar> values,
                           std::shared_ptr<const void> storage)
    : rows_(rows),
      columns_(columns),
      starts_(starts.data()),
      columns_of_(columns_of.data()),
      values_(values.data()),
      wide_(sizeof(Number) == sizeof(std::int64_t)),
      scalar_(scalar_type_of<Scalar>()),
      storage_(std::move(storage)) {
    const auto refuse = [](Code code, const std::string& problem, std::optional<std::int64_t> row = {}) {
        throw BadData(code, "sparse matrix: " + problem, "", {.option = "points", .row = row});
    };
    if (rows < 0 || columns < 0) refuse(Code::wrong_shape, "rows and columns must not be negative");
    if (starts.size() != at(rows) + 1)
        refuse(Code::wrong_shape,
               filled("{} row starts; {} are needed, one per row and one for the end", starts.size(), rows + 1));
    if (columns_of.size() != values.size())
        refuse(Code::wrong_shape, filled("{} column numbers for {} values", columns_of.size(), values.size()));
    if (starts.front() < 0 || static_cast<std::size_t>(starts.back()) > values.size())
        refuse(Code::malformed, filled("the rows begin at entry {} and end at entry {}, but there are {} entries",
                                       starts.front(), starts.back(), values.size()));
    for (Index i = 0; i < rows; ++i) {
        const auto begin = starts[at(i)];
        const auto end = starts[at(i) + 1];
        if (begin > end || static_cast<std::size_t>(end) > values.size())
            refuse(Code::malformed, filled("the row begins at entry {} and ends at {}", begin, end), i + 1);
        for (Number e = begin; e < end; ++e) {
            const Number column = columns_of[static_cast<std::size_t>(e)];
            if (column < 0 || static_cast<Index>(column) >= columns)
                refuse(Code::out_of_range, filled("column number {} is not from 0 to {}", column, columns - 1), i + 1);
            if (e > begin && column <= columns_of[static_cast<std::size_t>(e) - 1])
                refuse(Code::malformed,
                       filled("column number {} follows {}; the columns of a row must ascend without repeats", column,
                              columns_of[static_cast<std::size_t>(e) - 1]),
                       i + 1);
        }
    }
}

void SparsePoints::read(Index begin, Index end, void* to) const {
    with_scalar(scalar_, [&]<class Scalar>() {
        auto* out = static_cast<Scalar*>(to);
        std::fill_n(out, (end - begin) * columns_, Scalar(0));
        for (Index i = begin; i < end; ++i, out += columns_) {
            const SparseRow<Scalar> row = this->row<Scalar>(i);
            for (Index e = 0; e < row.count; ++e) out[row.column(e)] = row.values[e];
        }
    });
}

SparsePoints SparsePoints::slice(Index begin, Index end) const {
    SparsePoints out = *this;
    out.rows_ = end - begin;
    out.starts_ = wide_ ? static_cast<const void*>(static_cast<const std::int64_t*>(starts_) + begin)
                        : static_cast<const void*>(static_cast<const std::int32_t*>(starts_) + begin);
    return out;
}

SparsePoints SparsePoints::subset(std::span<const Index> rows) const {
    struct OwnEntries {
        std::vector<std::int64_t> starts = {0};
        std::vector<std::int64_t> columns_of;
    } own;
    own.starts.reserve(rows.size() + 1);
    return with_scalar(scalar_, [&]<class Scalar>() {
        std::vector<Scalar> values;
        for (const Index i : rows) {
            const SparseRow<Scalar> row = this->row<Scalar>(i);
            for (Index e = 0; e < row.count; ++e) own.columns_of.push_back(row.column(e));
            values.insert(values.end(), row.values, row.values + row.count);
            own.starts.push_back(static_cast<std::int64_t>(values.size()));
        }
        const auto storage =
            std::make_shared<const std::pair<OwnEntries, std::vector<Scalar>>>(std::move(own), std::move(values));
        SparsePoints out;
        out.rows_ = static_cast<Index>(rows.size());
        out.columns_ = columns_;
        out.starts_ = storage->first.starts.data();
        out.columns_of_ = storage->first.columns_of.data();
        out.values_ = storage->second.data();
        out.wide_ = true;
        out.scalar_ = scalar_;
        out.storage_ = storage;
        return out;
    });
}

template <class Scalar>
SparsePoints SparsePoints::with_values(std::vector<Scalar> values) const {
    if (static_cast<Index>(values.size()) != entries()) throw InternalError("sparse points: a value per entry");
    const auto storage = std::make_shared<const std::pair<std::shared_ptr<const void>, std::vector<Scalar>>>(
        storage_, std::move(values));
    SparsePoints out = *this;
    out.values_ = storage->second.data();
    out.first_value_ = start(0);
    out.scalar_ = scalar_type_of<Scalar>();
    out.storage_ = storage;
    return out;
}

#define COTERIE_SPARSE_POINTS(Number, Scalar)                                                                       \
    template COTERIE_API SparsePoints::SparsePoints(Index, Index, std::span<const Number>, std::span<const Number>, \
                                                    std::span<const Scalar>, std::shared_ptr<const void>);
COTERIE_SPARSE_POINTS(std::int32_t, float)
COTERIE_SPARSE_POINTS(std::int32_t, double)
COTERIE_SPARSE_POINTS(std::int64_t, float)
COTERIE_SPARSE_POINTS(std::int64_t, double)
#undef COTERIE_SPARSE_POINTS
template COTERIE_API SparsePoints SparsePoints::with_values(std::vector<float>) const;
template COTERIE_API SparsePoints SparsePoints::with_values(std::vector<double>) const;

const SparsePoints* as_sparse(PointsView points) { return dynamic_cast<const SparsePoints*>(points.source()); }

}  // namespace coterie
