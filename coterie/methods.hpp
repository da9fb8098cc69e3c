#pragma once
// The one list of methods. Adding a method is adding its room and one line in methods.cpp; the command, the model
// files, the docs and Python know it from here.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/options.hpp"
#include "coterie/base/side_information.hpp"
#include "coterie/io/model.hpp"

namespace coterie {

/// Which parts of SideInformation a method uses; the others it refuses by name.
struct Honours {
    bool weights = false;
    bool initial_centroids = false;
    bool partial_labels = false;  // with clusters_per_label and group_shares
    bool sizes = false;
};

struct Method {
    std::string name;     // "kmeans"
    std::string summary;  // one line
    const OptionSet* options = nullptr;
    Honours honours;
    std::function<std::unique_ptr<Model>(PointsView, const OptionValues&, Run&, const SideInformation&)> fit;
    std::function<std::unique_ptr<Model>(const Archive&)> load;
};

const std::vector<Method>& methods();
/// BadArgument that lists the names, nearest first, when there is none such.
const Method& find_method(std::string_view name);

/// Reads a model of any method. BadData on a file that is no sound model.
std::unique_ptr<Model> load_model(const std::string& path);
std::unique_ptr<Model> load_model(const Archive& archive);

}  // namespace coterie
