#pragma once
// Drawings as self-contained SVG text, with a background, fallback fonts and no script.

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

/// Draws the points in their first two principal axes, coloured and shaped by cluster. Two columns are drawn as they
/// are; a single column is drawn against random heights. At most about 5,000 points are drawn, chosen at a fixed
/// stride.
COTERIE_API std::string scatter_picture(PointsView points, const Labels& labels, const std::vector<Index>& sizes,
                                        const PictureText& text, const std::vector<std::string>& column_names,
                                        const Run& run);

/// Draws the points of a fit; the second line of the text gives the result of the fit.
COTERIE_API std::string fit_picture(const Pipeline& pipeline, const FitResult& result, const Run& run);

/// Draws the rows of a result with a description. rows: from Pipeline::prepare.
COTERIE_API std::string applied_picture(const Pipeline& pipeline, const AppliedResult& result, const PreparedRows& rows,
                                        const Run& run);

/// Points (x_i, y_i), joined in order. Values that are not finite are left out.
struct PictureLine {
    std::string name;  // name in the legend; empty: not in the legend
    std::vector<double> x;
    std::vector<double> y;
};
inline constexpr double lines_picture_width = 720;
inline constexpr double lines_picture_height = 300;
/// Lines in one frame, each in its own colour, with a legend if they have names. Empty if no value is finite.
COTERIE_API std::string lines_picture(const std::vector<PictureLine>& lines, const std::string& horizontal,
                                      const std::string& vertical);
/// Values over their position, as a line.
COTERIE_API std::string line_picture(const std::vector<double>& values, const std::string& horizontal,
                                     const std::string& vertical);

}  // namespace coterie
