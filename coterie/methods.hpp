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
#include "coterie/base/sparse.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

/// Which parts of SideInformation a method uses; the others it refuses by name.
struct Honours {
    bool weights = false;
    bool initial_centroids = false;
    bool partial_labels = false;  // with clusters_per_label
    enum class Shares { none, number, interval } group_shares = Shares::none;
    bool sizes = false;
};

struct Method {
    std::string name;     // "kmeans"
    std::string summary;  // one line
    const OptionSet* options = nullptr;
    Honours honours;
    std::function<std::unique_ptr<Model>(PointsView, const OptionValues&, Run&, const SideInformation&)> fit;
    /// Several fits of the same points, as `fit` gives them one by one, that share what their options have in common (a
    /// matrix factored once for many of them). What it is made from must outlive it.
    using Fitter = std::function<std::unique_ptr<Model>(const OptionValues&)>;
    std::function<Fitter(PointsView, Run&, const SideInformation&)> fitter;
    /// The options that fits should have in common to share most, those first whose change costs most; empty: there is
    /// nothing to share.
    std::vector<std::string> shared_options;
    std::function<std::unique_ptr<Model>(const Archive&)> load;
    /// Of a sparse matrix of affinities in place of points, where the method takes one (its option affinity is
    /// precomputed); null otherwise.
    std::function<std::unique_ptr<Model>(const SparseMatrix&, const OptionValues&, Run&)> fit_graph;
};

const std::vector<Method>& methods();
/// BadArgument that lists the names, nearest first, when there is none such.
const Method& find_method(std::string_view name);

/// Reads a model of any method. BadData on a file that is no sound model.
std::unique_ptr<Model> load_model(const std::string& path);
std::unique_ptr<Model> load_model(const Archive& archive);

}  // namespace coterie
