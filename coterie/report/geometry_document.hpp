#pragma once
// The geometry of rows (manifold/geometry.hpp) as text for people, JSON for programs, and a csv file with one line per
// row.

#include "coterie/manifold/geometry.hpp"
#include "coterie/report/document.hpp"

namespace coterie {

struct GeometryResult {
    std::string source;            // source of the points
    std::string labels_source;     // source of the labels
    LabelColumn labels;            // of the rows with a label
    std::vector<Index> file_rows;  // their numbers in the points' file
    std::vector<Index> rows;       // numbers of the examined rows among those with a label
    Index dimensions = 0;
    GeometryOptions options;
    std::string preprocessing;            // Preparation::text()
    std::vector<PointGeometry> geometry;  // of the examined rows
    std::vector<Message> warnings;
    Seconds seconds;
    int threads = 1;

    /// The name of a label, or its number if it has no name.
    std::string label_text(std::int32_t label) const;
};

/// The warning for rows in which rounding violates the optimality conditions; empty if there are none.
std::optional<Message> inexact_rows_warning(const std::vector<PointGeometry>& geometry);

std::string text_document(const GeometryResult& result);
std::string json_document(const GeometryResult& result);
/// Every quantity of each examined row.
std::string rows_csv(const GeometryResult& result);

}  // namespace coterie
