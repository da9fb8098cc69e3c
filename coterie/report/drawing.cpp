// Marks are most of a picture's bytes, so many marks are one path, each relative to the one before.

#include "coterie/report/drawing.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/text.hpp"
#include "coterie/base/utf8.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::internal {

std::string script_text(std::string json) {
    for (std::size_t found = json.find('<'); found != std::string::npos; found = json.find('<', found))
        json.replace(found, 1, "\\u003c");
    return json;
}

std::string escape_markup(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = utf8_sequence(text, at);
        const std::string_view character(text.data() + at, bytes);
        at += std::max<std::size_t>(bytes, 1);
        if (bytes != 1) {  // XML excludes U+FFFE and U+FFFF, too
            out += bytes == 0 || character == "\uFFFE" || character == "\uFFFF" ? "\uFFFD" : character;
            continue;
        }
        const char c = character.front();
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default:
                // XML excludes control characters.
                out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
        }
    }
    return out;
}

std::string cluster_colour(std::size_t cluster) { return colours[cluster % colours.size()]; }

std::string pixels(double value) {
    std::string out = formatted("%.1f", value);
    if (out.size() > 2 && out.back() == '0') out.resize(out.size() - 2);
    return out;
}

std::string mark_at(std::size_t shape, double x, double y) {
    static constexpr std::array<std::array<double, 2>, 7> offsets = {
        {{0, 0}, {0, -3.4}, {-2.5, -2.5}, {0, -3.5}, {0, 3.4}, {-1.2, -3.2}, {-2.6, -2.6}}};
    static constexpr std::array<const char*, 7> tails = {
        "h0",
        "l3.1 5.6h-6.2z",
        "h5v5h-5z",
        "l3.5 3.5l-3.5 3.5l-3.5 -3.5z",
        "l3.1 -5.6h-6.2z",
        "h2.4v2h2v2.4h-2v2h-2.4v-2h-2v-2.4h2z",
        "l2.6 1.6l2.6 -1.6l-1.6 2.6l1.6 2.6l-2.6 -1.6l-2.6 1.6l1.6 -2.6z"};
    const auto which = shape % offsets.size();
    return "M" + pixels(x + offsets[which][0]) + " " + pixels(y + offsets[which][1]) + tails[which];
}

std::string mark_style(std::size_t cluster) {
    const std::string colour = cluster_colour(cluster);
    if ((cluster / colours.size()) % 7 == 0)
        return "fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"5\" stroke-linecap=\"round\"";
    return "fill=\"" + colour + "\"";
}

Axis axis_over(double low, double high) {
    if (!(high > low)) {
        const double around = std::max(1.0, std::abs(low)) * 0.5;
        low -= around;
        high += around;
    }
    const double margin = 0.04 * (high - low);
    Axis axis{low - margin, high + margin, {}};
    const double rough = (high - low) / 5;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 5.0, 10.0})
        if (step < rough) step = factor * power;
    for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high && axis.ticks.size() < 12; tick += step)
        axis.ticks.push_back(std::abs(tick) < step * 1e-9 ? 0.0 : tick);
    return axis;
}

std::string text_at(double x, double y, const std::string& attributes, const std::string& text) {
    return filled("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", pixels(x), pixels(y),
                  attributes.empty() ? "" : " " + attributes, escape_markup(text));
}

std::string text_upwards(double x, double y, const std::string& text) {
    return text_at(
        x, y, filled("text-anchor=\"middle\" transform=\"rotate(-90 {} {})\"", pixels(x), formatted("%.1f", y)), text);
}

std::string frame_lines(const Frame& frame, bool vertical_ticks) {
    std::string grid;
    std::string labels;
    for (const double tick : frame.horizontal.ticks) {
        grid += "M" + pixels(frame.x(tick)) + " " + pixels(frame.top) + "V" + pixels(frame.bottom);
        labels += text_at(frame.x(tick), frame.bottom + 16, "text-anchor=\"middle\"", formatted("%.4g", tick));
    }
    for (const double tick : vertical_ticks ? frame.vertical.ticks : std::vector<double>{}) {
        grid += "M" + pixels(frame.left) + " " + pixels(frame.y(tick)) + "H" + pixels(frame.right);
        labels += text_at(frame.left - 7, frame.y(tick) + 4, "text-anchor=\"end\"", formatted("%.4g", tick));
    }
    return filled(
        "<path d=\"{}\" stroke=\"#E5E7EB\" fill=\"none\"/>\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "fill=\"none\" stroke=\"#9CA3AF\"/>\n<g font-size=\"11\" fill=\"#4B5563\">\n{}</g>\n",
        grid, pixels(frame.left), pixels(frame.top), pixels(frame.right - frame.left), pixels(frame.bottom - frame.top),
        labels);
}

std::string svg_start(double width, double height, const std::string& described) {
    return filled(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {}{}\" role=\"img\" "
        "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, "
        "sans-serif\">\n<title>{}</title>\n"
        "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#FFFFFF\"/>\n",
        formatted("%.0f", width), formatted("%.0f", height), formatted("%.0f ", width), formatted("%.0f", height),
        escape_markup(described));
}

}  // namespace coterie::internal
