#pragma once
// The list of methods. To add a method, add its module and one line in methods.cpp. The command, the model files, the
// docs and Python use this list.

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

/// A method for callers that choose one by name. It is built from the types in model/method.hpp.
struct Method {
    std::string name;     // "kmeans"
    std::string summary;  // one line
    const OptionSet* options = nullptr;
    Takes takes;
    About about;
    std::function<std::unique_ptr<Model>(const Problem&, const OptionValues&, const Run&)> fit;
    /// Makes a fitter for several fits of one problem. It gives the same results as `fit`, and shares the work that the
    /// options have in common (a matrix factored once for many of them). The problem and the run must outlive it. A
    /// fitter is const: several threads may call it at once. Its results do not depend on earlier or concurrent calls.
    using Fitter = std::function<std::unique_ptr<Model>(const OptionValues&)>;
    std::function<Fitter(const Problem&, const Run&)> fitter;
    /// Fits with equal values of these options share the most work. The options whose change costs most come first.
    /// Empty: there is nothing to share.
    std::vector<std::string> shared_options;
    std::function<std::unique_ptr<Model>(const Archive&)> load;
};

COTERIE_API const std::vector<Method>& methods();
/// Throws BadArgument, listing the names, nearest first, when there is no such method.
COTERIE_API const Method& find_method(std::string_view name);

/// The model in an archive, of any method, without the preparation that the archive may also hold. Pipeline::load,
/// which reads files, builds on it. Throws BadData on an archive that is not a valid model.
COTERIE_API std::unique_ptr<Model> model_of(const Archive& archive);

}  // namespace coterie
