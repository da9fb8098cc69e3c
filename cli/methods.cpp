// coterie methods: prints the list of methods, or the options of one method. The JSON document has the kinds, ranges,
// defaults and meanings of options. The reference in docs/ is made from it.

#include "coterie/methods.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "fitting.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct MethodsRequest {
    std::string method;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

Json json_of(const Option& option) {
    static const char* const kinds[] = {"flag", "integer", "real", "choice", "text", "integers", "reals"};
    Json out;
    out["name"] = option.name;
    out["flag"] = option_flag(option.name);
    if (option.letter) out["letter"] = std::string(1, option.letter);
    out["kind"] = kinds[static_cast<int>(option.kind)];
    out["meaning"] = Spelling::current()(option.meaning);
    if (!option.automatic.empty()) out["automatic"] = Spelling::current()(option.automatic);
    out["accepted"] = Spelling::current()(option.accepted());
    out["default"] = cli::json_of(option.default_value);
    if (!option.choices.empty()) out["choices"] = option.choices;
    if (option.kind != OptionKind::flag) {
        if (std::isfinite(option.range.low)) out["low"] = option.range.low;
        if (std::isfinite(option.range.high)) out["high"] = option.range.high;
        if (option.range.low_open) out["low_open"] = true;
        if (option.range.high_open) out["high_open"] = true;
    }
    return out;
}

Json json_of(const Method& method) {
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
    for (const auto& option : method.options->options()) out["options"].push_back(json_of(option));
    return out;
}

std::string text_of(const Method& method) {
    std::string out = method.name + ": " + method.summary + "\n";
    std::vector<std::string> takes;
    if (method.takes.sparse) takes.push_back("sparse rows");
    if (method.takes.weights) takes.push_back("weights");
    if (method.takes.initial_centroids) takes.push_back("initial centroids");
    if (method.takes.labels) takes.push_back("partial labels");
    if (method.takes.shares != Shares::none) takes.push_back("label shares");
    if (method.takes.sizes) takes.push_back("size bounds");
    if (method.takes.device) takes.push_back("a device");
    if (method.takes.checkpoint) takes.push_back("a checkpoint");
    if (!takes.empty()) out += "Accepts " + join(takes) + ".\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& option : method.options->options()) {
        const std::string value = to_text(option.default_value);
        rows.push_back({(option.letter ? std::string("-") + option.letter + ", " : "") + option_flag(option.name),
                        value.empty() ? "-" : value, Spelling::current()(option.accepted())});
    }
    return out + "\n" + table({"option", "default", "accepted"}, rows) + "\ncoterie fit " + method.name +
           " --help explains them.\n";
}

int list_methods(const MethodsRequest& request) {
    std::vector<const Method*> chosen;
    if (!request.method.empty()) {
        refuse_method(request.method);
        chosen.push_back(&find_method(request.method));
    } else {
        for (const auto& method : methods()) chosen.push_back(&method);
    }
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["methods"] = Json::array();
        for (const auto* method : chosen) out["methods"].push_back(json_of(*method));
        if (request.method.empty())
            for (const CodeMeaning& each : code_list())
                out["message_codes"].push_back({{"code", each.name}, {"meaning", each.meaning}});
        print(document(out));
    } else if (!request.method.empty()) {
        print(text_of(*chosen.front()));
    } else {
        std::vector<std::vector<std::string>> rows;
        for (const auto* method : chosen)
            rows.push_back({method->name, method->summary + (method->about.baseline ? " (baseline)" : "")});
        print(table({"method", "what it does"}, rows));
    }
    return Exit::done;
}

}  // namespace

Command methods_command() {
    const auto request = std::make_shared<MethodsRequest>();
    Command command;
    command.name = "methods";
    command.summary = "list the methods, or one method's options";
    std::vector<std::string> names;
    for (const auto& method : methods()) names.push_back(method.name);
    command.operands = {{"METHOD", "a method; without it, all methods are listed", false, Completion::choices, names,
                         [request](const std::string& word) { request->method = word; }}};
    command.flags = run_flags(request->running, {"--json"});
    command.examples = {{"coterie methods", "all methods, one per line"},
                        {"coterie methods kmeans --json", "the options of k-means, with kinds, ranges and defaults"}};
    command.act = [request] { return list_methods(*request); };
    return command;
}

}  // namespace coterie::cli
