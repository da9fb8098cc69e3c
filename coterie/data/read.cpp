// A word that begins with "data:" is the catalogue's, any other a file's: the readers below know no data set. Whoever
// takes points takes them by these two functions, and so takes both.

#include "coterie/data/read.hpp"

#include <string_view>
#include <utility>

#include "coterie/data/catalogue.hpp"

namespace coterie {
namespace {
constexpr std::string_view prefix = "data:";
}

PointsFile read_points(const std::string& path, const ReadOptions& options, const Run& run) {
    if (path.starts_with(prefix)) return read_data(std::string_view(path).substr(prefix.size()), options, run);
    return read_points_file(path, options, run);
}

LabelColumn read_labels(const std::string& path, const std::string& column, bool allow_blank,
                        const std::vector<FilePart>& points) {
    if (!path.starts_with(prefix)) return read_labels_file(path, column, allow_blank, points);
    PointsFile file = read_data(std::string_view(path).substr(prefix.size()), {}, Run());
    if (!file.labels) throw BadData(path + ": has no labels");
    return std::move(*file.labels);
}

}  // namespace coterie
