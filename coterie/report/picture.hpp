#pragma once
// Drawings as SVG text that stands alone: own background, own fonts' fallbacks, no script.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/report/document.hpp"

namespace coterie {

struct PictureText {
    std::string title;     // first line
    std::string subtitle;  // second line
};

/// The points in their first two principal axes (two columns: as they are; one: value against spread), coloured and
/// shaped by cluster. At most about 5,000 are drawn, chosen at a fixed stride.
COTERIE_API std::string scatter_picture(PointsView points, const Labels& labels, const std::vector<Index>& sizes,
                                        const PictureText& text, const std::vector<std::string>& column_names,
                                        const Run& run);

/// The points of a fit, with what came of it in the second line.
COTERIE_API std::string fit_picture(const Pipeline& pipeline, const FitResult& result, const Run& run);

/// The rows of a result with a description: those of Pipeline::prepare that are not left out.
COTERIE_API std::string applied_picture(const Pipeline& pipeline, const AppliedResult& result, const PreparedRows& rows,
                                        const Run& run);

/// Points (x_i, y_i) joined in their order. What is not finite is left out.
struct Line {
    std::string name;  // in the key; empty: not in it
    std::vector<double> x;
    std::vector<double> y;
};
inline constexpr double lines_picture_width = 720;
inline constexpr double lines_picture_height = 300;
/// Lines in one frame, each in its own colour, with a key where they have names. Empty where nothing is finite.
COTERIE_API std::string lines_picture(const std::vector<Line>& lines, const std::string& horizontal,
                                      const std::string& vertical);
/// Values against their position, as a line.
COTERIE_API std::string line_picture(const std::vector<double>& values, const std::string& horizontal,
                                     const std::string& vertical);

}  // namespace coterie
