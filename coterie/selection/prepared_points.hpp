#pragma once
// Internal: a problem's points as a fit sees them, prepared once for many fits.

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
    Points points;                        // of the kept rows
    std::vector<Index> left_out;          // numbers of the rows with a missing value (`missing=drop`), ascending
    std::vector<Message> warnings;        // of the preparation
    Points coded = {};                    // before centring and scaling
    std::vector<std::string> names = {};  // names of the columns; empty: none
};
PreparedPoints prepared_points(const Problem& problem, const PreparationOptions& preparation,
                               const ColumnOptions& columns, const Run& run);

/// Copies some rows into memory; `points` may be read in blocks.
Points rows_in_memory(const Points& points, const std::vector<Index>& rows, const Run& run);

/// Throws BadArgument, beginning with `what`, unless the problem has only points and runs in one process.
void require_points_alone(const std::string& what, const Problem& problem, const Run& run);

/// The run of one task among many: a child with one thread.
Run part_of(const Run& run, std::string_view purpose, Index index);

}  // namespace coterie::internal
