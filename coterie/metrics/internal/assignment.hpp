#pragma once
// Internal: the best one-to-one match when only few pairs have a gain.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/points.hpp"

namespace coterie::metrics::internal {

/// One non-zero entry of a table: matching row u to column v gains `gain` > 0.
struct Gain {
    Index row = 0;
    Index column = 0;
    std::int64_t gain = 0;
};

/// The column of each row (-1: none) in a match with the largest total gain. Only listed pairs are matched. `gains`
/// must be sorted by row, then column, each pair once. Exact (integers). Memory depends only on the number of pairs.
std::vector<Index> maximum_gain_match(std::span<const Gain> gains, Index rows, Index columns);

}  // namespace coterie::metrics::internal
