#pragma once
// Combines several drawings into one, like the figures of the papers.

#include <functional>
#include <string>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/report/picture.hpp"

namespace coterie::cli {

/// Puts line plots below each other in one drawing. Empty ones are left out.
std::string stacked_pictures(std::vector<std::string> pictures, const std::string& title);

/// One of several small scatter plots.
struct Panel {
    std::string title;
    std::string subtitle;
    Matrix<double> points;  // n x 2
    Labels labels;
    /// Gives the clusters of the places of a grid over the plot; these colour the background. Empty: no background.
    std::function<Labels(const Matrix<double>&)> regions;
    Matrix<double> moved;               // n x 2: where the arrow from each point ends; empty: no arrows
    std::vector<Matrix<double>> lines;  // the places on each line, m x 2
};
/// Panels side by side, `in_a_row` of them in each row.
std::string panels_picture(const std::vector<Panel>& panels, std::size_t in_a_row, const PictureText& text);

}  // namespace coterie::cli
