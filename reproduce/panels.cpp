// Draws each panel with few SVG paths. The background comes from a grid of 110 x 110 places: neighbouring places of a
// grid row in the same cluster become one rectangle. From the ninth cluster on, colours repeat.

#include "panels.hpp"

#include <algorithm>
#include <cmath>

#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

void append_point(std::string& out, char command, const Frame& frame, double x, double y) {
    out += command;
    out += pixels(frame.x(x));
    out += ' ';
    out += pixels(frame.y(y));
}

std::string group_of_regions(const Panel& panel, const Frame& frame) {
    constexpr Index side = 110;
    Matrix<double> places(side * side, 2);
    const auto place = [&](const Axis& axis, Index i) {
        return axis.low + (axis.high - axis.low) * (static_cast<double>(i) + 0.5) / side;
    };
    for (Index row = 0; row < side; ++row)
        for (Index column = 0; column < side; ++column)
            places.row(row * side + column) << place(frame.horizontal, column), place(frame.vertical, row);
    const Labels labels = panel.regions(places);
    const double width = (frame.right - frame.left) / side;
    const double height = (frame.bottom - frame.top) / side;
    std::vector<std::string> paths(colours.size());
    for (Index row = 0; row < side; ++row)
        for (Index begin = 0; begin < side;) {
            const auto label = labels[static_cast<std::size_t>(row * side + begin)];
            Index end = begin;
            while (end < side && labels[static_cast<std::size_t>(row * side + end)] == label) ++end;
            std::string& path = paths[static_cast<std::size_t>(label) % colours.size()];
            path += "M";
            path += pixels(frame.left + width * static_cast<double>(begin));
            path += " ";
            path += pixels(frame.bottom - height * static_cast<double>(row + 1));
            path += filled("h{}v{}h{}z", formatted("%.1f", width * static_cast<double>(end - begin)),
                           formatted("%.2f", height), formatted("%.1f", -width * static_cast<double>(end - begin)));
            begin = end;
        }
    std::string out = "<g fill-opacity=\"0.16\">\n";
    for (std::size_t c = 0; c < paths.size(); ++c)
        if (!paths[c].empty()) out += filled("<path fill=\"{}\" d=\"{}\"/>\n", cluster_colour(c), paths[c]);
    return out + "</g>\n";
}

}  // namespace

std::string panels_picture(const std::vector<Panel>& panels, std::size_t in_a_row, const PictureText& text) {
    constexpr double panel_width = 330;
    constexpr double panel_height = 320;
    constexpr double above = 66;
    const std::size_t rows = (panels.size() + in_a_row - 1) / in_a_row;
    const double width = 20 + panel_width * static_cast<double>(in_a_row);
    const double height = above + panel_height * static_cast<double>(rows) + 10;
    std::string out = svg_start(width, height, text.title);
    out += text_at(20, 30, "font-size=\"17\" font-weight=\"600\" fill=\"#111827\"", text.title);
    out += text_at(20, 52, "font-size=\"13\" fill=\"#4B5563\"", text.subtitle);
    for (std::size_t p = 0; p < panels.size(); ++p) {
        const Panel& panel = panels[p];
        const double left = 50 + panel_width * static_cast<double>(p % in_a_row);
        const double top = above + 40 + panel_height * static_cast<double>(p / in_a_row);
        const auto axis_of = [&](Index column) {
            double low = panel.points.col(column).minCoeff();
            double high = panel.points.col(column).maxCoeff();
            const auto include = [&](const Matrix<double>& places) {
                low = std::min(low, places.col(column).minCoeff());
                high = std::max(high, places.col(column).maxCoeff());
            };
            if (panel.moved.size() > 0) include(panel.moved);
            for (const auto& line : panel.lines) include(line);
            return axis_over(low, high);
        };
        const Frame frame{left, top, left + panel_width - 50, top + panel_height - 76, axis_of(0), axis_of(1)};
        out += text_at(left, top - 22, "font-size=\"13\" font-weight=\"600\" fill=\"#111827\"", panel.title);
        out += text_at(left, top - 7, "font-size=\"11\" fill=\"#4B5563\"", panel.subtitle);
        if (panel.regions) out += group_of_regions(panel, frame);
        out += frame_lines(frame, true);
        std::string lines;
        for (const auto& line : panel.lines)
            for (Index i = 0; i < line.rows(); ++i)
                append_point(lines, i == 0 ? 'M' : 'L', frame, line(i, 0), line(i, 1));
        if (!lines.empty())
            out += "<path fill=\"none\" stroke=\"#6B7280\" stroke-width=\"0.8\" d=\"" + lines + "\"/>\n";
        std::string arrows;
        for (Index i = 0; i < panel.moved.rows(); ++i) {
            const double x = panel.moved(i, 0);
            const double y = panel.moved(i, 1);
            append_point(arrows, 'M', frame, panel.points(i, 0), panel.points(i, 1));
            append_point(arrows, 'L', frame, x, y);
            // The arrow head: two strokes. Each is a third of the arrow's length, and at most 5 pixels long.
            const double back_x = frame.x(panel.points(i, 0)) - frame.x(x);
            const double back_y = frame.y(panel.points(i, 1)) - frame.y(y);
            const double length = std::hypot(back_x, back_y);
            if (length < 1) continue;
            const double head = std::min(5.0, length / 3) / length;
            for (const double turn : {0.45, -0.45}) {
                arrows += 'M';
                arrows += pixels(frame.x(x));
                arrows += ' ';
                arrows += pixels(frame.y(y));
                arrows += 'l';
                arrows += pixels(head * (back_x * std::cos(turn) - back_y * std::sin(turn)));
                arrows += ' ';
                arrows += pixels(head * (back_x * std::sin(turn) + back_y * std::cos(turn)));
            }
        }
        if (!arrows.empty())
            out += "<path fill=\"none\" stroke=\"#374151\" stroke-width=\"0.7\" d=\"" + arrows + "\"/>\n";
        std::vector<std::string> marks(colours.size());
        for (Index i = 0; i < panel.points.rows(); ++i) {
            const auto cluster = static_cast<std::size_t>(panel.labels[static_cast<std::size_t>(i)]) % colours.size();
            marks[cluster] += mark_at(0, frame.x(panel.points(i, 0)), frame.y(panel.points(i, 1)));
        }
        for (std::size_t c = 0; c < marks.size(); ++c)
            if (!marks[c].empty()) out += filled("<path {} d=\"{}\"/>\n", mark_style(c), marks[c]);
    }
    return out + "</svg>\n";
}

std::string stacked_pictures(std::vector<std::string> pictures, const std::string& title) {
    std::erase(pictures, std::string());
    std::string out =
        svg_start(lines_picture_width, lines_picture_height * static_cast<double>(pictures.size()), title);
    for (std::size_t i = 0; i < pictures.size(); ++i)
        out += filled("<g transform=\"translate(0 {})\">\n{}</g>\n",
                      formatted("%.0f", lines_picture_height * static_cast<double>(i)), pictures[i]);
    return out + "</svg>\n";
}

}  // namespace coterie::cli
