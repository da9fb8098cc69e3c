#pragma once
// Internal: access to some rows by number, on every process. Holds copies unless this process has all rows in memory.

#include <cstddef>
#include <span>
#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// T: the scalar type of the points, which must outlive this object.
template <class T>
class GatheredRows {
public:
    GatheredRows(PointsView points, std::span<const Index> rows, const Run& run) {
        rows_.reserve(rows.size());
        if (points.resident() && run.communicator().size() == 1) {
            for (const Index row : rows) rows_.push_back(points.as<T>().row(row));
            return;
        }
        copies_ = gather_rows(points, rows, run);
        for (Index r = 0; r < copies_.rows(); ++r) rows_.push_back(copies_.view().template as<T>().row(r));
    }
    /// The numbers of row rows[r].
    const T* operator[](std::size_t r) const { return rows_[r]; }

private:
    Points copies_;
    std::vector<const T*> rows_;
};

}  // namespace coterie::internal
