#pragma once
// Internal: rows of which each process holds a part, as the rows of one whole in the order of the processes.

#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Copies of the rows that this process works on (own_rows), from whoever holds them: each process may hold as many or
/// as few as it likes. Other rows cannot be read. All processes make one together.
class COTERIE_API LocalRows : public RowSource {
public:
    /// `held`: this process' part, in memory or read. `places`: which rows of the whole they are, range by range in the
    /// order that they lie in; empty: those behind the rows of the processes before. BadArgument, on every process,
    /// unless all parts have the same columns and scalar type (an empty part: any), and the places make a whole.
    LocalRows(PointsView held, Communicator& communicator, const std::vector<Range>& places = {});

    Index rows() const override { return rows_; }
    Index columns() const override { return columns_; }
    ScalarType scalar() const override { return scalar_; }
    void read(Index begin, Index end, void* to) const override;
    const void* in_memory(Index begin, Index end) const override;

    /// What was found for the rows that this process works on, one value each, to whoever holds them.
    Labels to_holders(const Labels& own) const;

private:
    Communicator& communicator_;
    Index rows_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
    std::vector<std::vector<Range>> held_, worked_;  // by each process
    std::vector<std::byte> own_;
};

}  // namespace coterie::internal
