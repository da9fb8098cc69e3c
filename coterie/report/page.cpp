// Every name and message is escaped. Long lists are cut, with the number of entries that are not shown.

#include "coterie/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/text.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/internal/charts.hpp"
#include "coterie/report/page_parts.hpp"
#include "coterie/report/picture.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;
using namespace report::internal;
using namespace page_parts;

namespace {

using NameOfOption = std::function<std::string(std::string_view)>;

constexpr const char* style = R"css(
:root { color-scheme: light dark; --page: #f9fafb; --card: #ffffff; --ink: #111827; --soft: #4b5563; --line: #e5e7eb; --warn: #fff7ed; --warn-line: #fdba74; }
@media (prefers-color-scheme: dark) { :root { --page: #0f172a; --card: #1e293b; --ink: #f1f5f9; --soft: #a3b1c6; --line: #334155; --warn: #3b2a14; --warn-line: #92591b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 24px; line-height: 1.25; margin: 8px 0 2px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 0 0 10px; }
p.sub { color: var(--soft); margin: 0 0 20px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px 20px; margin: 0 0 16px; overflow-x: auto; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 16px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; flex: 1 1 120px; }
.tile b { display: block; font-size: 21px; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; text-align: left; vertical-align: top; }
th { font-weight: 600; color: var(--soft); }
td.n, th.n { text-align: right; }
table.confusion td { text-align: right; padding: 3px 8px; border: 1px solid var(--line); }
table.confusion th { padding: 3px 8px; text-align: right; }
.bar { display: inline-block; height: 12px; border-radius: 2px; }
td.wide { width: 100%; }
.warn { background: var(--warn); border-color: var(--warn-line); }
svg { max-width: 100%; height: auto; display: block; border-radius: 6px; }
code { font-size: 13px; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 430px), 1fr)); gap: 12px; }
.cards article { border: 1px solid var(--line); border-top: 4px solid; border-radius: 6px; padding: 8px 12px; overflow-x: auto; break-inside: avoid; }
.cards h3 { font-size: 15px; margin: 0; }
.cards table { font-size: 12px; width: 100%; }
.cards td:first-child { overflow-wrap: anywhere; }
.cards td.n { white-space: nowrap; }
.cards p { margin: 2px 0; color: var(--soft); font-size: 13px; }
.controls { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; font-size: 13px; }
.controls select { max-width: 220px; }
.canvas { position: relative; height: 560px; margin: 10px 0; border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.canvas canvas { width: 100%; height: 100%; display: block; }
:focus-visible { outline: 3px solid #0072b2; outline-offset: 1px; }
[aria-pressed="true"] { background: #0072b2; color: #ffffff; }
.canvas #map-moving { position: absolute; inset: 0; pointer-events: none; visibility: hidden; }
#map-tip { position: absolute; max-width: 320px; padding: 6px 10px; background: var(--card); border: 1px solid var(--line); border-radius: 6px; pointer-events: none; font-size: 12px; line-height: 1.35; overflow: hidden; overflow-wrap: anywhere; }
#map-tip b { display: block; }
.charts > div { display: flex; flex-wrap: wrap; gap: 12px; }
.charts > div figure { margin: 0; }
.charts > div .u-title { font-size: 14px; }
.charts > div .u-legend { font-size: 12px; }
#dendrogram input { width: 320px; }
.key span { margin-right: 14px; font-size: 13px; }
.key span::before { content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 50%; background: var(--colour); margin-right: 5px; }
#map-missing:empty { display: none; }
@media print { #map, .charts, #dendrogram-controls { display: none; } #picture.printed, .charted { display: block !important; } body { background: #ffffff; } section { break-inside: avoid; } }
)css";

std::string detail_text(const Detail& detail) {
    struct Visitor {
        // A residual is infinite if coefficients overflowed.
        std::string operator()(double value) const { return std::isfinite(value) ? number_text(value) : "-"; }
        std::string operator()(std::int64_t value) const { return std::to_string(value); }
        std::string operator()(const std::string& value) const { return value; }
        std::string operator()(const std::vector<double>& values) const {
            constexpr std::size_t most = 20;
            std::string out;
            for (std::size_t i = 0; i < values.size() && i < most; ++i) out += (i == 0 ? "" : " ") + (*this)(values[i]);
            if (values.size() > most) out += filled(" ... ({} numbers)", values.size());
            return out;
        }
    };
    return std::visit(Visitor{}, detail);
}

std::string percent(double share, int digits) { return fixed_text(100 * share, digits); }

std::string size_bars(const std::vector<Index>& sizes) {
    constexpr std::size_t most = 200;
    const Index largest = sizes.empty() ? 1 : std::max<Index>(1, *std::max_element(sizes.begin(), sizes.end()));
    std::string out = "<table><tr><th>cluster</th><th class=\"n\">rows</th><th></th></tr>\n";
    for (std::size_t i = 0; i < std::min(most, sizes.size()); ++i)
        out += "<tr><td>" + std::to_string(i) + "</td>" + cell(count_text(sizes[i]), "n") +
               "<td class=\"wide\"><span class=\"bar\" style=\"width:" +
               percent(static_cast<double>(sizes[i]) / static_cast<double>(largest), 2) +
               "%;background:" + cluster_colour(i) + "\"></span></td></tr>\n";
    return out + "</table>\n" + more_text(sizes.size(), most, " clusters");
}

std::string cluster_cards(const Description& description) {
    constexpr std::size_t most = 200;
    std::string out;
    if (description.silhouette) {
        out += "<p>Silhouette " + fixed_text(*description.silhouette, 3) + " (" + description.silhouettes + ", of " +
               escape_markup(description.space) + ").";
        if (description.closest)
            out += " Clusters " + escape_markup(description.clusters[at(description.closest->first)].name) + " and " +
                   escape_markup(description.clusters[at(description.closest->second)].name) +
                   " are nearest to each other.";
        out += "</p>\n";
    }
    if (!description.outliers.empty())
        out += "<p>The largest outlier scores: row " + outliers_text(description.outliers) + ".</p>\n";
    out += "<div class=\"cards\">\n";
    for (std::size_t j = 0; j < std::min(most, description.clusters.size()); ++j) {
        const ClusterProfile& cluster = description.clusters[j];
        out += "<article style=\"border-top-color:" + cluster_colour(j) + "\">\n<h3>" + escape_markup(cluster.name) +
               "</h3>\n<p>" + counted_text(cluster.rows, "row") + ", " + percent(cluster.share, 1) + " %";
        if (cluster.silhouette) out += ", silhouette " + fixed_text(*cluster.silhouette, 3);
        if (cluster.nearest) out += ", nearest to " + escape_markup(description.clusters[at(*cluster.nearest)].name);
        out += "</p>\n<span class=\"bar\" style=\"width:" + percent(cluster.share, 2) +
               "%;background:" + cluster_colour(j) + "\"></span>\n";
        TextRows columns;
        for (const ColumnProfile& column : cluster.columns) {
            std::string quartiles;
            if (column.quartiles)
                for (const double each : *column.quartiles)
                    quartiles += (quartiles.empty() ? "" : " ") + column.text(each);
            const char* const side = !column.elsewhere ? "" : column.difference > 0 ? "high " : "low ";
            columns.push_back({side + column.name, column.text(column.mean),
                               column.elsewhere ? column.text(*column.elsewhere) : "-", quartiles});
        }
        if (!columns.empty())
            out += table_html("<table>", {"column", "mean", "elsewhere", "quartiles"}, columns, {1, 2, 3});
        const auto rows = [&](const char* what, const std::vector<Index>& which) {
            return which.empty() ? "" : filled("<p>{} rows {}</p>\n", what, rows_text(which));
        };
        out += rows("typical", cluster.typical) + rows("doubtful", cluster.doubtful) + "</article>\n";
    }
    return out + "</div>\n" + more_text(description.clusters.size(), most, " clusters");
}

// Whether a requested share of n points is met as closely as whole points allow.
bool is_met(double share, const std::pair<double, double>& asked, Index points) {
    const double one = points > 0 ? 1.0 / static_cast<double>(points) : 0;
    return share > asked.first - one && share < asked.second + one;
}

std::string label_table(const std::vector<LabelGroup>& groups, const std::vector<Index>& sizes) {
    const bool asked = std::any_of(groups.begin(), groups.end(), [](const auto& group) { return !!group.asked; });
    const Index points = std::accumulate(sizes.begin(), sizes.end(), Index{0});
    std::string out = filled(
        "<table><tr><th>label</th><th class=\"n\">clusters</th><th class=\"n\">rows</th><th "
        "class=\"n\">labelled</th><th class=\"n\">share</th>{}</tr>\n",
        asked ? "<th class=\"n\">requested</th><th>met</th>" : "");
    for (const auto& group : groups) {
        out += "<tr>" + cell(group.name) + cell(std::to_string(group.clusters.size()), "n") +
               cell(count_text(group.points), "n") + cell(count_text(group.labelled), "n") +
               cell(share_text(group.share), "n");
        if (asked && group.asked)
            out += cell(share_text(*group.asked), "n") + cell(is_met(group.share, *group.asked, points) ? "yes" : "no");
        else if (asked)
            out += "<td></td><td></td>";
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

std::string constraints_section(const ClusteringResult& result) {
    return result.groups.empty() ? "" : section("Labels", label_table(result.groups, result.sizes));
}

std::string constraints_section(const FitResult& result) {
    std::string out = constraints_section(static_cast<const ClusteringResult&>(result));
    if (!result.size_bounds || result.sizes.empty()) return out;
    const auto [least, most] = std::minmax_element(result.sizes.begin(), result.sizes.end());
    const SizeBounds& asked = *result.size_bounds;
    const bool bounded = asked.high < std::numeric_limits<Index>::max();
    return out + section("Requested cluster sizes",
                         fact_table({{"at least", count_text(asked.low) + "; the smallest has " + count_text(*least)},
                                     {"at most", (bounded ? count_text(asked.high) : std::string("any")) +
                                                     "; the largest has " + count_text(*most)},
                                     {"met", *least >= asked.low && *most <= asked.high ? "yes" : "no"}}));
}

// For each class: how many points are in its matched cluster, and where most of the others are. The classes with the
// most other points come first.
std::string largest_confusions(const Confusion& confusion) {
    constexpr std::size_t most_classes = 100, most_clusters = 3;
    struct Line {
        std::size_t row = 0;
        std::int64_t all = 0, own = 0;
        std::vector<std::pair<std::int64_t, std::size_t>> others;  // points, cluster
    };
    std::vector<Line> lines;
    for (std::size_t v = 0; v < confusion.classes.size(); ++v) {
        Line line{.row = v, .all = 0, .own = 0, .others = {}};
        for (std::size_t u = 0; u < confusion.counts[v].size(); ++u) {
            const std::int64_t count = confusion.counts[v][u];
            line.all += count;
            if (confusion.matched[u] == confusion.classes[v])
                line.own += count;
            else if (count > 0)
                line.others.emplace_back(count, u);
        }
        std::stable_sort(line.others.begin(), line.others.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        lines.push_back(std::move(line));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.all - a.own > b.all - b.own; });
    TextRows rows;
    for (std::size_t l = 0; l < std::min(most_classes, lines.size()); ++l) {
        const Line& line = lines[l];
        std::string others;
        for (std::size_t o = 0; o < std::min(most_clusters, line.others.size()); ++o)
            others += (o == 0 ? "" : ", ") + count_text(line.others[o].first) + " in cluster " +
                      confusion.clusters[line.others[o].second];
        rows.push_back({confusion.classes[line.row], count_text(line.all), count_text(line.own), others});
    }
    return table_html("<table>\n", {"class", "rows", "in its matched cluster", "most of the others"}, rows, {1, 2}) +
           more_text(lines.size(), most_classes, " classes, with fewer rows in other clusters");
}

// `rows`: the name of the classes, "classes".
std::string confusion_table_html(const Confusion& confusion, const NameOfOption& name_of_option,
                                 const std::string& rows) {
    constexpr std::size_t most = 30;
    if (confusion.classes.size() > most || confusion.clusters.size() > most)
        return filled(
            "<p>{} classes and {} clusters are too many for a full table{}.</p>\n{}", confusion.classes.size(),
            confusion.clusters.size(),
            name_of_option ? ", which <code>coterie evaluate " + name_of_option("json") + "</code> prints" : "",
            largest_confusions(confusion));
    std::string out =
        "<p>Rows are " + rows +
        ", columns are clusters. Matched clusters are on the diagonal.</p>\n<table class=\"confusion\">\n<tr><th></th>";
    for (const auto& cluster : confusion.clusters) out += "<th>" + escape_markup(cluster) + "</th>";
    out += "</tr>\n";
    for (std::size_t v = 0; v < confusion.classes.size(); ++v) {
        const auto total = std::accumulate(confusion.counts[v].begin(), confusion.counts[v].end(), std::int64_t{0});
        out += "<tr><th>" + escape_markup(confusion.classes[v]) + "</th>";
        for (std::size_t u = 0; u < confusion.counts[v].size(); ++u) {
            const auto count = confusion.counts[v][u];
            const double share = total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
            // The matched cluster is blue, others are orange. A larger share of the class gives a stronger colour.
            const bool agrees = confusion.matched[u] == confusion.classes[v];
            out += filled("<td style=\"background:rgba({}{})\">{}</td>", agrees ? "0,114,178," : "230,159,0,",
                          percent(0.75 * share / 100, 3), count);
        }
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

// The picture (replaced by the map if the browser can draw it), and the descriptions of the clusters.
std::string clusters_sections(const ClusteringResult& result, const std::string& picture, const std::string& map) {
    std::string out;
    if (!picture.empty()) out += "<div id=\"picture\">\n" + section("Picture", picture) + "</div>\n";
    out += map;
    return out + (result.description ? section("Clusters", cluster_cards(*result.description))
                                     : section("Cluster sizes", size_bars(result.sizes)));
}

std::string moves_section(const ModelComparison& comparison, const NameOfOption& name_of_option) {
    constexpr std::size_t most = 100;
    std::string out = "<p>" + count_text(comparison.moved) + " of " + count_text(comparison.agreement.scored) +
                      (comparison.moved == 1 ? " row has" : " rows have") +
                      " moved: their clusters in the two models do not match. Clusters are matched one to one, so that "
                      "as few rows as possible move. ARI " +
                      share_text(comparison.agreement.scores.ari) + ", NMI " +
                      share_text(comparison.agreement.scores.nmi) + ".</p>\n";
    if (!comparison.moves.empty()) {
        TextRows rows;
        for (std::size_t m = 0; m < std::min(most, comparison.moves.size()); ++m) {
            const ModelComparison::Move& move = comparison.moves[m];
            rows.push_back({move.from, move.to, count_text(move.rows), rows_text(move.some)});
        }
        out += table_html("<table>", {"from", "to", "rows", "for example rows"}, rows, {2}) +
               more_text(comparison.moves.size(), most, " moves");
    }
    return section("Rows that moved, compared with " + comparison.method + " of " + comparison.model, out) +
           section("Clusters of both models",
                   confusion_table_html(comparison.agreement.confusion, name_of_option, "clusters of the other model"));
}

std::string agreement_sections(const ClusteringResult& result, const NameOfOption& name_of_option) {
    if (!result.agreement) return {};
    Facts rows;
    for (const auto& [name, score] : named(result.agreement->scores)) rows.emplace_back(name, share_text(score));
    if (result.agreement->label_accuracy)
        rows.emplace_back("label accuracy", share_text(*result.agreement->label_accuracy));
    rows.emplace_back("rows scored", count_text(result.agreement->scored) +
                                         (result.agreement->given > 0 ? ", those without a given label" : ""));
    return section("Agreement with " + result.truth_source, fact_table(rows)) +
           section("Classes and clusters",
                   confusion_table_html(result.agreement->confusion, name_of_option, "classes"));
}

std::string end(const ClusteringResult& result, bool has_charts) {
    std::string seconds = "<table>\n";
    for (const auto& [stage, value] : result.seconds)
        seconds += "<tr><th>" + escape_markup(stage) + "</th>" + cell(seconds_text(value), "n") + "</tr>\n";
    std::string out = section("Seconds", seconds + "</table>\n");
    if (!result.written.empty()) out += section("Written", fact_table(result.written));
    return out + page_parts::end(result.command, result.date, has_charts ? chart_scripts() : "");
}

}  // namespace

namespace page_parts {

std::string begin(const std::string& title, const std::string& heading, const std::string& below,
                  std::string_view own_style) {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
           escape_markup(title) + "</title>\n<style>" + style + std::string(own_style) +
           "</style>\n</head>\n<body>\n<main>\n<h1>" + escape_markup(heading) + "</h1>\n<p class=\"sub\">" +
           escape_markup(below) + "</p>\n";
}

std::string tile(const std::string& value, const std::string& name) {
    return "<div class=\"tile\"><b>" + escape_markup(value) + "</b><span>" + escape_markup(name) + "</span></div>\n";
}

std::string points_tiles(Index points, const std::string& name, Index left_out) {
    std::string out = tile(count_text(points), name);
    return left_out > 0 ? out + tile(count_text(left_out), left_out == 1 ? "row left out" : "rows left out") : out;
}

std::string section(const std::string& heading, const std::string& body, const char* kind) {
    return filled("<section{}>\n<h2>{}</h2>\n{}</section>\n", *kind ? filled(" class=\"{}\"", kind) : "",
                  escape_markup(heading), body);
}

std::string cell(const std::string& text, const char* kind) {
    return filled("<td{}>{}</td>", *kind ? filled(" class=\"{}\"", kind) : "", escape_markup(text));
}

std::string fact_table(const Facts& rows) {
    std::string out = "<table>\n";
    for (const auto& [name, value] : rows) out += "<tr><th>" + escape_markup(name) + "</th>" + cell(value) + "</tr>\n";
    return out + "</table>\n";
}

std::string more_text(std::size_t all, std::size_t most, const std::string& what) {
    return all <= most ? "" : filled("<p>and {} more{}</p>\n", count_text(static_cast<Index>(all - most)), what);
}

std::string table_html(const std::string& start, const std::vector<std::string>& header, const TextRows& rows,
                       const std::vector<std::size_t>& right) {
    const auto kind = [&](std::size_t column) {
        return std::find(right.begin(), right.end(), column) != right.end() ? "n" : "";
    };
    std::string out = start + "<tr>";
    for (std::size_t j = 0; j < header.size(); ++j)
        out += filled("{}{}</th>", *kind(j) ? "<th class=\"n\">" : "<th>", escape_markup(header[j]));
    for (const auto& row : rows) {
        out += "</tr>\n<tr>";
        for (std::size_t j = 0; j < row.size(); ++j) out += cell(row[j], kind(j));
    }
    return out + "</tr>\n</table>\n";
}

std::string warnings_section(const std::vector<Message>& warnings) {
    if (warnings.empty()) return {};
    std::string list = "<ul>\n";
    for (const auto& warning : warnings) list += "<li>" + escape_markup(warning.text()) + "</li>\n";
    return section("Warnings", list + "</ul>\n", "warn");
}

std::string choice_section(const ClusterChoice& choice) {
    std::string body = filled(
        "<p>Recommended: <b>{}</b> ({}). Votes of the criteria: {}.</p>\n<table id=\"choice\">\n<tr><th "
        "class=\"n\">k</th>",
        counted(choice.recommended, "cluster"), name(choice.sureness), escape_markup(votes_text(choice)));
    std::string left_out;
    for (const CriterionCurve& curve : choice.curves) {
        if (curve.left_out.empty())
            body += filled("<th class=\"n\">{}</th>", name(curve.criterion));
        else
            left_out += filled("<p class=\"sub\">{} is left out: {}</p>\n", name(curve.criterion),
                               escape_markup(curve.left_out));
    }
    body += "</tr>\n";
    for (std::size_t row = 0; row < choice.clusters.size(); ++row) {
        const int k = choice.clusters[row];
        body += filled("<tr><td class=\"n\">{}{}</td>", k, k == choice.recommended ? " *" : "");
        for (const CriterionCurve& curve : choice.curves) {
            if (!curve.left_out.empty()) continue;
            const double value = curve.values[row];
            const std::string text = std::isfinite(value) ? formatted("%.4g", value) : "";
            body += "<td class=\"n\">" + (curve.chosen == k ? "<b>" + text + "</b>" : text) + "</td>";
        }
        body += "</tr>\n";
    }
    return section("How many clusters", body + "</table>\n" + left_out);
}

std::string end(const std::string& command, const std::string& date, const std::string& scripts) {
    const std::string when = date.empty() ? "" : ", " + date;
    const std::string how = command.empty() ? "" : ": <code>" + escape_markup(command) + "</code>";
    return "<p class=\"sub\">Made by coterie " COTERIE_VERSION + when + how + ".</p>\n</main>\n" + scripts +
           "</body>\n</html>\n";
}

}  // namespace page_parts

std::string html_document(const FitResult& result, const std::string& picture, const NameOfOption& name_of_option,
                          const std::string& map, const std::string& search) {
    const FitReport& report = result.report;
    std::string out = begin(result.title(), result.method->name + " on " + result.source, result.method->summary);
    out += "<div class=\"tiles\">\n" +
           points_tiles(report.points, result.sample > 0 ? "rows, fitted on " + count_text(result.sample) : "rows",
                        result.rows_left_out) +
           tile(count_text(report.dimensions), "columns") + tile(count_text(report.clusters_found), "clusters found");
    if (result.noise > 0) out += tile(count_text(result.noise), "noise");
    if (result.agreement)
        out += tile(share_text(result.agreement->scores.acc), "ACC") +
               tile(share_text(result.agreement->scores.nmi), "NMI") +
               tile(share_text(result.agreement->scores.ari), "ARI");
    double fit_seconds = 0;
    for (const auto& [stage, seconds] : result.seconds)
        if (stage == "fit") fit_seconds = seconds;
    out += tile(seconds_text(fit_seconds) + " s", "to fit") + "</div>\n";

    out += warnings_section(result.warnings) + search + clusters_sections(result, picture, map);
    const std::string tree = dendrogram(report),
                      drawn = charts(result, &report, result.choice ? &*result.choice : nullptr);
    if (result.comparison) out += moves_section(*result.comparison, name_of_option);
    if (result.choice) out += choice_section(*result.choice);
    out += drawn + tree + constraints_section(result) + agreement_sections(result, name_of_option);

    Facts course = {{"objective", number_text(report.objective)},
                    {"iterations", std::to_string(report.iterations)},
                    {"stopped", std::string(name(report.stopped))}};
    if (!report.empty_cluster_policy.empty())
        course.emplace_back("empty clusters",
                            filled("{}; {} times", report.empty_cluster_policy, report.empty_clusters_repaired));
    for (const auto& [name, detail] : report.details)
        if (!name.starts_with("tree_")) course.emplace_back(name, detail_text(detail));  // the tree is drawn above
    std::string course_body = fact_table(course);
    if (report.objective_per_iteration.size() > 1)
        course_body += "<div class=\"charted\">\n" +
                       line_picture(report.objective_per_iteration, "iteration", "objective") + "</div>\n";
    out += section("Course of the fit", course_body);

    Facts options;
    for (const auto& option : result.method->options->options())
        if (const auto found = result.options.find(option.name); found != result.options.end())
            options.emplace_back(name_of_option ? name_of_option(option.name) : option.name, to_text(found->second));
    options.emplace_back("preprocessing", result.preprocessing);
    options.emplace_back("seed", std::to_string(report.seed));
    options.emplace_back("threads", std::to_string(report.threads));
    options.emplace_back("precision", result.scalar);
    return out + section("Options", fact_table(options)) +
           end(result, !tree.empty() || !drawn.empty() || !search.empty());
}

std::string html_document(const AppliedResult& result, const std::string& picture, const NameOfOption& name_of_option,
                          const std::string& map, const std::string& search) {
    const std::string heading = result.method + " of " + result.model + " on " + result.source;
    std::string out = begin(heading, heading, "The clusters of the model in these rows.");
    const auto there = std::count_if(result.sizes.begin(), result.sizes.end(), [](Index size) { return size > 0; });
    out += "<div class=\"tiles\">\n" + points_tiles(result.points, "rows", result.rows_left_out) +
           tile(count_text(result.dimensions), "columns") +
           tile(count_text(there), "of " + count_text(result.clusters) + " clusters have rows");
    if (result.noise > 0) out += tile(count_text(result.noise), "noise");
    if (result.description && result.description->silhouette)
        out += tile(fixed_text(*result.description->silhouette, 3), "silhouette");
    if (result.comparison) out += tile(count_text(result.comparison->moved), "rows moved");
    out += "</div>\n" + warnings_section(result.warnings) + search + clusters_sections(result, picture, map);
    const std::string drawn = charts(result, nullptr, nullptr);
    out += drawn + (result.comparison ? moves_section(*result.comparison, name_of_option) : "") +
           constraints_section(result) + agreement_sections(result, name_of_option);
    if (result.preprocessing != "none")
        out += section("Options", fact_table({{"preprocessing", result.preprocessing}}));
    return out + end(result, !drawn.empty() || !search.empty());
}

}  // namespace coterie
