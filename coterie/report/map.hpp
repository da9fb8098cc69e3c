#pragma once
// The interactive map of a page: every point, to move, zoom, search, colour and filter, and to select and label.

#include <optional>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/report/document.hpp"
#include "coterie/selection/compare_methods.hpp"

namespace coterie {

inline constexpr Index most_rows_of_map = 1000000;

/// For page(): the rows that the result is of (Pipeline::fitted_rows or Pipeline::prepare, in memory and not
/// affinities), with what is known of them packed into it; the result has a description by describe. `table`: these
/// rows as they stand in their file, ids and words among them, or none. Axes are those of the method's own space where
/// it has one, the principal axes of the prepared rows, and columns; of columns as many as 4,000,000 numbers allow (at
/// least 2, at most 40), those that set clusters apart first. Coordinates and scores are rounded to 1 / 65,535 of their
/// range, columns to single precision. Empty for more than most_rows_of_map rows, fewer than two, and without a
/// description. Rows that are left out are not shown; numbers of rows count them.
COTERIE_API std::string page_map(const Pipeline& pipeline, const ClusteringResult& result, const PreparedRows& rows,
                                 const std::optional<Truth>& truth, const Run& run, const TableRows* table = nullptr);

/// For page() of a comparison.
struct ComparisonDrawings {
    std::string picture;  // what the first method found
    /// The rows as all methods saw them, to colour by what each found; clusters that are matched with those of the
    /// first method have their colours.
    std::string map;
};
/// `problem`, `options` and the seed of `run`: those of the comparison. Both are empty where no method has found
/// anything, for points that are sparse or not in memory and where page_map() would be.
COTERIE_API ComparisonDrawings comparison_drawings(const Comparison& comparison, const Problem& problem,
                                                   const CompareOptions& options, const std::string& source,
                                                   const std::optional<Truth>& truth, const Run& run,
                                                   const TableRows* table = nullptr);

}  // namespace coterie
