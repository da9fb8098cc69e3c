#pragma once
// Several drawings in one, as the papers' figures have them.

#include <functional>
#include <string>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/report/picture.hpp"

namespace coterie::cli {

/// Drawings of lines below each other, as one; empty ones are left out.
std::string stacked_pictures(std::vector<std::string> pictures, const std::string& title);

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
std::string panels_picture(const std::vector<Panel>& panels, std::size_t in_a_row, const PictureText& text);

}  // namespace coterie::cli
