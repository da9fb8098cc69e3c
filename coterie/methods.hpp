#pragma once
// The list of methods, which the command, model files, docs and Python use. To add one, add a line in methods.cpp.

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
    /// Makes a fitter for several fits of one problem. It gives the same results as `fit`, but fits share work (for
    /// example, one factorisation of a matrix). The problem and the run must outlive it. Several threads may call a
    /// fitter at once. Its results do not depend on earlier or concurrent calls.
    using Fitter = std::function<std::unique_ptr<Model>(const OptionValues&)>;
    std::function<Fitter(const Problem&, const Run&)> fitter;
    /// Fits with equal values of these options share the most work. First come the options whose change is most
    /// expensive. Empty: there is nothing to share.
    std::vector<std::string> shared_options;
    std::function<std::unique_ptr<Model>(const Archive&)> load;
};

/// A method and values of its options. Made from the method's options struct, or by name.
class COTERIE_API MethodOptions {
public:
    /// For example KMeansOptions{.clusters = 3}; the type determines the method.
    template <class Options>
    requires requires {
        { Options::described() } -> std::same_as<const OptionSet&>;
    }
    MethodOptions(const Options& options)
        : MethodOptions(method_with(Options::described()), Options::described().values(&options)) {}
    /// For example {"kmeans", {{"clusters", 3}}}. Throws BadArgument that lists the names if there is no such method.
    MethodOptions(std::string_view name, OptionValues values = {});
    MethodOptions(const char* name, OptionValues values = {})
        : MethodOptions(std::string_view(name), std::move(values)) {}
    MethodOptions(const Method& method, OptionValues values = {}) : method_(&method), values_(std::move(values)) {}

    const Method& method() const { return *method_; }
    const OptionValues& values() const { return values_; }

private:
    static const Method& method_with(const OptionSet& options);

    const Method* method_;
    OptionValues values_;
};

COTERIE_API const std::vector<Method>& methods();
/// Throws BadArgument that lists the names, most similar first, if there is no such method.
COTERIE_API const Method& find_method(std::string_view name);

/// The model in an archive, of any method, without the preparation of the data that the archive may also hold.
/// Pipeline::load uses it to read files. Throws BadData if the archive is not a valid model.
COTERIE_API std::unique_ptr<Model> model_of(const Archive& archive);

}  // namespace coterie
