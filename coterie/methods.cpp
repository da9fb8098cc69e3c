// The list of methods. Each entry is built from types, so only its module describes a method. If the fits of a method
// share no work, its fitter makes ordinary fits.

#include "coterie/methods.hpp"

#include "coterie/base/text.hpp"
#include "coterie/deep/dec.hpp"
#include "coterie/deep/dekm.hpp"
#include "coterie/deep/entropy_net.hpp"
#include "coterie/deep/imsat.hpp"
#include "coterie/deformation/aml.hpp"
#include "coterie/deformation/cpd.hpp"
#include "coterie/deformation/fme.hpp"
#include "coterie/deformation/rpca_om.hpp"
#include "coterie/density/hdbscan.hpp"
#include "coterie/entropy/entropy.hpp"
#include "coterie/kmeans/kernel_kmeans.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/minibatch_kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/kmeans/spherical_kmeans.hpp"
#include "coterie/kmeans/ward.hpp"
#include "coterie/manifold/baselines.hpp"
#include "coterie/manifold/wmc.hpp"
#include "coterie/model/restarts.hpp"
#include "coterie/model/result_warnings.hpp"
#include "coterie/spectral/spectral.hpp"
#include "coterie/subspace/subspace.hpp"

namespace coterie {
namespace {

// The fit of a method. Restarts that are whole fits are included.
template <class M>
struct FitOf : Fit<M> {};
template <class M>
requires requires(const typename M::Model& model) { M::restart_criterion(model); }
struct FitOf<M> : RestartedFit<M> {};

// The entry of a method, built from the types of its module. Its fits also get the warnings about results.
template <class M>
Method line() {
    using Options = typename M::Options;
    using MethodModel = typename M::Model;
    const auto assigned = [](const OptionValues& values) {
        Options options;
        Options::described().assign(&options, values);
        return options;
    };
    Method out;
    out.name = M::name;
    out.summary = M::summary;
    out.options = &Options::described();
    out.takes = M::takes;
    out.about = M::about;
    out.fit = [assigned](const Problem& problem, const OptionValues& values, const Run& run) -> std::unique_ptr<Model> {
        internal::require_same_fit(M::name, values, problem, run);  // first: assigned() may throw on one process
        auto model = std::make_unique<MethodModel>(FitOf<M>()(problem, assigned(values), run));
        internal::warn_of_result(*model, problem, run, M::takes.blocks);
        return model;
    };
    if constexpr (requires { typename M::Fits; }) {
        out.fitter = [assigned](const Problem& problem, const Run& run) -> Method::Fitter {
            internal::admit(M::name, M::takes, problem, run);
            const bool as_it_is = problem.points.resident() || M::takes.blocks;
            const auto held =
                std::make_shared<const Problem>(as_it_is ? problem : internal::in_memory(M::name, problem, run));
            return [assigned, held, &run,
                    fits = std::make_shared<const typename M::Fits>(*held, run)](const OptionValues& values) {
                auto model = std::make_unique<MethodModel>(fits->fit(assigned(values)));
                internal::warn_of_result(*model, *held, run, M::takes.blocks);
                return model;
            };
        };
        out.shared_options = M::Fits::shared_options();
    } else {
        out.fitter = [fit = out.fit](const Problem& problem, const Run& run) -> Method::Fitter {
            return [fit, &problem, &run](const OptionValues& values) { return fit(problem, values, run); };
        };
    }
    out.load = [](const Archive& archive) -> std::unique_ptr<Model> {
        return std::make_unique<MethodModel>(MethodModel::from(archive));
    };
    return out;
}

template <class... Methods>
std::vector<Method> lines() {
    return {line<Methods>()...};
}

}  // namespace

const std::vector<Method>& methods() {
    static const std::vector<Method> list =
        lines<KMeansMethod, MinibatchKMeansMethod, SoftKMeansMethod, SphericalKMeansMethod, WardMethod,
              KernelKMeansMethod, HdbscanMethod, SpectralMethod, SubspaceMethod, CpdMethod, AmlMethod, RpcaOmMethod,
              FmeMethod, EntropyMethod, MiMethod, SelaMethod, MiadmMethod, WmcMethod, SscMethod, EnscMethod,
              SscOmpMethod, SmceMethod, AeKMeansMethod, DekmMethod, DecMethod, IdecMethod, DcnMethod, EntropyNetMethod,
              ImsatMethod, IicMethod, SelaNetMethod, MiadmNetMethod>();
    return list;
}

const Method& find_method(std::string_view name) {
    for (const auto& method : methods())
        if (method.name == name) return method;
    std::vector<std::string> names;
    for (const auto& method : methods()) names.push_back(method.name);
    const std::string text = internal::listed(internal::nearest_first(std::move(names), name));
    throw BadArgument(Code::unknown_name, "there is no method '" + std::string(name) + "'",
                      "Methods, nearest first: " + text, {.value = std::string(name), .accepted = text});
}

MethodOptions::MethodOptions(std::string_view name, OptionValues values)
    : MethodOptions(find_method(name), std::move(values)) {}

const Method& MethodOptions::method_with(const OptionSet& options) {
    for (const Method& method : methods())
        if (method.options == &options) return method;
    throw InternalError("no method has these options");
}

std::unique_ptr<Model> model_of(const Archive& archive) {
    for (const auto& method : methods())
        if (method.name == archive.method()) return method.load(archive);
    const auto refuse = [](Code code, std::string problem, const char* remedy) {
        throw BadData(code, std::move(problem), remedy);
    };
    if (archive.method() == "checkpoint")
        refuse(Code::unsupported_format, "this is a checkpoint of a fit with " + archive.text("fit") + ", not a model",
               "Repeat the fit with this file as `checkpoint` to finish it");
    if (archive.method() == "ner-tagger")
        refuse(Code::unsupported_format, "this is a tagger of named entities, not a model of clusters",
               "Use it with ner tag");
    if (archive.method() == "ner-projection")
        refuse(Code::unsupported_format, "this is the projection of a contrastively trained encoder, not a model", "");
    throw BadData(Code::model_mismatch,
                  "the model's method '" + archive.method() + "' does not exist in this version of coterie",
                  "Use the version that wrote the model");
}

}  // namespace coterie
