// Shows what a model file stores. Shapes and meanings of tensors come from the model's own description of its parts.

#include "coterie/report/model_document.hpp"

#include <algorithm>

#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

std::string element_name(Archive::ElementType type) {
    switch (type) {
        case Archive::ElementType::float32: return "float32";
        case Archive::ElementType::float64: return "float64";
        case Archive::ElementType::int32: return "int32";
        case Archive::ElementType::int64: return "int64";
        case Archive::ElementType::uint8: return "uint8";
    }
    return "unknown";
}

PartDescription part_called(const std::string& name, const std::vector<PartDescription>& parts) {
    const auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.name == name; });
    return found == parts.end() ? PartDescription{name, "", ""} : *found;
}

}  // namespace

std::string internal::tensors_text(const Archive& archive, FunctionRef<std::string(const std::string&)> meaning) {
    TextRows tensors;
    for (const auto& [name, tensor] : archive.tensors()) {
        std::vector<std::string> shape;
        for (const auto extent : tensor.shape) shape.push_back(std::to_string(extent));
        tensors.push_back({name, element_name(tensor.type), join(shape, " x "),
                           bytes_text(static_cast<double>(tensor.bytes.size())), meaning(name)});
    }
    return table({"tensor", "type", "shape", "size", "meaning"}, tensors);
}

std::string text_document(const std::string&, const Pipeline& pipeline, const Archive& archive) {
    const Model& model = pipeline.model();
    Facts rows = {{"method", archive.method()},
                  {"columns", count_text(model.dimensions())},
                  {"clusters", count_text(model.clusters())}};
    for (const auto& label : label_groups(model.cluster_labels(), {})) {
        std::vector<std::string> clusters;
        for (const int cluster : label.clusters) clusters.push_back(std::to_string(cluster));
        rows.emplace_back("label " + label.name,
                          (clusters.size() == 1 ? "cluster " : "clusters ") + join(clusters, " "));
    }
    for (const auto& [name, value] : archive.options()) rows.emplace_back(name, to_text(value));
    for (const auto& [name, value] : archive.texts())
        if (name != "label_names") rows.emplace_back(name, value);  // shown above
    const auto parts = pipeline.part_descriptions();
    return facts(rows) + "\n" +
           tensors_text(archive, [&](const std::string& name) { return part_called(name, parts).meaning; });
}

std::string json_document(const std::string& source, const Pipeline& pipeline, const Archive& archive) {
    const Model& model = pipeline.model();
    Json out = new_document();
    out["model"] = source;
    out["method"] = archive.method();
    out["dimensions"] = model.dimensions();
    out["clusters"] = model.clusters();
    for (const auto& label : label_groups(model.cluster_labels(), {}))
        out["labels"].push_back({{"name", label.name}, {"clusters", label.clusters}});
    out["options"] = Json::object();
    for (const auto& [name, value] : archive.options()) out["options"][name] = json_of(value);
    out["facts"] = archive.texts();
    out["tensors"] = Json::array();
    const auto parts = pipeline.part_descriptions();
    for (const auto& [name, tensor] : archive.tensors()) {
        const PartDescription part = part_called(name, parts);
        out["tensors"].push_back({{"name", name},
                                  {"type", element_name(tensor.type)},
                                  {"shape", tensor.shape},
                                  {"letters", part.shape},
                                  {"meaning", part.meaning},
                                  {"bytes", tensor.bytes.size()}});
    }
    return document(out);
}

}  // namespace coterie
