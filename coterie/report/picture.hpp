#pragma once
// Drawings as SVG text that stands alone: own background, own fonts' fallbacks, no script.

#include <functional>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/pipeline/document.hpp"

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

/// Points (x_i, y_i) joined in their order. What is not finite is left out.
struct Line {
    std::string name;  // in the key; empty: not in it
    std::vector<double> x;
    std::vector<double> y;
};
/// Lines in one frame, each in its own colour, with a key where they have names. Empty where nothing is finite.
COTERIE_API std::string lines_picture(const std::vector<Line>& lines, const std::string& horizontal,
                                      const std::string& vertical);
/// Drawings of lines below each other, as one; empty ones are left out.
COTERIE_API std::string stacked_pictures(std::vector<std::string> pictures, const std::string& title);
/// Values against their position, as a line.
COTERIE_API std::string line_picture(const std::vector<double>& values, const std::string& horizontal,
                                     const std::string& vertical);

/// One of several small drawings of points in two dimensions.
struct Panel {
    std::string title;
    std::string subtitle;
    Matrix<double> points;  // n x 2
    Labels labels;
    /// Cluster of every place of a grid over the frame, which is coloured by it; empty: none.
    std::function<Labels(const Matrix<double>&)> regions;
    Matrix<double> moved;               // n x 2: an arrow from each point; empty: none
    std::vector<Matrix<double>> lines;  // of places, m x 2 each
};
/// Panels side by side, so many in a row.
COTERIE_API std::string panels_picture(const std::vector<Panel>& panels, std::size_t in_a_row, const PictureText& text);

/// The colour of a cluster, "#0072B2": distinct also to colour-blind eyes for eight; then shapes tell clusters apart.
COTERIE_API std::string cluster_colour(std::size_t cluster);

}  // namespace coterie
