#pragma once
// Hints about the columns of a table, before distances are computed from them.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie {

/// One sentence each for columns that count the rows (x, x + 1, x + 2, ...), for constant columns and, where nothing is
/// scaled, for a column with more than 95 % of the total variance (from 10,000 evenly spaced rows). Each names the
/// option that helps. Columns of words are skipped. Points that are read in blocks are judged by their first rows, and
/// never called constant.
COTERIE_API std::vector<Message> column_hints(const Problem& problem, const PreparationOptions& preparation);

}  // namespace coterie
