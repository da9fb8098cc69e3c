#pragma once
// Reads pairs of rows that must be in the same cluster, or must not.

#include <string>

#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Adds the pairs of a table to the problem's must_links and cannot_links. Each row has two row numbers of the problem,
/// counted from 1, and `must` or `cannot`. Throws BadData with the file, row and column.
void read_pairs(const std::string& path, Problem& problem, const Run& run);

}  // namespace coterie
