// The page is one text, its map (map.cpp) a part of it, written from top to bottom; every name and message in it is
// escaped. A long list of clusters is cut and the rest is counted; a table of classes and clusters too large to read is
// left to the command.

#include "coterie/report/page.hpp"

#include <algorithm>

#include "coterie/pipeline/internal/text.hpp"
#include "coterie/report/internal/drawing.hpp"
#include "coterie/report/picture.hpp"

namespace coterie {

using namespace internal;

namespace {

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
.canvas { height: 560px; margin: 10px 0; border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.canvas canvas { width: 100%; height: 100%; display: block; }
:focus-visible { outline: 3px solid #0072b2; outline-offset: 1px; }
[aria-pressed="true"] { background: #0072b2; color: #ffffff; }
.key span { margin-right: 14px; font-size: 13px; }
.key span::before { content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 50%; background: var(--colour); margin-right: 5px; }
#map-missing:empty { display: none; }
@media print { #map { display: none; } #picture.printed { display: block !important; } body { background: #ffffff; } section { break-inside: avoid; } }
)css";

std::string detail_text(const Detail& detail) {
    struct Visitor {
        std::string operator()(double value) const { return number_text(value); }
        std::string operator()(std::int64_t value) const { return std::to_string(value); }
        std::string operator()(const std::string& value) const { return value; }
        std::string operator()(const std::vector<double>& values) const {
            constexpr std::size_t most = 20;
            std::string out;
            for (std::size_t i = 0; i < values.size() && i < most; ++i)
                out += (i == 0 ? "" : " ") + number_text(values[i]);
            if (values.size() > most) out += " ... (" + std::to_string(values.size()) + " numbers)";
            return out;
        }
    };
    return std::visit(Visitor{}, detail);
}

std::string cell(const std::string& text, const char* kind = "") {
    return std::string("<td") + (*kind ? std::string(" class=\"") + kind + "\"" : "") + ">" + escape_markup(text) +
           "</td>";
}

std::string tile(const std::string& value, const std::string& name) {
    return "<div class=\"tile\"><b>" + escape_markup(value) + "</b><span>" + escape_markup(name) + "</span></div>\n";
}

std::string section(const std::string& heading, const std::string& body, const char* kind = "") {
    return std::string("<section") + (*kind ? std::string(" class=\"") + kind + "\"" : "") + ">\n<h2>" +
           escape_markup(heading) + "</h2>\n" + body + "</section>\n";
}

std::string fact_table(const std::vector<std::pair<std::string, std::string>>& rows) {
    std::string out = "<table>\n";
    for (const auto& [name, value] : rows) out += "<tr><th>" + escape_markup(name) + "</th>" + cell(value) + "</tr>\n";
    return out + "</table>\n";
}

std::string percent(double share, int digits) { return fixed_text(100 * share, digits); }

std::string size_bars(const std::vector<Index>& sizes) {
    constexpr std::size_t most = 200;
    const Index largest = sizes.empty() ? 1 : std::max<Index>(1, *std::max_element(sizes.begin(), sizes.end()));
    std::string out = "<table><tr><th>cluster</th><th class=\"n\">points</th><th></th></tr>\n";
    for (std::size_t i = 0; i < std::min(most, sizes.size()); ++i)
        out += "<tr><td>" + std::to_string(i) + "</td>" + cell(count_text(sizes[i]), "n") +
               "<td class=\"wide\"><span class=\"bar\" style=\"width:" +
               percent(static_cast<double>(sizes[i]) / static_cast<double>(largest), 2) +
               "%;background:" + cluster_colour(i) + "\"></span></td></tr>\n";
    out += "</table>\n";
    if (sizes.size() > most)
        out += "<p>and " + count_text(static_cast<long long>(sizes.size() - most)) + " clusters more</p>\n";
    return out;
}

// What is told of each cluster; a long list is cut and the rest is counted.
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
    out += "<div class=\"cards\">\n";
    for (std::size_t j = 0; j < std::min(most, description.clusters.size()); ++j) {
        const ClusterProfile& cluster = description.clusters[j];
        out += "<article style=\"border-top-color:" + cluster_colour(j) + "\">\n<h3>" + escape_markup(cluster.name) +
               "</h3>\n<p>" + count_text(cluster.rows) + (cluster.rows == 1 ? " point, " : " points, ") +
               percent(cluster.share, 1) + " %";
        if (cluster.silhouette) out += ", silhouette " + fixed_text(*cluster.silhouette, 3);
        if (cluster.nearest) out += ", nearest to " + escape_markup(description.clusters[at(*cluster.nearest)].name);
        out += "</p>\n<span class=\"bar\" style=\"width:" + percent(cluster.share, 2) +
               "%;background:" + cluster_colour(j) + "\"></span>\n";
        if (!cluster.columns.empty()) {
            out +=
                "<table><tr><th>column</th><th class=\"n\">mean</th><th class=\"n\">elsewhere</th><th "
                "class=\"n\">quartiles</th></tr>\n";
            for (const ColumnProfile& column : cluster.columns) {
                std::string quartiles;
                if (column.quartiles)
                    for (const double each : *column.quartiles)
                        quartiles += (quartiles.empty() ? "" : " ") + formatted("%.4g", each);
                out += "<tr>" + cell((column.difference > 0 ? "high " : "low ") + column.name) +
                       cell(formatted("%.4g", column.mean), "n") + cell(formatted("%.4g", column.elsewhere), "n") +
                       cell(quartiles, "n") + "</tr>\n";
            }
            out += "</table>\n";
        }
        const auto rows = [&](const char* what, const std::vector<Index>& which) {
            std::string list;
            for (const Index row : which) list += " " + std::to_string(row + 1);
            return list.empty() ? "" : std::string("<p>") + what + " rows" + list + "</p>\n";
        };
        out += rows("typical", cluster.typical) + rows("doubtful", cluster.doubtful) + "</article>\n";
    }
    out += "</div>\n";
    if (description.clusters.size() > most)
        out +=
            "<p>and " + count_text(static_cast<long long>(description.clusters.size() - most)) + " clusters more</p>\n";
    return out;
}

std::string label_table(const std::vector<LabelGroup>& groups) {
    std::string out =
        "<table><tr><th>label</th><th class=\"n\">clusters</th><th class=\"n\">points</th><th class=\"n\">labelled</th>"
        "<th class=\"n\">share</th></tr>\n";
    for (const auto& group : groups)
        out += "<tr>" + cell(group.name) + cell(std::to_string(group.clusters.size()), "n") +
               cell(count_text(group.points), "n") + cell(count_text(group.labelled), "n") +
               cell(share_text(group.share), "n") + "</tr>\n";
    return out + "</table>\n";
}

using NameOfOption = std::function<std::string(std::string_view)>;

std::string confusion_table_html(const Confusion& confusion, const NameOfOption& name_of_option) {
    constexpr std::size_t most = 100;
    if (confusion.classes.size() > most || confusion.clusters.size() > most)
        return "<p>" + std::to_string(confusion.classes.size()) + " classes and " +
               std::to_string(confusion.clusters.size()) + " clusters are too many to show here" +
               (name_of_option ? "; <code>coterie evaluate " + name_of_option("json") + "</code> prints the whole table"
                               : "") +
               ".</p>\n";
    std::string out =
        "<p>Rows are classes, columns are clusters; the cluster matched to each class stands in its place, so that "
        "agreement is on "
        "the diagonal.</p>\n<table class=\"confusion\">\n<tr><th>class</th>";
    for (const auto& cluster : confusion.clusters) out += "<th>" + escape_markup(cluster) + "</th>";
    out += "</tr>\n";
    for (std::size_t v = 0; v < confusion.classes.size(); ++v) {
        std::int64_t total = 0;
        for (const auto count : confusion.counts[v]) total += count;
        out += "<tr><th>" + escape_markup(confusion.classes[v]) + "</th>";
        for (std::size_t u = 0; u < confusion.counts[v].size(); ++u) {
            const auto count = confusion.counts[v][u];
            const double share = total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
            // The matched cluster's cell is blue, a straying one orange, the stronger the more of the class is there.
            const bool agrees = confusion.matched[u] == confusion.classes[v];
            out += "<td style=\"background:rgba(" + std::string(agrees ? "0,114,178," : "230,159,0,") +
                   percent(0.75 * share / 100, 3) + ")\">" + std::to_string(count) + "</td>";
        }
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

}  // namespace

std::string page(const FitResult& result, const std::string& picture, const NameOfOption& name_of_option,
                 const std::string& map) {
    const FitReport& report = result.report;
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
        escape_markup(title(result)) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n";
    out += "<h1>" + escape_markup(result.method->name + " on " + result.source) + "</h1>\n<p class=\"sub\">" +
           escape_markup(result.method->summary) + "</p>\n";

    out += "<div class=\"tiles\">\n" +
           tile(count_text(report.points),
                result.sample > 0 ? "points, fitted on " + count_text(result.sample) : "points") +
           tile(count_text(report.dimensions), "dimensions") +
           tile(count_text(report.clusters_found), "clusters found");
    if (result.agreement)
        out += tile(share_text(result.agreement->scores.acc), "ACC") +
               tile(share_text(result.agreement->scores.nmi), "NMI") +
               tile(share_text(result.agreement->scores.ari), "ARI");
    double fit_seconds = 0;
    for (const auto& [stage, seconds] : result.seconds)
        if (stage == "fit") fit_seconds = seconds;
    out += tile(seconds_text(fit_seconds) + " s", "to fit") + "</div>\n";

    if (!result.warnings.empty()) {
        std::string list = "<ul>\n";
        for (const auto& warning : result.warnings) list += "<li>" + escape_markup(warning) + "</li>\n";
        out += section("Warnings", list + "</ul>\n", "warn");
    }
    if (!picture.empty()) out += "<div id=\"picture\">\n" + section("Picture", picture) + "</div>\n";
    out += map;
    if (result.description)
        out += section("Clusters", cluster_cards(*result.description));
    else
        out += section("Cluster sizes", size_bars(result.sizes));

    if (!result.groups.empty()) out += section("Labels", label_table(result.groups));

    if (result.agreement) {
        std::vector<std::pair<std::string, std::string>> rows;
        for (const auto& [name, score] : named(result.agreement->scores)) rows.emplace_back(name, share_text(score));
        if (result.agreement->label_accuracy)
            rows.emplace_back("label accuracy", share_text(*result.agreement->label_accuracy));
        rows.emplace_back("points scored", count_text(result.agreement->scored) +
                                               (result.agreement->given > 0 ? ", those that had no label" : ""));
        out += section("Agreement with " + result.truth_source, fact_table(rows));
        out += section("Classes and clusters", confusion_table_html(result.agreement->confusion, name_of_option));
    }

    std::vector<std::pair<std::string, std::string>> course = {{"objective", number_text(report.objective)},
                                                               {"iterations", std::to_string(report.iterations)},
                                                               {"stopped", std::string(name(report.stopped))}};
    if (!report.empty_cluster_policy.empty())
        course.emplace_back("empty clusters", report.empty_cluster_policy + "; " +
                                                  std::to_string(report.empty_clusters_repaired) + " times");
    for (const auto& [name, detail] : report.details) course.emplace_back(name, detail_text(detail));
    std::string course_body = fact_table(course);
    if (report.objective_per_iteration.size() > 1)
        course_body += line_picture(report.objective_per_iteration, "iteration", "objective");
    out += section("Course of the fit", course_body);

    std::vector<std::pair<std::string, std::string>> options;
    for (const auto& option : result.method->options->options())
        if (const auto found = result.options.find(option.name); found != result.options.end())
            options.emplace_back(name_of_option ? name_of_option(option.name) : option.name, to_text(found->second));
    options.emplace_back("preprocessing", result.preprocessing);
    options.emplace_back("seed", std::to_string(report.seed));
    options.emplace_back("threads", std::to_string(report.threads));
    options.emplace_back("precision", result.scalar);
    out += section("Options", fact_table(options));

    std::string seconds = "<table>\n";
    for (const auto& [stage, value] : result.seconds)
        seconds += "<tr><th>" + escape_markup(stage) + "</th>" + cell(seconds_text(value), "n") + "</tr>\n";
    out += section("Seconds", seconds + "</table>\n");
    if (!result.written.empty()) out += section("Written", fact_table(result.written));
    const std::string when = result.date.empty() ? "" : ", " + result.date;
    const std::string how = result.command.empty() ? "" : ": <code>" + escape_markup(result.command) + "</code>";
    return out + "<p class=\"sub\">Made by coterie " COTERIE_VERSION + when + how +
           ".</p>\n</main>\n</body>\n</html>\n";
}

}  // namespace coterie
