// Weights are read only from safetensors, because formats that can run code are not accepted. Every tensor is found by
// name and checked before use (it exists, has the right size, is finite). For a model of coterie, the checksum and the
// method are also checked.

#include "coterie/deep/internal/pretrained.hpp"

#include <algorithm>
#include <optional>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/deep/internal/deep_fit.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::deep::internal {

std::vector<std::string> resnet18_names(const Architecture& architecture) {
    std::vector<std::string> out;
    const auto convolution = [&](const std::string& name) { out.push_back(name + ".weight"); };
    const auto norm = [&](const std::string& name) {
        for (const char* tensor : {".weight", ".bias", ".running_mean", ".running_var"}) out.push_back(name + tensor);
    };
    convolution("conv1");
    norm("bn1");
    int block = 0;
    for (const Layer& layer : architecture.encoder) {
        if (layer.plan.kind != COTERIE_RESIDUAL) continue;
        const std::string name = filled("layer{}.{}.", block / 2 + 1, block % 2);
        for (const char* number : {"1", "2"}) {
            convolution(name + "conv" + number);
            norm(name + "bn" + number);
        }
        if (layer.plan.in > 0) {
            convolution(name + "downsample.0");
            norm(name + "downsample.1");
        }
        ++block;
    }
    return out;
}

namespace {
bool is_coteries(const formats::SafetensorsFile& file) {
    const auto says_so = [](const auto& fact) { return fact.first == "format" && fact.second == "coterie-model"; };
    return std::any_of(file.metadata.begin(), file.metadata.end(), says_so);
}
}  // namespace

double unit_for(const std::string& pretrained, PointsView points, const Run& run) {
    if (pretrained.empty()) return unit_of(points, run);
    double unit = 1;
    if (run.communicator().rank() == 0) {
        try {
            const formats::Bytes bytes = formats::read_bytes(pretrained);
            if (is_coteries(formats::parse_safetensors_table(bytes.data, pretrained))) {
                const Archive model = Archive::load(pretrained);
                if (model.has("unit")) unit = model.vector("unit", 1)[0];
            }
        } catch (const Error&) {  // reading the parameters reports the error
        }
    }
    return from_process(run.communicator(), 0, unit);
}

void read_trunk(const std::string& path, const Architecture& classifier, bool is_resnet18, Parameters& parameters) {
    const formats::Bytes bytes = formats::read_bytes(path);
    const formats::SafetensorsFile file = formats::parse_safetensors_table(bytes.data, path);
    const auto refuse = [&](std::string problem, std::string remedy) {
        throw BadData(Code::model_mismatch, std::move(problem), std::move(remedy),
                      {.option = "pretrained", .file = path});
    };
    const auto has = [&](const std::string& name) {
        return std::any_of(file.tensors.begin(), file.tensors.end(), [&](const auto& t) { return t.name == name; });
    };
    if (is_coteries(file)) {
        const Archive model = Archive::load(path);  // checks its checksum
        if (has("network.0") || !is_resnet18)
            require_kind(model, path, {"entropy-net", "imsat", "iic", "sela-net", "miadm-net"});
    }
    const std::size_t trunk = parameters.size() - parameter_sizes(classifier.encoder.back().plan).size();
    std::vector<std::string> names;
    if (has("network.0")) {
        for (std::size_t p = 0; p < trunk; ++p) names.push_back(filled("network.{}", p));
    } else if (is_resnet18) {
        // The prefix of the shortest name that ends with the name of the first convolution in a block.
        const std::string known = "layer1.0.conv1.weight";
        std::optional<std::string> before;
        for (const auto& tensor : file.tensors)
            if (tensor.name.ends_with(known) && (!before || tensor.name.size() < before->size() + known.size()))
                before = tensor.name.substr(0, tensor.name.size() - known.size());
        if (!before)
            refuse(
                "the file has no tensor " + known + ", with or without a prefix",
                "Use a model of a classifier for `pretrained`, or the weights of ResNet-18 as torchvision names them");
        for (const std::string& name : resnet18_names(classifier)) names.push_back(*before + name);
    } else {
        refuse("the file has no tensor network.0",
               "Use the model of a classifier with the same network for `pretrained` (ResNet-18: also weights as "
               "torchvision names them)");
    }
    if (names.size() != trunk) throw InternalError("pretrained: names of another network");
    for (std::size_t p = 0; p < trunk; ++p) {
        if (!has(names[p]))
            refuse("the file has no tensor " + names[p], "Use the weights of a network of the same kind");
        const formats::Array array = formats::parse_safetensors(bytes, names[p], formats::Purpose::points, path);
        const Points points = formats::to_points(array, Precision::float32, -1, array.source, 1);
        const auto values = to_matrix<float>(points.view());
        if (values.size() != static_cast<Index>(parameters[p].size()))
            refuse(filled("tensor {} has {} numbers, but this network has {} there", names[p], values.size(),
                          parameters[p].size()),
                   "Use the same `network`, `image`, `widths` and `kernel`");
        if (!values.allFinite())
            throw BadData(Code::not_finite, "tensor " + names[p] + " has numbers that are not finite", "",
                          {.option = "pretrained", .file = path});
        std::copy_n(values.data(), values.size(), parameters[p].begin());
    }
}

}  // namespace coterie::deep::internal
