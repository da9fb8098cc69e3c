#pragma once
// Internal: a problem's points as a fit sees them, for what fits many times.

#include <string>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie::internal {

struct PreparedPoints {
    Points points;                        // of the rows that are kept
    std::vector<Index> left_out;          // numbers of rows that miss a value (`missing=drop`), ascending
    std::vector<std::string> warnings;    // of the preparation
    Points coded = {};                    // before they were centred and scaled
    std::vector<std::string> names = {};  // of their columns; empty: they have none
};
PreparedPoints prepared_points(const Problem& problem, const PreparationOptions& preparation,
                               const ColumnOptions& columns, const Run& run);

/// Some of the rows, which may be read, in memory.
Points rows_in_memory(const Points& points, const std::vector<Index>& rows, const Run& run);

/// BadArgument, beginning with `what`, unless the problem has points in one process and nothing beside them.
void require_points_alone(const std::string& what, const Problem& problem, const Run& run);

/// For a task among many: a child on one thread.
Run part_of(const Run& run, std::string_view purpose, Index index);

}  // namespace coterie::internal
