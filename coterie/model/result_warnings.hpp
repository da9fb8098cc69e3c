#pragma once
// Internal: warnings that every method's result is checked for.

#include <string>
#include <vector>

#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/model.hpp"

namespace coterie::internal {

/// The report of a model that the caller alone holds.
COTERIE_API FitReport& report_of(Model& model);

/// Warns of clusters of one or two rows, and of a cluster with 95 % of the rows or more. Applies where clusters have 20
/// rows or more on average, unless constraints ask for such sizes.
std::vector<Message> size_warnings(const std::vector<Index>& sizes, const Problem& problem);
/// Adds warnings about the labels to the report of a finished fit: equal rows in several clusters, and sizes.
/// reads_blocks: Takes::blocks of the method.
COTERIE_API void warn_of_result(Model& model, const Problem& problem, const Run& run, bool reads_blocks);

}  // namespace coterie::internal
