#pragma once
// Internal: what every result in the list of methods is looked at for.

#include <string>
#include <vector>

#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/model.hpp"

namespace coterie::internal {

/// The report of a model that nobody else has yet.
COTERIE_API FitReport& report_of(Model& model);

/// Clusters of one or two rows, and a cluster with 95 % of the rows or more, where there are 20 rows and more to a
/// cluster in the mean, unless side information asked for such sizes.
std::vector<std::string> size_warnings(const std::vector<Index>& sizes, const Problem& problem);
/// Adds to the report of a finished fit what its labels give reason to warn of: equal rows in several clusters, and
/// sizes. reads_blocks: Takes::blocks of the method.
COTERIE_API void warn_of_result(Model& model, const Problem& problem, const Run& run, bool reads_blocks);

}  // namespace coterie::internal
