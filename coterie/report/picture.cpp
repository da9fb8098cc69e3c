// Points with more than two dimensions are drawn in their first two principal axes, the plane with the most variance.
// Up to 1000 columns, the axes come from all points; with more, they come from a sample, and the picture says so.

#include "coterie/report/picture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/text.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

constexpr Index most_drawn = 5000;
constexpr Index most_dimensions_for_scatter_matrix = 1000;
constexpr Index most_rows_for_gram_matrix = 1000;

// The place of each drawn point, and the names of the axes.
struct Projection {
    std::vector<double> x, y;
    std::string horizontal, vertical;
    bool vertical_means = true;  // false: the vertical axis only spreads the points apart
    std::string remark;
};

std::string variance_share(double variance, double total) {
    return total > 0 ? " (" + formatted("%.1f", 100 * variance / total) + " % of the variance)" : "";
}

Projection project_drawn(PointsView points, const std::vector<Index>& drawn,
                         const std::vector<std::string>& column_names, const Run& run) {
    Projection out;
    const auto column_name = [&](std::size_t j) {
        return j < column_names.size() && !column_names[j].empty() ? column_names[j] : filled("column {}", j + 1);
    };
    if (points.columns() <= 2) {
        out.vertical_means = points.columns() == 2;
        RandomStream random = run.random("picture.spread");
        for (const Index i : drawn) {
            out.x.push_back(points.at(i, 0));
            out.y.push_back(out.vertical_means ? points.at(i, 1) : random.uniform());
        }
        out.horizontal = column_name(0);
        out.vertical = out.vertical_means ? column_name(1) : "spread at random";
        return out;
    }

    const auto rows = static_cast<Index>(drawn.size());
    const auto every = [&](Index step) {  // of the drawn rows, as double
        Matrix<double> some((rows + step - 1) / step, points.columns());
        points.visit([&](const auto& all) {
            for (Index i = 0; i < some.rows(); ++i)
                for (Index j = 0; j < points.columns(); ++j)
                    some(i, j) = static_cast<double>(all.row(drawn[at(i * step)])[j]);
        });
        return some;
    };
    if (points.columns() <= most_dimensions_for_scatter_matrix) {
        const PrincipalAxes axes = principal_axes(points, 2, run);
        const Matrix<double> placed = project(every(1), axes, run);
        for (Index i = 0; i < rows; ++i) {
            out.x.push_back(placed(i, 0));
            out.y.push_back(placed(i, 1));
        }
        const double total = column_moments(points, run).variance.sum();
        out.horizontal = "first principal axis" + variance_share(axes.variances[0], total);
        out.vertical = "second principal axis" + variance_share(axes.variances[1], total);
        return out;
    }

    // With this many dimensions, the axes come from a sample, through the matrix of its inner products. They look the
    // same, at a fraction of the cost.
    const Index step = (rows + most_rows_for_gram_matrix - 1) / most_rows_for_gram_matrix;
    Matrix<double> sample = every(step);
    const Index sampled = sample.rows();
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
    out.remark = "axes of " + count_text(sampled) + " of the rows";
    return out;
}

}  // namespace

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

    // Draws the clusters in rounds, so that no cluster hides earlier ones.
    constexpr std::size_t rounds = 12;
    const std::size_t clusters = sizes.size();
    out += "<g fill-opacity=\"0.8\" stroke-opacity=\"0.8\">\n";
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<std::string> paths(clusters + 1);
        for (std::size_t i = round; i < drawn.size(); i += rounds) {
            const auto label = labels[static_cast<std::size_t>(drawn[i])];
            const std::size_t cluster = label < 0 ? clusters : std::min(static_cast<std::size_t>(label), clusters);
            paths[cluster] += mark_at(cluster == clusters ? 0 : cluster / colours.size(), frame.x(projection.x[i]),
                                      frame.y(projection.y[i]));
        }
        for (std::size_t cluster = 0; cluster <= clusters; ++cluster) {
            if (paths[cluster].empty()) continue;
            const std::string attributes =
                cluster == clusters ? "fill=\"none\" stroke=\"#D1D5DB\" stroke-width=\"4\" stroke-linecap=\"round\""
                                    : mark_style(cluster);
            out += "<path " + attributes + " d=\"" + paths[cluster] + "\"/>\n";
        }
    }
    out += "</g>\n";

    out += "<g font-size=\"12\" fill=\"#111827\">\n";
    out += text_at((frame.left + frame.right) / 2, frame.bottom + 36, "text-anchor=\"middle\"", projection.horizontal);
    out += text_upwards(18, (frame.top + frame.bottom) / 2, projection.vertical);
    const double legend_left = frame.right + 22;
    out += text_at(legend_left - 6, frame.top + 10, "font-weight=\"600\"", "cluster");
    out += text_at(width - 20, frame.top + 10, "font-weight=\"600\" text-anchor=\"end\"", "rows");
    for (std::size_t cluster = 0; cluster < legend; ++cluster) {
        const double y = frame.top + 30 + 19.5 * static_cast<double>(cluster);
        out +=
            filled("<path {} d=\"{}\"/>\n", mark_style(cluster), mark_at(cluster / colours.size(), legend_left, y - 4));
        out += text_at(legend_left + 12, y, "", std::to_string(cluster));
        out += text_at(width - 20, y, "text-anchor=\"end\"", count_text(sizes[cluster]));
    }
    if (sizes.size() > legend)
        out += text_at(legend_left - 6, frame.top + 30 + 19.5 * static_cast<double>(legend), "fill=\"#4B5563\"",
                       "and " + count_text(static_cast<long long>(sizes.size() - legend)) + " more");
    out += "</g>\n";

    std::string caption = stride == 1 ? "All " + count_text(points.rows()) + " rows drawn"
                                      : count_text(static_cast<long long>(drawn.size())) + " of " +
                                            count_text(points.rows()) + " rows drawn, every " + count_text(stride) +
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
    return scatter_picture(pipeline.prepared(), pipeline.labels_of_prepared(), result.sizes,
                           {result.method->name + " on " + result.source, subtitle}, pipeline.prepared_names(), run);
}

std::string applied_picture(const Pipeline& pipeline, const AppliedResult& result, const PreparedRows& rows,
                            const Run& run) {
    return scatter_picture(rows.points, result.description->row_labels, result.sizes,
                           {result.method + " of " + result.model + " on " + result.source,
                            "n = " + count_text(result.points) + ", k = " + count_text(result.clusters)},
                           pipeline.prepared_names(), run);
}

std::string lines_picture(const std::vector<PictureLine>& lines, const std::string& horizontal,
                          const std::string& vertical) {
    double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double high[2] = {-low[0], -low[1]};
    std::size_t longest = 0;
    const auto each = [](const PictureLine& line, auto&& on_point) {
        for (std::size_t i = 0; i < std::min(line.x.size(), line.y.size()); ++i)
            if (std::isfinite(line.x[i]) && std::isfinite(line.y[i])) on_point(line.x[i], line.y[i]);
    };
    for (const PictureLine& line : lines) {
        std::size_t count = 0;
        each(line, [&](double x, double y) {
            low[0] = std::min(low[0], x), high[0] = std::max(high[0], x);
            low[1] = std::min(low[1], y), high[1] = std::max(high[1], y);
            ++count;
        });
        longest = std::max(longest, count);
    }
    if (longest == 0) return {};
    constexpr double width = lines_picture_width;
    constexpr double height = lines_picture_height;
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
            path += (path.empty() ? "M" : "L") + pixels(frame.x(x)) + " " + pixels(frame.y(y));
            if (longest <= 100) marks += mark_at(0, frame.x(x), frame.y(y));
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
    return out + text_upwards(16, (frame.top + frame.bottom) / 2, vertical) + "</g>\n</svg>\n";
}

std::string line_picture(const std::vector<double>& values, const std::string& horizontal,
                         const std::string& vertical) {
    PictureLine line;
    for (const double value : values)
        if (std::isfinite(value)) {
            line.y.push_back(value);
            line.x.push_back(static_cast<double>(line.y.size()));
        }
    return lines_picture({line}, horizontal, vertical);
}

}  // namespace coterie
