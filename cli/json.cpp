#include "json.hpp"

#include <nlohmann/json.hpp>

#include "outcome.hpp"

namespace coterie::cli {

Json json_of(const OptionValue& value) {
    return std::visit([](const auto& held) { return Json(held); }, value);
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

Json scores_json(const Agreement& agreement) {
    Json out = json_of(agreement.scores);
    if (agreement.label_accuracy) out["label_accuracy"] = *agreement.label_accuracy;
    return out;
}

Json json_of(const std::vector<LabelGroup>& groups, bool labelled) {
    Json out = Json::array();
    for (const auto& group : groups) {
        Json one = {{"name", group.name}, {"clusters", group.clusters}, {"points", group.points}};
        if (labelled) one["labelled"] = group.labelled;
        one["share"] = group.share;
        out.push_back(std::move(one));
    }
    return out;
}

Json json_of(const Confusion& confusion) {
    Json matched = Json::array();
    for (const auto& name : confusion.matched) matched.push_back(name.empty() ? Json(nullptr) : Json(name));
    return {{"classes", confusion.classes},
            {"clusters", confusion.clusters},
            {"matched", matched},
            {"counts", confusion.counts}};
}

Json summary_json(const SampleSummary& sample) {
    Json out = {{"mean", sample.mean / 100}};
    if (sample.count > 1) out["deviation"] = sample.deviation / 100;
    return out;
}

Json json_of(const Detail& detail) {
    return std::visit([](const auto& held) { return Json(held); }, detail);
}

Json json_of(const Seconds& seconds) {
    Json out = Json::object();
    for (const auto& [stage, value] : seconds) out[stage] = value;
    return out;
}

std::string document(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json json_of(const Outcome& outcome) {
    const FitReport& report = outcome.report;
    Json json;
    json["schema"] = 1;
    json["method"] = outcome.method->name;
    json["points"] = outcome.source;
    json["precision"] = outcome.scalar;
    json["options"] = json_of(*outcome.method->options, outcome.options);
    json["preprocessing"] = outcome.preprocessing;
    json["n"] = report.points;
    json["d"] = report.dimensions;
    json["clusters_requested"] = report.clusters_requested;
    json["clusters_found"] = report.clusters_found;
    json["sizes"] = report.sizes;
    if (!outcome.labels.empty()) json["labels"] = json_of(outcome.labels, true);
    json["objective"] = report.objective;
    json["objective_per_iteration"] = report.objective_per_iteration;
    json["iterations"] = report.iterations;
    json["stopped"] = std::string(name(report.stopped));
    json["seconds"] = json_of(outcome.seconds);
    json["seed"] = report.seed;
    json["threads"] = report.threads;
    json["warnings"] = outcome.warnings;
    json["notes"] = outcome.notes;
    if (outcome.agreement) {
        json["truth"] = outcome.truth_source;
        json["scores"] = scores_json(*outcome.agreement);
        json["scored"] = outcome.agreement->scored;
        json["confusion"] = json_of(outcome.agreement->confusion);
    }
    Json details = Json::object();
    for (const auto& [name, detail] : report.details) details[name] = json_of(detail);
    if (report.empty_clusters_repaired > 0 || !report.empty_cluster_policy.empty()) {
        details["empty_clusters_repaired"] = report.empty_clusters_repaired;
        details["empty_cluster_policy"] = report.empty_cluster_policy;
    }
    json["details"] = details;
    Json written = Json::object();
    for (const auto& [what, path] : outcome.written) written[what] = path;
    json["written"] = written;
    return json;
}

std::string outcome_json(const Outcome& outcome) { return document(json_of(outcome)); }

}  // namespace coterie::cli
