#include "coterie/report/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/pipeline/internal/text.hpp"
#include "coterie/report/internal/markup.hpp"

namespace coterie {
namespace {

using internal::count_text;
using internal::escape_markup;
using internal::formatted;
using internal::number_text;
using internal::share_text;

constexpr Index most_drawn = 5000;
constexpr double lines_width = 720;
constexpr double lines_height = 300;
constexpr Index most_dimensions_for_scatter_matrix = 1000;
constexpr Index most_rows_for_gram_matrix = 1000;

// Okabe and Ito's colours (2008) without black and yellow, which vanish on one background or the other, and with a wine
// red and a grey.
constexpr std::array<const char*, 8> colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                "#D55E00", "#56B4E9", "#882255", "#6B7280"};

// Coordinates to a tenth of a pixel: half the bytes, and nobody sees the difference.
void append_number(std::string& out, double value) {
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%.1f", value);
    std::size_t size = static_cast<std::size_t>(length);
    if (size > 2 && text[size - 1] == '0') size -= 2;
    out.append(text, size);
}

// A mark centred at (x, y), as the commands of a path.
void append_mark(std::string& out, std::size_t shape, double x, double y) {
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
    out += 'M';
    append_number(out, x + offsets[which][0]);
    out += ' ';
    append_number(out, y + offsets[which][1]);
    out += tails[which];
}

std::string mark_style(std::size_t cluster) {
    const std::string colour = cluster_colour(cluster);
    if ((cluster / colours.size()) % 7 == 0)
        return "fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"5\" stroke-linecap=\"round\"";
    return "fill=\"" + colour + "\"";
}

struct Axis {
    double low = 0, high = 1;
    std::vector<double> ticks;
};

// Ends a little beyond the values, ticks at 1, 2 or 5 times a power of ten.
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
    std::string out = "<text x=\"";
    append_number(out, x);
    out += "\" y=\"";
    append_number(out, y);
    out += "\"" + (attributes.empty() ? "" : " " + attributes) + ">" + escape_markup(text) + "</text>\n";
    return out;
}

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

std::string frame_lines(const Frame& frame, bool vertical_ticks) {
    std::string grid;
    std::string labels;
    for (const double tick : frame.horizontal.ticks) {
        grid += "M";
        append_number(grid, frame.x(tick));
        grid += " ";
        append_number(grid, frame.top);
        grid += "V";
        append_number(grid, frame.bottom);
        labels += text_at(frame.x(tick), frame.bottom + 16, "text-anchor=\"middle\"", formatted("%.4g", tick));
    }
    for (const double tick : vertical_ticks ? frame.vertical.ticks : std::vector<double>{}) {
        grid += "M";
        append_number(grid, frame.left);
        grid += " ";
        append_number(grid, frame.y(tick));
        grid += "H";
        append_number(grid, frame.right);
        labels += text_at(frame.left - 7, frame.y(tick) + 4, "text-anchor=\"end\"", formatted("%.4g", tick));
    }
    std::string out = "<path d=\"" + grid + "\" stroke=\"#E5E7EB\" fill=\"none\"/>\n<rect x=\"";
    append_number(out, frame.left);
    out += "\" y=\"";
    append_number(out, frame.top);
    out += "\" width=\"";
    append_number(out, frame.right - frame.left);
    out += "\" height=\"";
    append_number(out, frame.bottom - frame.top);
    out += "\" fill=\"none\" stroke=\"#9CA3AF\"/>\n<g font-size=\"11\" fill=\"#4B5563\">\n" + labels + "</g>\n";
    return out;
}

std::string svg_start(double width, double height, const std::string& described) {
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + formatted("%.0f", width) + "\" height=\"" +
                      formatted("%.0f", height) + "\" viewBox=\"0 0 " + formatted("%.0f ", width) +
                      formatted("%.0f", height) +
                      "\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, "
                      "Arial, sans-serif\">\n";
    out += "<title>" + escape_markup(described) + "</title>\n";
    out += "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#FFFFFF\"/>\n";
    return out;
}

// Where each drawn point goes, and what the axes are called.
struct Projection {
    std::vector<double> x, y;
    std::string horizontal, vertical;
    bool vertical_means = true;  // false: spread only
    std::string remark;
};

std::string variance_share(double variance, double total) {
    return total > 0 ? " (" + formatted("%.1f", 100 * variance / total) + " % of the variance)" : "";
}

double total_variance(PointsView points, const Run& run) { return column_moments(points, run).variance.sum(); }

Projection project_drawn(PointsView points, const std::vector<Index>& drawn,
                         const std::vector<std::string>& column_names, const Run& run) {
    Projection out;
    const auto column_name = [&](std::size_t j) {
        return j < column_names.size() && !column_names[j].empty() ? column_names[j]
                                                                   : "column " + std::to_string(j + 1);
    };
    if (points.columns() == 1) {
        RandomStream random = run.random("picture.spread");
        for (const Index i : drawn) {
            out.x.push_back(points.at(i, 0));
            out.y.push_back(random.uniform());
        }
        out.horizontal = column_name(0);
        out.vertical = "spread at random";
        out.vertical_means = false;
        return out;
    }
    if (points.columns() == 2) {
        for (const Index i : drawn) {
            out.x.push_back(points.at(i, 0));
            out.y.push_back(points.at(i, 1));
        }
        out.horizontal = column_name(0);
        out.vertical = column_name(1);
        return out;
    }

    const auto rows = static_cast<Index>(drawn.size());
    if (points.columns() <= most_dimensions_for_scatter_matrix) {
        const PrincipalAxes axes = principal_axes(points, 2, run);
        Matrix<double> chosen(rows, points.columns());
        points.visit([&](const auto& all) {
            for (Index i = 0; i < rows; ++i)
                for (Index j = 0; j < points.columns(); ++j)
                    chosen(i, j) = static_cast<double>(all.row(drawn[static_cast<std::size_t>(i)])[j]);
        });
        const Matrix<double> placed = project(chosen, axes, run);
        for (Index i = 0; i < rows; ++i) {
            out.x.push_back(placed(i, 0));
            out.y.push_back(placed(i, 1));
        }
        const double total = total_variance(points, run);
        out.horizontal = "first principal axis" + variance_share(axes.variances[0], total);
        out.vertical = "second principal axis" + variance_share(axes.variances[1], total);
        return out;
    }

    // With this many dimensions the axes of a sample, from the matrix of its inner products, say as much at a fraction
    // of the cost.
    const Index step = (rows + most_rows_for_gram_matrix - 1) / most_rows_for_gram_matrix;
    const Index sampled = (rows + step - 1) / step;
    Matrix<double> sample(sampled, points.columns());
    points.visit([&](const auto& all) {
        for (Index i = 0; i < sampled; ++i)
            for (Index j = 0; j < points.columns(); ++j)
                sample(i, j) = static_cast<double>(all.row(drawn[static_cast<std::size_t>(i * step)])[j]);
    });
    const Eigen::RowVectorXd center = sample.colwise().mean();
    sample.rowwise() -= center;
    const Matrix<double> gram = sample * sample.transpose();
    const EigenPairs pairs = symmetric_eigen(gram);
    Matrix<double> axes = Matrix<double>::Zero(2, points.columns());
    for (Index a = 0; a < std::min<Index>(2, sampled); ++a) {
        const Index from = sampled - 1 - a;
        if (pairs.values[from] > 0)
            axes.row(a) = (sample.transpose() * pairs.vectors.col(from)).transpose() / std::sqrt(pairs.values[from]);
    }
    const double trace = gram.trace();
    points.visit([&](const auto& all) {
        Eigen::RowVectorXd row(points.columns());
        for (const Index i : drawn) {
            for (Index j = 0; j < points.columns(); ++j) row[j] = static_cast<double>(all.row(i)[j]) - center[j];
            out.x.push_back(row.dot(axes.row(0)));
            out.y.push_back(row.dot(axes.row(1)));
        }
    });
    out.horizontal = "first principal axis" + variance_share(pairs.values[sampled - 1], trace);
    out.vertical = "second principal axis" + (sampled > 1 ? variance_share(pairs.values[sampled - 2], trace) : "");
    out.remark = "axes of " + count_text(sampled) + " of the points";
    return out;
}

}  // namespace

std::string cluster_colour(std::size_t cluster) { return colours[cluster % colours.size()]; }

std::string scatter_picture(PointsView points, const Labels& labels, const std::vector<Index>& sizes,
                            const PictureText& text, const std::vector<std::string>& column_names, const Run& run) {
    const Index stride = std::max<Index>(1, (points.rows() + most_drawn - 1) / most_drawn);
    std::vector<Index> drawn;
    for (Index i = 0; i < points.rows(); i += stride) drawn.push_back(i);
    const Projection projection = project_drawn(points, drawn, column_names, run);

    constexpr std::size_t most_legend = 24;
    const std::size_t legend = std::min(most_legend, sizes.size());
    constexpr double width = 900;
    constexpr double height = 640;
    const auto range_of = [](const std::vector<double>& values) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        return axis_over(*low, *high);
    };
    const Frame frame{70, 74, width - 176, height - 66, range_of(projection.x), range_of(projection.y)};

    std::string out = svg_start(width, height, text.title);
    out += text_at(20, 30, "font-size=\"17\" font-weight=\"600\" fill=\"#111827\"", text.title);
    out += text_at(20, 52, "font-size=\"13\" fill=\"#4B5563\"", text.subtitle);
    out += frame_lines(frame, projection.vertical_means);

    // Drawn in rounds over all clusters, so that no cluster hides those before it.
    constexpr std::size_t rounds = 12;
    const std::size_t clusters = sizes.size();
    out += "<g fill-opacity=\"0.8\" stroke-opacity=\"0.8\">\n";
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<std::string> paths(clusters + 1);
        for (std::size_t i = round; i < drawn.size(); i += rounds) {
            const auto label = labels[static_cast<std::size_t>(drawn[i])];
            const std::size_t cluster = label < 0 ? clusters : std::min(static_cast<std::size_t>(label), clusters);
            append_mark(paths[cluster], cluster == clusters ? 0 : cluster / colours.size(), frame.x(projection.x[i]),
                        frame.y(projection.y[i]));
        }
        for (std::size_t cluster = 0; cluster <= clusters; ++cluster) {
            if (paths[cluster].empty()) continue;
            const std::string style =
                cluster == clusters ? "fill=\"none\" stroke=\"#D1D5DB\" stroke-width=\"4\" stroke-linecap=\"round\""
                                    : mark_style(cluster);
            out += "<path " + style + " d=\"" + paths[cluster] + "\"/>\n";
        }
    }
    out += "</g>\n";

    out += "<g font-size=\"12\" fill=\"#111827\">\n";
    out += text_at((frame.left + frame.right) / 2, frame.bottom + 36, "text-anchor=\"middle\"", projection.horizontal);
    const double middle = (frame.top + frame.bottom) / 2;
    out += text_at(18, middle, "text-anchor=\"middle\" transform=\"rotate(-90 18 " + formatted("%.1f", middle) + ")\"",
                   projection.vertical);
    const double legend_left = frame.right + 22;
    out += text_at(legend_left - 6, frame.top + 10, "font-weight=\"600\"", "cluster");
    out += text_at(width - 20, frame.top + 10, "font-weight=\"600\" text-anchor=\"end\"", "points");
    for (std::size_t cluster = 0; cluster < legend; ++cluster) {
        const double y = frame.top + 30 + 19.5 * static_cast<double>(cluster);
        std::string mark;
        append_mark(mark, cluster / colours.size(), legend_left, y - 4);
        out += "<path " + mark_style(cluster) + " d=\"" + mark + "\"/>\n";
        out += text_at(legend_left + 12, y, "", std::to_string(cluster));
        out += text_at(width - 20, y, "text-anchor=\"end\"", count_text(sizes[cluster]));
    }
    if (sizes.size() > legend)
        out += text_at(legend_left - 6, frame.top + 30 + 19.5 * static_cast<double>(legend), "fill=\"#4B5563\"",
                       "and " + count_text(static_cast<long long>(sizes.size() - legend)) + " more");
    out += "</g>\n";

    std::string caption = stride == 1 ? "All " + count_text(points.rows()) + " points drawn"
                                      : count_text(static_cast<long long>(drawn.size())) + " of " +
                                            count_text(points.rows()) + " points drawn, every " + count_text(stride) +
                                            (stride % 10 == 2 && stride % 100 != 12   ? "nd"
                                             : stride % 10 == 3 && stride % 100 != 13 ? "rd"
                                             : stride % 10 == 1 && stride % 100 != 11 ? "st"
                                                                                      : "th");
    if (!projection.remark.empty()) caption += "; " + projection.remark;
    out += text_at(20, height - 12, "font-size=\"11\" fill=\"#6B7280\"", caption + ".");
    return out + "</svg>\n";
}

std::string fit_picture(const Pipeline& pipeline, const FitResult& result, const Run& run) {
    const FitReport& report = result.report;
    std::string subtitle = "n = " + count_text(report.points) + ", d = " + count_text(report.dimensions) +
                           ", k = " + count_text(report.clusters_requested);
    if (result.preprocessing != "none") subtitle += ", " + result.preprocessing;
    if (result.agreement) {
        const Scores& scores = result.agreement->scores;
        subtitle += "  \u00b7  ACC " + share_text(scores.acc) + ", NMI " + share_text(scores.nmi) + ", ARI " +
                    share_text(scores.ari);
    } else {
        subtitle += "  \u00b7  objective " + number_text(report.objective);
    }
    return scatter_picture(pipeline.prepared(), pipeline.model().labels(), result.sizes,
                           {result.method->name + " on " + result.source, subtitle}, pipeline.column_names(), run);
}

namespace {

void append_point(std::string& out, char command, const Frame& frame, double x, double y) {
    out += command;
    append_number(out, frame.x(x));
    out += ' ';
    append_number(out, frame.y(y));
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
            append_number(path, frame.left + width * static_cast<double>(begin));
            path += " ";
            append_number(path, frame.bottom - height * static_cast<double>(row + 1));
            path += "h" + formatted("%.1f", width * static_cast<double>(end - begin)) + "v" +
                    formatted("%.2f", height) + "h" + formatted("%.1f", -width * static_cast<double>(end - begin)) +
                    "z";
            begin = end;
        }
    std::string out = "<g fill-opacity=\"0.16\">\n";
    for (std::size_t c = 0; c < paths.size(); ++c)
        if (!paths[c].empty()) out += "<path fill=\"" + cluster_colour(c) + "\" d=\"" + paths[c] + "\"/>\n";
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
            // The head: two strokes back along the way, as long as a third of it and no longer than 5 pixels.
            const double back_x = frame.x(panel.points(i, 0)) - frame.x(x);
            const double back_y = frame.y(panel.points(i, 1)) - frame.y(y);
            const double length = std::hypot(back_x, back_y);
            if (length < 1) continue;
            const double head = std::min(5.0, length / 3) / length;
            for (const double turn : {0.45, -0.45}) {
                arrows += 'M';
                append_number(arrows, frame.x(x));
                arrows += ' ';
                append_number(arrows, frame.y(y));
                arrows += 'l';
                append_number(arrows, head * (back_x * std::cos(turn) - back_y * std::sin(turn)));
                arrows += ' ';
                append_number(arrows, head * (back_x * std::sin(turn) + back_y * std::cos(turn)));
            }
        }
        if (!arrows.empty())
            out += "<path fill=\"none\" stroke=\"#374151\" stroke-width=\"0.7\" d=\"" + arrows + "\"/>\n";
        std::vector<std::string> marks(colours.size());
        for (Index i = 0; i < panel.points.rows(); ++i) {
            const auto cluster = static_cast<std::size_t>(panel.labels[static_cast<std::size_t>(i)]) % colours.size();
            append_mark(marks[cluster], 0, frame.x(panel.points(i, 0)), frame.y(panel.points(i, 1)));
        }
        for (std::size_t c = 0; c < marks.size(); ++c)
            if (!marks[c].empty()) out += "<path " + mark_style(c) + " d=\"" + marks[c] + "\"/>\n";
    }
    return out + "</svg>\n";
}

std::string lines_picture(const std::vector<Line>& lines, const std::string& horizontal, const std::string& vertical) {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-low[0], -low[1]};
    std::size_t longest = 0;
    const auto each = [](const Line& line, auto&& on_point) {
        for (std::size_t i = 0; i < std::min(line.x.size(), line.y.size()); ++i)
            if (std::isfinite(line.x[i]) && std::isfinite(line.y[i])) on_point(line.x[i], line.y[i]);
    };
    for (const Line& line : lines) {
        std::size_t count = 0;
        each(line, [&](double x, double y) {
            low[0] = std::min(low[0], x), high[0] = std::max(high[0], x);
            low[1] = std::min(low[1], y), high[1] = std::max(high[1], y);
            ++count;
        });
        longest = std::max(longest, count);
    }
    if (longest == 0) return {};
    constexpr double width = lines_width;
    constexpr double height = lines_height;
    const Frame frame{
        88, 18, width - 24, height - 50, axis_over(low[0], std::max(high[0], low[0] + 1)), axis_over(low[1], high[1])};
    std::string out = svg_start(width, height, vertical + " against " + horizontal);
    out += frame_lines(frame, true);
    std::string key;
    double beside = frame.top + 14;
    for (std::size_t number = 0; number < lines.size(); ++number) {
        std::string path;
        std::string marks;
        each(lines[number], [&](double x, double y) {
            path += path.empty() ? "M" : "L";
            append_number(path, frame.x(x));
            path += " ";
            append_number(path, frame.y(y));
            if (longest <= 100) append_mark(marks, 0, frame.x(x), frame.y(y));
        });
        const std::string colour = cluster_colour(number);
        out += "<path fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"" +
               path + "\"/>\n";
        if (!marks.empty())
            out += "<path fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"6\" stroke-linecap=\"round\" d=\"" +
                   marks + "\"/>\n";
        if (lines[number].name.empty()) continue;
        key += text_at(frame.right - 8, beside, "text-anchor=\"end\" fill=\"" + colour + "\"", lines[number].name);
        beside += 16;
    }
    out += "<g font-size=\"12\" fill=\"#111827\">\n" + key;
    out += text_at((frame.left + frame.right) / 2, height - 12, "text-anchor=\"middle\"", horizontal);
    const double middle = (frame.top + frame.bottom) / 2;
    out += text_at(16, middle, "text-anchor=\"middle\" transform=\"rotate(-90 16 " + formatted("%.1f", middle) + ")\"",
                   vertical);
    return out + "</g>\n</svg>\n";
}

std::string stacked_pictures(std::vector<std::string> pictures, const std::string& title) {
    std::erase(pictures, std::string());
    std::string out = svg_start(lines_width, lines_height * static_cast<double>(pictures.size()), title);
    for (std::size_t i = 0; i < pictures.size(); ++i)
        out += "<g transform=\"translate(0 " + formatted("%.0f", lines_height * static_cast<double>(i)) + ")\">\n" +
               pictures[i] + "</g>\n";
    return out + "</svg>\n";
}

std::string line_picture(const std::vector<double>& values, const std::string& horizontal,
                         const std::string& vertical) {
    Line line;
    for (const double value : values)
        if (std::isfinite(value)) {
            line.y.push_back(value);
            line.x.push_back(static_cast<double>(line.y.size()));
        }
    return lines_picture({line}, horizontal, vertical);
}

}  // namespace coterie
