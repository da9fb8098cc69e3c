// The tables are those that the command prints. Too many cells make a page slow, so only the best are shown. Numbers of
// clusters are drawn as for a fit that chose k itself.

#include "coterie/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "coterie/base/text.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/internal/charts.hpp"
#include "coterie/report/page_parts.hpp"
#include "coterie/report/result_text.hpp"
#include "coterie/report/search_tables.hpp"

namespace coterie {

using namespace internal;
using namespace report::internal;
using namespace page_parts;

namespace {

constexpr std::size_t most_cells_shown = 2000;
constexpr std::size_t most_reasons_shown = 100;

std::optional<int> clusters_of(const TuneCell& cell) {
    const auto found = cell.options.find("clusters");
    if (found == cell.options.end()) return {};
    const auto* const value = std::get_if<std::int64_t>(&found->second);
    return value == nullptr ? std::nullopt : std::optional(static_cast<int>(*value));
}

// The best value of the grid's method for each number of clusters. Empty for fewer than two numbers.
std::vector<Curve> curve_over_clusters(const TuneOptions& asked, const TuneResult& found) {
    std::map<int, double> best;
    for (const TuneCell& cell : found.cells) {
        const auto clusters = clusters_of(cell);
        if (cell.method != found.cells.front().method || !clusters) continue;
        double& value = best.emplace(*clusters, cell.criterion).first->second;
        if (std::isnan(value) || (larger_is_better(asked.select) ? cell.criterion > value : cell.criterion < value))
            value = cell.criterion;
    }
    if (best.size() < 2) return {};
    Curve curve{std::string(name(asked.select)), {}, {}, {}};
    for (const auto& [clusters, value] : best) {
        curve.clusters.push_back(clusters);
        curve.values.push_back(value);
    }
    const TuneCell& chosen = found.cells[found.best];
    if (chosen.method == found.cells.front().method) curve.chosen = clusters_of(chosen);
    return {curve};
}

// "ward failed", and why.
std::string reasons_section(const std::string& heading, const Facts& reasons) {
    if (reasons.empty()) return {};
    const std::size_t shown = std::min(reasons.size(), most_reasons_shown);
    std::string body = fact_table({reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown)});
    return section(heading, body + more_text(reasons.size(), shown, ""));
}

// The fields are shaded by the agreement.
std::string agreement_table(const Comparison& comparison) {
    std::vector<std::size_t> done;
    for (std::size_t m = 0; m < comparison.methods.size(); ++m)
        if (comparison.methods[m].error.empty()) done.push_back(m);
    if (done.size() < 2) return {};
    std::string out = "<table id=\"agreement\" class=\"confusion\">\n<tr><th>ARI</th>";
    for (const std::size_t m : done) out += "<th>" + escape_markup(comparison.methods[m].method) + "</th>";
    out += "</tr>\n";
    for (const std::size_t a : done) {
        out += "<tr><th>" + escape_markup(comparison.methods[a].method) + "</th>";
        for (const std::size_t b : done) {
            const double ari = comparison.agreement(static_cast<Index>(a), static_cast<Index>(b));
            out += "<td style=\"background:rgba(0,114,178," + fixed_text(0.6 * std::clamp(ari, 0.0, 1.0), 3) + ")\">" +
                   fixed_text(ari, 2) + "</td>";
        }
        out += "</tr>\n";
    }
    return section("How far they agree",
                   filled("<p>The adjusted Rand index of each pair of methods: 1 for equal partitions, 0 on average "
                          "for unrelated ones.</p>\n{}</table>\n",
                          out));
}

}  // namespace

std::string page_search(const TuneOptions& asked, const TuneResult& found) {
    const TuneCell& chosen = found.cells[found.best];
    std::string said = "<p><b>" + escape_markup(options_text(chosen.options)) + "</b> was chosen among " +
                       counted_text(static_cast<Index>(found.cells_asked), "cell") +
                       (asked.folds > 0 ? filled(" in {} folds", asked.folds) : "") + ", by " +
                       criterion_text(asked.select);
    if (std::isfinite(chosen.criterion) && !found.choice) said += ", " + number_text(chosen.criterion);
    said += ".";
    if (chosen.method != found.cells.front().method)
        said += " It is plain " + escape_markup(chosen.method) + ", better than every cell of " +
                escape_markup(found.cells.front().method) + ".";
    if (needs_truth(asked.select)) said += " This criterion uses the truth, so this is the best possible choice.";
    const auto shown = cells_to_show(asked, found, most_cells_shown);
    if (shown.size() < found.cells.size())
        said += " The best " + count_text(static_cast<long long>(shown.size())) + " cells are shown.";
    const TextTable cells = cells_table(asked, found, shown);
    std::string out =
        section("Search",
                said + "</p>\n" + table_html("<table id=\"cells\">\n", cells.header, cells.rows, cells.right)) +
        (found.choice ? choice_section(*found.choice) + curve_charts(curves_of(*found.choice))
                      : curve_charts(curve_over_clusters(asked, found)));
    Facts refused;
    for (const TuneCell& cell : found.cells)
        if (!cell.error.empty()) refused.emplace_back(options_text(cell.options), cell.error);
    return out + reasons_section("Refused", refused);
}

std::string html_document(const Comparison& comparison, const std::string& source, const std::string& picture,
                          const std::string& map) {
    const std::string heading = "Methods on " + source;
    const auto failed = std::count_if(comparison.methods.begin(), comparison.methods.end(),
                                      [](const ComparedMethod& method) { return !method.error.empty(); });
    std::string out = begin(heading, heading,
                            "Side by side, each with " + counted_text(comparison.clusters, "cluster") +
                                " if it accepts a number of clusters, otherwise with its defaults.");
    out += "<div class=\"tiles\">\n" + points_tiles(comparison.points, "rows", comparison.rows_left_out) +
           tile(count_text(comparison.clusters), "clusters requested") +
           tile(count_text(static_cast<long long>(comparison.methods.size()) - failed), "methods compared");
    if (failed > 0) out += tile(count_text(failed), failed == 1 ? "failed" : "of them failed");
    out += "</div>\n";
    std::vector<Message> warnings = comparison.warnings;
    for (Message& warning : warnings_of_methods(comparison)) warnings.push_back(std::move(warning));
    if (comparison.interrupted)
        warnings.push_back({.code = Code::interrupted,
                            .problem = "the comparison was interrupted; these are the methods that were finished"});
    const TextTable found = methods_table(comparison);
    std::string methods = table_html("<table id=\"methods\">\n", found.header, found.rows, found.right);
    methods += filled(
        "<p class=\"sub\">Larger values of silhouette and Calinski-Harabasz are better, and smaller values of "
        "Davies-Bouldin. All three are computed on the prepared rows{}. They favour methods that optimise what they "
        "measure.</p>\n",
        comparison.silhouette_sample > 0
            ? " (the silhouette on " + count_text(comparison.silhouette_sample) + " random rows)"
            : "");
    out += warnings_section(warnings) + section("Methods", methods) + agreement_table(comparison);
    Facts errors;
    for (const ComparedMethod& method : comparison.methods)
        if (!method.error.empty()) errors.emplace_back(method.method, method.error);
    if (!picture.empty()) out += "<div id=\"picture\">\n" + section("Picture", picture) + "</div>\n";
    out += map + reasons_section("Failed", errors) + reasons_section("Not compared", left_out_by_reason(comparison));
    if (!comparison.written.empty()) out += section("Written", fact_table(comparison.written));
    return out + page_parts::end(comparison.command, comparison.date, "");
}

}  // namespace coterie
