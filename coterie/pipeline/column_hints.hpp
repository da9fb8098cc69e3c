#pragma once
// What a person should be told about the columns of a table before distances are made of them.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie {

/// A sentence for columns that count the rows (x, x + 1, x + 2, ...), for those that are constant, and, where nothing
/// is scaled, for one that carries more than 95 % of the variance of all (of 10,000 rows in even steps); each names the
/// option that mends it. Columns of words are not looked at. Points that are read in blocks are judged by their first
/// rows, and not said to be constant.
COTERIE_API std::vector<std::string> column_hints(const Problem& problem, const PreparationOptions& preparation);

}  // namespace coterie
