// Builds each piece of a document once, under the documented names and in the documented order.

#include "coterie/report/json.hpp"

#include <numeric>

namespace coterie::internal {
namespace {

void add_scores(Json& json, const ClusteringResult& result) {
    if (!result.agreement) return;
    json["truth"] = result.truth_source;
    Json& scores = json["scores"] = json_of(result.agreement->scores);
    if (result.agreement->label_accuracy) scores["label_accuracy"] = *result.agreement->label_accuracy;
    json["scored"] = result.agreement->scored;
}

Json rows_json(const std::vector<Index>& rows) {
    Json out = Json::array();
    for (const Index row : rows) out.push_back(row + 1);
    return out;
}

Json json_of(const ClusterProfile& cluster, bool whole) {
    Json out = {{"cluster", cluster.name}, {"points", cluster.rows}, {"share", cluster.share}};
    if (whole) {
        out["silhouette"] = or_null(cluster.silhouette);
        out["nearest"] = or_null(cluster.nearest);
    }
    out["columns"] = Json::array();
    for (const ColumnProfile& column : cluster.columns) {
        Json one = {{"name", column.name},
                    {"column", column.column},
                    {"difference", column.difference},
                    {"mean", column.mean},
                    {"elsewhere", or_null(column.elsewhere)}};
        if (column.quartiles) one["quartiles"] = *column.quartiles;
        out["columns"].push_back(std::move(one));
    }
    if (whole) {
        out["typical"] = rows_json(cluster.typical);
        out["doubtful"] = rows_json(cluster.doubtful);
    }
    return out;
}

// `labelled`: whether partial labels were given.
void add_labels(Json& json, const ClusteringResult& result, bool labelled) {
    for (const auto& group : result.groups) {
        Json one = {{"name", group.name}, {"clusters", group.clusters}, {"points", group.points}};
        if (labelled) one["labelled"] = group.labelled;
        one["share"] = group.share;
        json["labels"].push_back(std::move(one));
    }
}

// Methods without noise, and results without noise, get no noise keys.
void add_noise(Json& json, const ClusteringResult& result) {
    if (result.noise == 0 && !result.noise_beyond) return;
    const Index all = std::accumulate(result.sizes.begin(), result.sizes.end(), result.noise);
    json["noise"] = {{"points", result.noise}, {"share", static_cast<double>(result.noise) / static_cast<double>(all)}};
    if (result.noise_beyond) json["noise"]["beyond"] = *result.noise_beyond;
}

void add_description(Json& json, const ClusteringResult& result, bool whole) {
    if (!result.description) return;
    const Description& description = *result.description;
    if (whole) {
        json["silhouette"] = or_null(description.silhouette);
        json["silhouettes"] = or_null(description.silhouettes);
        json["closest"] = description.closest ? Json{description.closest->first, description.closest->second} : Json();
        json["space"] = description.space;
    }
    json["profiles"] = Json::array();
    for (const ClusterProfile& cluster : description.clusters) json["profiles"].push_back(json_of(cluster, whole));
    if (description.outliers.empty()) return;
    json["outliers"] = Json::array();
    for (const OutlierRow& each : description.outliers)
        json["outliers"].push_back({{"row", each.row + 1}, {"score", each.score}});
}

Json json_of(const ModelComparison& comparison) {
    Json out = {{"model", comparison.model},
                {"method", comparison.method},
                {"scored", comparison.agreement.scored},
                {"moved", comparison.moved},
                {"ari", comparison.agreement.scores.ari},
                {"nmi", comparison.agreement.scores.nmi},
                {"confusion", internal::json_of(comparison.agreement.confusion)},
                {"moves", Json::array()}};
    for (const ModelComparison::Move& move : comparison.moves)
        out["moves"].push_back(
            {{"from", move.from}, {"to", move.to}, {"points", move.rows}, {"rows", rows_json(move.some)}});
    return out;
}

}  // namespace

Json json_of(const OptionValue& value) {
    return std::visit(
        [](const auto& held) {
            if constexpr (std::is_same_v<decltype(held), const Automatic&>)
                return Json();
            else
                return Json(held);
        },
        value);
}

Json json_of(const OptionSet& set, const OptionValues& values) {
    Json out = Json::object();
    for (const auto& option : set.options())
        if (const auto found = values.find(option.name); found != values.end())
            out[option.name] = json_of(found->second);
    return out;
}

Json json_of(const Scores& scores) {
    return {{"acc", scores.acc},
            {"nmi", scores.nmi},
            {"ari", scores.ari},
            {"purity", scores.purity},
            {"homogeneity", scores.homogeneity},
            {"completeness", scores.completeness}};
}

Json json_of(const Confusion& confusion) {
    Json matched = Json::array();
    for (const auto& name : confusion.matched) matched.push_back(or_null(name));
    return {{"classes", confusion.classes},
            {"clusters", confusion.clusters},
            {"matched", matched},
            {"counts", confusion.counts}};
}

Json json_of(const Seconds& seconds) {
    Json out = Json::object();
    for (const auto& [stage, value] : seconds) out[stage] = value;
    return out;
}

Json json_of(const ClusterChoice& choice) {
    Json out;
    out["recommended"] = choice.recommended;
    out["sureness"] = std::string(name(choice.sureness));
    out["clusters"] = choice.clusters;
    out["clusters_are"] = choice.why_these.empty() ? "as asked" : choice.why_these;
    out["criteria"] = Json::array();
    for (const auto& curve : choice.curves)
        out["criteria"].push_back({{"name", std::string(name(curve.criterion))},
                                   {"rule", std::string(rule(curve.criterion))},
                                   {"chosen", or_null(curve.chosen)},
                                   {"values", curve.values},
                                   {"spreads", curve.spreads.empty() ? Json() : Json(curve.spreads)},
                                   {"left_out", or_null(curve.left_out)}});
    out["errors"] = Json::array();
    for (const auto& error : choice.errors) out["errors"].push_back(or_null(error));
    out["n"] = choice.points;
    out["sample"] = count_or_null(choice.sample);
    out["fits"] = choice.fits;
    out["references"] = choice.references;
    out["halvings"] = choice.halvings;
    out["seconds"] = choice.seconds;
    return out;
}

void add_origin(Json& json, const Origin& origin) {
    if (!origin.command.empty()) json["command"] = origin.command;
    if (!origin.date.empty()) json["date"] = origin.date;
    json["version"] = COTERIE_VERSION;
}

void add_written(Json& json, const Origin& origin) {
    json["written"] = Json::object();
    for (const auto& [what, path] : origin.written) json["written"][what] = path;
}

std::string document(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json json_of(const FitResult& result) {
    const FitReport& report = result.report;
    Json json = new_document();
    json["method"] = result.method->name;
    json["points"] = result.source;
    json["precision"] = result.scalar;
    json["options"] = json_of(*result.method->options, result.options);
    json["preprocessing"] = result.preprocessing;
    json["n"] = report.points;
    json["rows_left_out"] = result.rows_left_out;
    json["d"] = report.dimensions;
    json["clusters_requested"] = report.clusters_requested;
    json["clusters_found"] = report.clusters_found;
    json["sizes"] = result.sizes;
    add_noise(json, result);
    add_labels(json, result, true);
    add_description(json, result, false);
    if (result.choice) json["choice"] = json_of(*result.choice);
    json["objective"] = report.objective;
    json["objective_per_iteration"] = report.objective_per_iteration;
    json["iterations"] = report.iterations;
    json["stopped"] = std::string(name(report.stopped));
    json["seconds"] = json_of(result.seconds);
    json["seed"] = report.seed;
    json["threads"] = report.threads;
    json["warnings"] = result.warnings;
    json["notes"] = result.notes;
    add_scores(json, result);
    if (result.agreement) json["confusion"] = json_of(result.agreement->confusion);
    Json details = Json::object();
    for (const auto& [name, detail] : report.details)
        std::visit([&, &key = name](const auto& held) { details[key] = held; }, detail);
    if (report.empty_clusters_repaired > 0 || !report.empty_cluster_policy.empty()) {
        details["empty_clusters_repaired"] = report.empty_clusters_repaired;
        details["empty_cluster_policy"] = report.empty_cluster_policy;
    }
    json["details"] = details;
    add_written(json, result);
    add_origin(json, result);
    return json;
}

}  // namespace coterie::internal

namespace coterie {

using namespace internal;

std::string json_document(const FitResult& result) { return document(json_of(result)); }

std::string json_document(const AppliedResult& result) {
    Json json = new_document();
    json["method"] = result.method;
    json["model"] = result.model;
    json["points"] = result.source;
    json["n"] = result.points;
    json["rows_left_out"] = result.rows_left_out;
    json["d"] = result.dimensions;
    if (result.moved_to > 0) {
        json["dimensions"] = result.moved_to;
    } else {
        json["clusters"] = result.clusters;
        json["sizes"] = result.sizes;
        add_noise(json, result);
    }
    add_labels(json, result, false);
    add_description(json, result, true);
    json["preprocessing"] = result.preprocessing;
    json["seconds"] = json_of(result.seconds);
    json["threads"] = result.threads;
    json["warnings"] = result.warnings;
    json["notes"] = result.notes;
    add_scores(json, result);
    if (result.comparison) json["comparison"] = json_of(*result.comparison);
    if (result.moved_to == 0) add_written(json, result);
    add_origin(json, result);
    return document(json);
}

void to_json(Json& json, const Message& message) {
    const Spelling& spelled = Spelling::current();
    json = {{"code", std::string(name(message.code))}, {"text", message.text()}};
    const auto add = [&](const char* key, const std::string& text) {
        if (!text.empty()) json[key] = text;
    };
    add("context", message.context);
    if (!message.option.empty()) json["option"] = spelled("`" + message.option + "`");
    add("value", message.value);
    add("accepted", spelled(message.accepted));
    add("remedy", spelled(message.remedy));
    add("file", message.file);
    if (message.line) json["line"] = *message.line;
    if (message.row) json["row"] = *message.row;
    add("column", message.column);
    if (message.column_number) json["column_number"] = *message.column_number;
}

}  // namespace coterie
