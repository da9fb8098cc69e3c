#pragma once
// Internal: checks the result of every method and adds warnings.

#include <string>
#include <vector>

#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/model.hpp"

namespace coterie::internal {

/// The report of a model, to change it. Only the caller may hold the model.
COTERIE_API FitReport& report_of(Model& model);

/// Warns of clusters of one or two rows, and of a cluster with at least 95 % of the rows. Only if clusters have at
/// least 20 rows on average, and not for sizes that constraints request.
std::vector<Message> size_warnings(const std::vector<Index>& sizes, const Problem& problem);
/// Adds warnings about the labels to the report of a finished fit: equal rows in several clusters, and cluster sizes.
/// reads_blocks: Takes::blocks of the method.
COTERIE_API void warn_of_result(Model& model, const Problem& problem, const Run& run, bool reads_blocks);

}  // namespace coterie::internal
