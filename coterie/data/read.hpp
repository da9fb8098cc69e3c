#pragma once
// Points and labels by one word: a file in any format of io/reader.hpp, or "data:NAME", a data set of the catalogue.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

/// As read_points_file, and data:NAME as read_data.
COTERIE_API PointsFile read_points(const std::string& path, const ReadOptions& options, const Run& run);
inline PointsFile read_points(const std::string& path) { return read_points(path, {}, Run()); }

/// As read_labels_file; of data:NAME its truth, BadData when it has none.
COTERIE_API LabelColumn read_labels(const std::string& path, const std::string& column = {}, bool allow_blank = false,
                                    const std::vector<FilePart>& points = {});

}  // namespace coterie
