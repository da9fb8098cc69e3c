#pragma once
// Reads points and labels from a file in any format of io/reader.hpp, or from "data:NAME", a data set of the catalogue.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

/// Like read_points_file for files, and read_data for data:NAME.
COTERIE_API PointsFile read_points(const std::string& path, const ReadOptions& options, const Run& run);
inline PointsFile read_points(const std::string& path) { return read_points(path, {}, Run()); }

/// Like read_labels_file for files. For data:NAME, the true labels of the set; throws BadData if it has none.
COTERIE_API LabelColumn read_labels(const std::string& path, const std::string& column = {}, bool allow_blank = false,
                                    const std::vector<FilePart>& points = {});

}  // namespace coterie
