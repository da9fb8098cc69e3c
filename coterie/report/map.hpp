#pragma once
// The interactive map of a page. It shows every point; you can pan, zoom, search, colour, filter, select and label.

#include <optional>
#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/report/document.hpp"
#include "coterie/selection/compare_methods.hpp"

namespace coterie {

/// The map for html_document(). `rows`: the rows of the result (Pipeline::fitted_rows or Pipeline::prepare), in memory
/// and not affinities. The result needs a description by describe. `table`: the same rows as written in their file,
/// with ids and words, or nullptr.
///
/// Axes are those of the method's own space, if it has one, the principal axes of the prepared rows, and columns. At
/// most 4,000,000 numbers of columns are stored, in 2 to 40 columns; columns that set clusters apart come first.
/// Coordinates and scores are rounded to 1 / 65,535 of their range, columns to single precision. Rows that are left out
/// are not shown, but row numbers count them. Returns "" for more than 1,000,000 rows, for fewer than two, and without
/// a description.
COTERIE_API std::string page_map(const Pipeline& pipeline, const ClusteringResult& result, const PreparedRows& rows,
                                 const std::optional<Truth>& truth, const Run& run, const TableRows* table = nullptr);

/// The drawings for html_document() of a comparison.
struct ComparisonDrawings {
    std::string picture;  // the result of the first method
    /// The rows as all methods saw them, coloured by the clusters of a chosen method. A cluster that matches one of the
    /// first method has its colour.
    std::string map;
};
/// `prepared` and the seed of `run`: those of the comparison. Both drawings are empty if no method has a result, if
/// points are sparse or not in memory, or if page_map() would be empty.
COTERIE_API ComparisonDrawings comparison_drawings(const Comparison& comparison, const PreparedProblem& prepared,
                                                   const std::string& source, const std::optional<Truth>& truth,
                                                   const Run& run, const TableRows* table = nullptr);

}  // namespace coterie
