#pragma once
// The one list of methods. Adding a method is adding its room and one line in methods.cpp; the command, the model
// files, the docs and Python know it from here.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/model/method.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

/// A method as callers see it that choose one by name. What it is made from says the same in types: model/method.hpp.
struct Method {
    std::string name;     // "kmeans"
    std::string summary;  // one line
    const OptionSet* options = nullptr;
    Takes takes;
    std::function<std::unique_ptr<Model>(const Problem&, const OptionValues&, const Run&)> fit;
    /// Several fits of one problem, as `fit` gives them one by one, that share what their options have in common (a
    /// matrix factored once for many of them). What it is made from must outlive it. A fitter is const: several threads
    /// may call it at once, and what it returns does not depend on earlier or concurrent calls.
    using Fitter = std::function<std::unique_ptr<Model>(const OptionValues&)>;
    std::function<Fitter(const Problem&, const Run&)> fitter;
    /// The options that fits should have in common to share most, those first whose change costs most; empty: there is
    /// nothing to share.
    std::vector<std::string> shared_options;
    std::function<std::unique_ptr<Model>(const Archive&)> load;
};

COTERIE_API const std::vector<Method>& methods();
/// BadArgument that lists the names, nearest first, when there is none such.
COTERIE_API const Method& find_method(std::string_view name);

/// The model in an archive, of any method, without the preparation of its points that may lie beside it: what
/// Pipeline::load is made from, which is how files are read. BadData on an archive that is no sound model.
COTERIE_API std::unique_ptr<Model> model_of(const Archive& archive);

}  // namespace coterie
