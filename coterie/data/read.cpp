// A path that begins with "data:" names a set of the catalogue, which the readers of the io module do not know.

#include "coterie/data/read.hpp"

#include "coterie/data/catalogue.hpp"
#include "coterie/io/formats.hpp"

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
    if (!file.labels) formats::refuse_file(path, Code::missing_argument, "the data set has no labels");
    return std::move(*file.labels);
}

}  // namespace coterie
