#pragma once
// Internal: one set of rows, of which each process holds a part.

#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Copies the rows that this process works on (own_rows) from the processes that hold them. Each process may hold any
/// number of rows. Other rows cannot be read. All processes construct it collectively.
class COTERIE_API LocalRows : public RowSource {
public:
    /// `held`: the part of this process, in memory or read. `places`: the row numbers of this part, as ranges in the
    /// order of the part; empty: the rows follow those of the processes before. Throws BadArgument on every process
    /// unless all non-empty parts have the same columns and scalar type, and the places cover every row once.
    LocalRows(PointsView held, Communicator& communicator, const std::vector<Range>& places = {});

    Index rows() const override { return rows_; }
    Index columns() const override { return columns_; }
    ScalarType scalar() const override { return scalar_; }
    void read(Index begin, Index end, void* to) const override;
    const void* in_memory(Index begin, Index end) const override;

    /// Sends results for the rows that this process works on, one per row, to the processes that hold the rows.
    Labels to_holders(const Labels& own) const;

private:
    Communicator& communicator_;
    Index rows_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
    std::vector<std::vector<Range>> held_, worked_;  // ranges of each process
    std::vector<std::byte> own_;
};

}  // namespace coterie::internal
