#pragma once
// Internal: the best one-to-one match when only few pairs have anything to gain.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// One non-zero entry of a table: `gain` > 0 when row u is matched to column v.
struct Gain {
    Index row = 0;
    Index column = 0;
    std::int64_t gain = 0;
};

/// Column of each row (-1: none) in a match of largest total gain; pairs that are not listed gain nothing and are not
/// made. `gains` sorted by row, then column, each pair once. Exact (integers). Memory: the listed pairs, never rows x
/// columns.
std::vector<Index> maximum_gain_match(std::span<const Gain> gains, Index rows, Index columns);

}  // namespace coterie::internal
