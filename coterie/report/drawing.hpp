#pragma once
// What drawings as SVG are made of.

#include <array>
#include <string>
#include <vector>

namespace coterie::internal {

/// `text` as it stands in SVG and HTML: bytes that are no UTF-8, and what XML has no place for, are replaced.
std::string escape_markup(const std::string& text);
/// JSON as it may stand between <script> tags.
std::string script_text(std::string json);

// Okabe and Ito's colours (2008) without black and yellow, which vanish on one background or the other, and with a wine
// red and a grey.
inline constexpr std::array<const char*, 8> colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                       "#D55E00", "#56B4E9", "#882255", "#6B7280"};
/// The colour of a cluster, "#0072B2": distinct also to colour-blind eyes for eight; then shapes tell clusters apart.
std::string cluster_colour(std::size_t cluster);

/// To a tenth of a pixel: half the bytes, and nobody sees the difference.
void append_number(std::string& out, double value);
/// A mark centred at (x, y), as the commands of a path.
void append_mark(std::string& out, std::size_t shape, double x, double y);
std::string mark_style(std::size_t cluster);

struct Axis {
    double low = 0, high = 1;
    std::vector<double> ticks;
};
/// Ends a little beyond the values, ticks at 1, 2 or 5 times a power of ten.
Axis axis_over(double low, double high);

struct Frame {
    double left, top, right, bottom;
    Axis horizontal, vertical;
    double x(double value) const {
        return left + (value - horizontal.low) / (horizontal.high - horizontal.low) * (right - left);
    }
    double y(double value) const {
        return bottom - (value - vertical.low) / (vertical.high - vertical.low) * (bottom - top);
    }
};
std::string frame_lines(const Frame& frame, bool vertical_ticks);

std::string text_at(double x, double y, const std::string& attributes, const std::string& text);
/// Up to the background; `described`: the title for those who cannot see it.
std::string svg_start(double width, double height, const std::string& described);

}  // namespace coterie::internal
