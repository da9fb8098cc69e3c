// The votes for numbers of clusters come first, because a recommended number means little if the criteria disagree.

#include "coterie/report/selection_document.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/text.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "coterie/report/search_tables.hpp"

namespace coterie {

using namespace internal;

namespace {

double mean_confidence(const Consensus& result) {
    double sum = 0;
    Index rows = 0;
    for (std::size_t c = 0; c < result.sizes.size(); ++c) {
        sum += result.confidence_of_cluster[c] * static_cast<double>(result.sizes[c]);
        rows += result.sizes[c];
    }
    return rows > 0 ? sum / static_cast<double>(rows) : 0.0;
}
Index doubtful_rows(const Consensus& result) {
    return std::count_if(result.confidence.begin(), result.confidence.end(), [](double c) { return c < 0.5; }) -
           result.rows_left_out;
}

}  // namespace

std::string json_document(const ClusterChoice& choice) { return document(json_of(choice)); }

std::string text_document(const ClusterChoice& choice) {
    std::vector<std::string> header = {"", "k"};
    std::vector<std::size_t> right = {1};
    for (const auto& curve : choice.curves) {
        if (!curve.left_out.empty()) continue;
        right.push_back(header.size());
        header.emplace_back(name(curve.criterion));
    }
    TextRows rows;
    for (std::size_t at = 0; at < choice.clusters.size(); ++at) {
        const int k = choice.clusters[at];
        rows.push_back({k == choice.recommended ? "*" : "", std::to_string(k)});
        for (const auto& curve : choice.curves) {
            if (!curve.left_out.empty()) continue;
            const double value = curve.values[at];
            rows.back().push_back(std::isfinite(value) ? formatted("%.4g", value) + (curve.chosen == k ? " <" : "  ")
                                                       : "-");
        }
    }
    Facts said = {
        {"recommended", counted(choice.recommended, "cluster") + " (" + std::string(name(choice.sureness)) + ")"},
        {"chosen (<)", votes_text(choice)}};
    for (const auto& curve : choice.curves)
        if (!curve.left_out.empty()) said.emplace_back(name(curve.criterion), "left out: " + curve.left_out);
    std::string tried = choice.why_these.empty() ? "as asked" : choice.why_these;
    tried += "; " + count_text(choice.fits) + " fits in " + seconds_text(choice.seconds) + " seconds";
    if (choice.sample > 0)
        tried +=
            ", of " + count_text(choice.sample) + " of " + count_text(choice.points) + " rows, drawn with the seed";
    said.emplace_back("k tried", tried);
    for (std::size_t at = 0; at < choice.clusters.size(); ++at)
        if (!choice.errors[at].empty()) {
            said.emplace_back("not fitted", "k = " + std::to_string(choice.clusters[at]) + ": " + choice.errors[at]);
            break;
        }
    return table(header, rows, right) + facts(said);
}

std::string text_document(const Comparison& comparison, const std::string& source) {
    const auto& methods = comparison.methods;
    const TextTable found = methods_table(comparison);
    Facts said;
    std::vector<std::string> names = {"ARI"};
    std::vector<std::size_t> columns;
    TextRows pairs;
    for (std::size_t a = 0; a < methods.size(); ++a) {
        if (!methods[a].error.empty()) {
            said.emplace_back(methods[a].method + " failed", methods[a].error);
            continue;
        }
        columns.push_back(names.size());
        names.push_back(methods[a].method);
        pairs.push_back({methods[a].method});
        for (std::size_t b = 0; b < methods.size(); ++b)
            if (methods[b].error.empty())
                pairs.back().push_back(
                    fixed_text(comparison.agreement(static_cast<Index>(a), static_cast<Index>(b)), 2));
    }
    if (comparison.rows_left_out > 0) said.emplace_back("left out", left_out_text(comparison.rows_left_out));
    if (comparison.silhouette_sample > 0)
        said.emplace_back("silhouette", "of " + count_text(comparison.silhouette_sample) + " rows drawn with the seed");
    std::string left_out;
    for (const auto& [who, reason] : left_out_by_reason(comparison))
        left_out += (left_out.empty() ? "" : "; ") + who + " (" + reason + ")";
    if (!left_out.empty()) said.emplace_back("not compared", left_out + "; use `methods` to choose the methods");
    for (const auto& [what, path] : comparison.written) said.emplace_back(what, path);
    return "compare on " + source + ": " + counted_text(comparison.points, "row") + ", " +
           counted(comparison.clusters, "cluster") + "\n" + table(found.header, found.rows, found.right) +
           (pairs.size() > 1 ? "\n" + table(names, pairs, columns) : "") + (said.empty() ? "" : "\n" + facts(said));
}

std::string json_document(const Comparison& comparison, const std::string& source) {
    Json out = new_document();
    out["points"] = source;
    out["n"] = comparison.points;
    out["rows_left_out"] = comparison.rows_left_out;
    out["clusters"] = comparison.clusters;
    out["methods"] = Json::array();
    for (const auto& method : comparison.methods)
        out["methods"].push_back({{"method", method.method},
                                  {"sizes", method.sizes},
                                  {"silhouette", method.silhouette},
                                  {"calinski_harabasz", method.calinski_harabasz},
                                  {"davies_bouldin", method.davies_bouldin},
                                  {"scores", method.scores ? json_of(*method.scores) : Json()},
                                  {"seconds", method.seconds},
                                  {"warnings", method.warnings},
                                  {"error", or_null(method.error)}});
    out["agreement"] = Json::array();
    for (const auto& row : comparison.agreement.rowwise())
        out["agreement"].push_back(std::vector<double>(row.begin(), row.end()));
    out["left_out"] = Json::array();
    for (const auto& [method, why] : comparison.left_out) out["left_out"].push_back({{"method", method}, {"why", why}});
    out["silhouette_sample"] = count_or_null(comparison.silhouette_sample);
    out["interrupted"] = comparison.interrupted;
    out["warnings"] = comparison.warnings;
    add_written(out, comparison);
    add_origin(out, comparison);
    return document(out);
}

std::string text_document(const Consensus& result, const std::string& source) {
    TextRows rows;
    for (std::size_t c = 0; c < result.sizes.size(); ++c)
        rows.push_back({std::to_string(c), count_text(result.sizes[c]), fixed_text(result.cohesion[c], 3),
                        fixed_text(result.confidence_of_cluster[c], 3)});
    Facts said = {
        {"confidence", fixed_text(mean_confidence(result), 3) + " on average; " + count_text(doubtful_rows(result)) +
                           (doubtful_rows(result) == 1 ? " row has" : " rows have") + " less than 0.5"},
        {"fits", std::to_string(result.fits) + " of " + join(result.methods) + ", each of " + count_text(result.part) +
                     " rows, in " + seconds_text(result.seconds) + " seconds"}};
    if (result.sample > 0)
        said.emplace_back("linkage", "of " + count_text(result.sample) + " rows drawn with the seed; the others vote");
    if (result.rows_left_out > 0) said.emplace_back("left out", left_out_text(result.rows_left_out));
    const Index points = static_cast<Index>(result.labels.size()) - result.rows_left_out;
    return "consensus on " + source + ": " + counted_text(points, "row") + ", " +
           counted_text(static_cast<Index>(result.sizes.size()), "cluster") + "\n" +
           table({"cluster", "rows", "cohesion", "confidence"}, rows, {1, 2, 3}) + facts(said);
}

std::string json_document(const Consensus& result, const std::string& source) {
    Json out = new_document();
    out["points"] = source;
    out["n"] = static_cast<Index>(result.labels.size()) - result.rows_left_out;
    out["rows_left_out"] = result.rows_left_out;
    out["clusters"] = result.sizes.size();
    out["sizes"] = result.sizes;
    out["cohesion"] = result.cohesion;
    out["confidence_of_cluster"] = result.confidence_of_cluster;
    out["confidence"] = mean_confidence(result);
    out["doubtful"] = doubtful_rows(result);
    out["methods"] = result.methods;
    out["fits"] = result.fits;
    out["part"] = result.part;
    out["sample"] = count_or_null(result.sample);
    out["warnings"] = result.warnings;
    out["seconds"] = result.seconds;
    add_origin(out, result);
    return document(out);
}

}  // namespace coterie
