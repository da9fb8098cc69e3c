#pragma once
// Building blocks of SVG drawings.

#include <array>
#include <string>
#include <vector>

namespace coterie::internal {

/// `text` escaped for SVG and HTML. Bytes that are not UTF-8, and characters that XML excludes, are replaced.
std::string escape_markup(const std::string& text);
/// JSON escaped for use between <script> tags.
std::string script_text(std::string json);

// The colours of Okabe and Ito (2008) without black and yellow, which are invisible on one of the backgrounds. A wine
// red and a grey take their place.
inline constexpr std::array<const char*, 8> colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                       "#D55E00", "#56B4E9", "#882255", "#6B7280"};
/// The colour of a cluster, "#0072B2". Eight clusters have distinct colours, also for colour-blind readers. If there
/// are more, shapes distinguish them.
std::string cluster_colour(std::size_t cluster);

/// A number rounded to a tenth of a pixel, which saves half of the bytes and is not visible.
std::string pixels(double value);
/// A mark centred at (x, y), as path commands.
std::string mark_at(std::size_t shape, double x, double y);
std::string mark_style(std::size_t cluster);

struct Axis {
    double low = 0, high = 1;
    std::vector<double> ticks;
};
/// An axis that ends slightly beyond the values, with ticks at 1, 2 or 5 times a power of ten.
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
/// A text in the middle at (x, y) that reads upwards: the name of a vertical axis.
std::string text_upwards(double x, double y, const std::string& text);
/// The beginning of the SVG, up to the background. `described`: the title for readers who cannot see the picture.
std::string svg_start(double width, double height, const std::string& described);

}  // namespace coterie::internal
