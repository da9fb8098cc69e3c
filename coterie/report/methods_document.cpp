// All texts come from the descriptions of the methods. Options have the names of the program: the command's flags.

#include "coterie/report/methods_document.hpp"

#include <cmath>

#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

Json json_of_option(const Option& option) {
    static const char* const kinds[] = {"flag", "integer", "real", "choice", "text", "integers", "reals"};
    const Spelling& spelled = Spelling::current();
    Json out;
    out["name"] = option.name;
    out["flag"] = spelled.option(option.name);
    if (option.letter) out["letter"] = std::string(1, option.letter);
    out["kind"] = kinds[static_cast<int>(option.kind)];
    out["meaning"] = spelled(option.meaning);
    if (!option.automatic.empty()) out["automatic"] = spelled(option.automatic);
    out["accepted"] = spelled(option.accepted());
    out["default"] = json_of(option.default_value);
    if (!option.choices.empty()) out["choices"] = option.choices;
    if (option.kind != OptionKind::flag) {
        if (std::isfinite(option.range.low)) out["low"] = option.range.low;
        if (std::isfinite(option.range.high)) out["high"] = option.range.high;
        if (option.range.low_open) out["low_open"] = true;
        if (option.range.high_open) out["high_open"] = true;
    }
    return out;
}

Json json_of_method(const Method& method) {
    Json out;
    out["name"] = method.name;
    out["summary"] = method.summary;
    out["baseline"] = method.about.baseline;
    out["takes"] = {{"sparse", method.takes.sparse},
                    {"weights", method.takes.weights},
                    {"initial_centroids", method.takes.initial_centroids},
                    {"partial_labels", method.takes.labels},
                    {"label_shares", method.takes.shares != Shares::none},
                    {"sizes", method.takes.sizes},
                    {"pairs", method.takes.pairs},
                    {"device", method.takes.device},
                    {"checkpoint", method.takes.checkpoint}};
    out["options"] = Json::array();
    for (const auto& option : method.options->options()) out["options"].push_back(json_of_option(option));
    return out;
}

}  // namespace

std::string text_document(const std::vector<Method>& methods) {
    TextRows rows;
    for (const auto& method : methods)
        rows.push_back({method.name, method.summary + (method.about.baseline ? " (baseline)" : "")});
    return table({"method", "what it does"}, rows);
}

std::string text_document(const Method& method) {
    std::string out = method.name + ": " + method.summary + "\n";
    std::vector<std::string> takes;
    for (const auto& [taken, what] : {std::pair(method.takes.sparse, "sparse rows"),
                                      {method.takes.weights, "weights"},
                                      {method.takes.initial_centroids, "initial centroids"},
                                      {method.takes.labels, "partial labels"},
                                      {method.takes.shares != Shares::none, "label shares"},
                                      {method.takes.sizes, "size bounds"},
                                      {method.takes.pairs, "pairs of rows"},
                                      {method.takes.graph, "a graph"},
                                      {method.takes.device, "a device"},
                                      {method.takes.checkpoint, "a checkpoint"}})
        if (taken) takes.emplace_back(what);
    if (!takes.empty()) out += "Accepts " + join(takes) + ".\n";
    const Spelling& spelled = Spelling::current();
    TextRows rows;
    for (const auto& option : method.options->options()) {
        const std::string value = to_text(option.default_value);
        rows.push_back({(option.letter ? std::string("-") + option.letter + ", " : "") + spelled.option(option.name),
                        value.empty() ? "-" : value, spelled(option.accepted())});
    }
    return out + "\n" + table({"option", "default", "accepted"}, rows);
}

std::string json_document(const std::vector<Method>& methods) {
    Json out = new_document();
    out["methods"] = Json::array();
    for (const auto& method : methods) out["methods"].push_back(json_of_method(method));
    for (const CodeMeaning& each : code_list())
        out["message_codes"].push_back({{"code", each.name}, {"meaning", each.meaning}});
    return document(out);
}

std::string json_document(const Method& method) {
    Json out = new_document();
    out["methods"].push_back(json_of_method(method));
    return document(out);
}

}  // namespace coterie
