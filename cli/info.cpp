// coterie info: prints what a model file contains. The file is read once, because it may be standard input. It is made
// into a model before anything is printed, so a file that predict does not accept is an error here, too.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/ner/tagger.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct InfoRequest {
    std::string model;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

std::string name_of(Archive::ElementType type) {
    switch (type) {
        case Archive::ElementType::float32: return "float32";
        case Archive::ElementType::float64: return "float64";
        case Archive::ElementType::int32: return "int32";
        case Archive::ElementType::int64: return "int64";
        case Archive::ElementType::uint8: return "uint8";
    }
    return "unknown";
}

// One row per tensor. meaning(name) describes it.
template <class Meaning>
std::string tensor_table(const Archive& archive, Meaning meaning) {
    std::vector<std::vector<std::string>> tensors;
    for (const auto& [name, tensor] : archive.tensors()) {
        std::string shape;
        for (const auto extent : tensor.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
        tensors.push_back(
            {name, name_of(tensor.type), shape, bytes_text(static_cast<double>(tensor.bytes.size())), meaning(name)});
    }
    return table({"tensor", "type", "shape", "size", "meaning"}, tensors);
}

// Prints a model of named entities.
int tell_of_tagger(const Archive& archive, const InfoRequest& request) {
    const ner::Tagger tagger = ner::Tagger::from(archive, request.model);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["model"] = request.model;
        out["method"] = archive.method();
        out["adapted_by"] = tagger.method;
        out["types"] = tagger.types;
        out["dimensions"] = tagger.dimensions();
        out["prototypes"] = tagger.prototypes.rows();
        out["encoder"] = tagger.encoder;
        out["layer"] = tagger.layer;
        out["sharpness"] = tagger.sharpness;
        out["outside_share"] = tagger.outside_share
                                   ? Json::array({tagger.outside_share->first, tagger.outside_share->second})
                                   : Json(nullptr);
        out["support_outside_share"] = tagger.support_outside_share;
        print(document(out));
        return Exit::done;
    }
    std::string types;
    for (const std::string& type : tagger.types) types += (types.empty() ? "" : ", ") + type;
    std::vector<std::pair<std::string, std::string>> rows = {
        {"method", "tagger of named entities, adapted by " + tagger.method},
        {"types", types},
        {"dimensions", count_text(tagger.dimensions())},
        {"vectors", tagger.encoder + (tagger.layer.empty() ? "" : ", layer " + tagger.layer)},
        {"probabilities", tagger.sharpness > 0 ? "calibrated" : "none"},
        {"share of O", (tagger.outside_share ? share_text(*tagger.outside_share) : "not known") + "; " +
                           share_text(tagger.support_outside_share) + " in the support"}};
    print(facts(rows) + "\n" + tensor_table(archive, [](const std::string&) { return std::string(); }));
    return Exit::done;
}

int tell(const InfoRequest& request) {
    const Archive archive = Archive::load(request.model);
    if (archive.method() == "ner-tagger") return tell_of_tagger(archive, request);
    const Pipeline pipeline = Pipeline::from(archive, request.model);
    const Model* const model = &pipeline.model();
    const auto labels = label_groups(model->cluster_labels(), {});
    const auto parts = pipeline.part_descriptions();
    const auto described = [&](const std::string& name) {
        const auto found =
            std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.name == name; });
        return found == parts.end() ? PartDescription{name, "", ""} : *found;
    };
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["model"] = request.model;
        out["method"] = archive.method();
        out["dimensions"] = model->dimensions();
        out["clusters"] = model->clusters();
        if (!labels.empty()) {
            out["labels"] = Json::array();
            for (const auto& label : labels)
                out["labels"].push_back({{"name", label.name}, {"clusters", label.clusters}});
        }
        out["options"] = Json::object();
        for (const auto& [name, value] : archive.options()) out["options"][name] = json_of(value);
        out["facts"] = archive.texts();
        out["tensors"] = Json::array();
        for (const auto& [name, tensor] : archive.tensors())
            out["tensors"].push_back({{"name", name},
                                      {"type", name_of(tensor.type)},
                                      {"shape", tensor.shape},
                                      {"letters", described(name).shape},
                                      {"meaning", described(name).meaning},
                                      {"bytes", tensor.bytes.size()}});
        print(document(out));
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {{"method", archive.method()},
                                                             {"dimensions", count_text(model->dimensions())},
                                                             {"clusters", count_text(model->clusters())}};
    for (const auto& label : labels) {
        std::string clusters;
        for (const int cluster : label.clusters) clusters += (clusters.empty() ? "" : " ") + std::to_string(cluster);
        rows.emplace_back("label " + label.name, (label.clusters.size() == 1 ? "cluster " : "clusters ") + clusters);
    }
    for (const auto& [name, value] : archive.options()) rows.emplace_back(name, to_text(value));
    for (const auto& [name, value] : archive.texts())
        if (name != "label_names") rows.emplace_back(name, value);  // printed above
    print(facts(rows) + "\n" + tensor_table(archive, [&](const std::string& name) { return described(name).meaning; }));
    return Exit::done;
}

}  // namespace

Command info_command() {
    const auto request = std::make_shared<InfoRequest>();
    Command command;
    command.name = "info";
    command.summary = "show what a model file contains";
    command.operands = {text_operand("MODEL", "a file written by coterie fit --model-out, or - for standard input",
                                     request->model, request)};
    command.flags = run_flags(request->running, {"--json"});
    command.examples = {{"coterie info model.safetensors", "method, options, tensors"}};
    command.act = [request] { return tell(*request); };
    return command;
}

}  // namespace coterie::cli
