#pragma once
// Hints about the columns of a table, before distances are computed from them.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie {

/// One hint per kind of column: columns that count the rows (x, x + 1, x + 2, ...), constant columns and, if nothing is
/// scaled, a column with more than 95 % of the total variance (from 10,000 evenly spaced rows). Each names the option
/// that helps. Columns of words are skipped. If points are read in blocks, only their first rows are examined, and no
/// column is called constant.
COTERIE_API std::vector<Message> column_hints(const Problem& problem, const PreparationOptions& preparation);

}  // namespace coterie
