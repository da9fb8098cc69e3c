#include "coterie/methods.hpp"

#include <algorithm>

#include "coterie/base/words.hpp"
#include "coterie/deep/dec.hpp"
#include "coterie/deep/dekm.hpp"
#include "coterie/deep/entropy_net.hpp"
#include "coterie/deep/imsat.hpp"
#include "coterie/deformation/aml.hpp"
#include "coterie/deformation/cpd.hpp"
#include "coterie/deformation/fme.hpp"
#include "coterie/deformation/rpca_om.hpp"
#include "coterie/entropy/entropy.hpp"
#include "coterie/kmeans/kernel_kmeans.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/minibatch_kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/kmeans/spherical_kmeans.hpp"
#include "coterie/kmeans/ward.hpp"
#include "coterie/manifold/rivals.hpp"
#include "coterie/manifold/wmc.hpp"
#include "coterie/spectral/spectral.hpp"
#include "coterie/subspace/subspace.hpp"

namespace coterie {
namespace {

void refuse_unhonoured(const std::string& name, const Honours& honours, const SideInformation& side) {
    if (!side.weights.empty() && !honours.weights) throw BadArgument("method " + name + " takes no weights");
    if (!side.initial_centroids.empty() && !honours.initial_centroids)
        throw BadArgument("method " + name + " takes no initial centroids");
}

template <class Options>
Options options_from(const OptionValues& values) {
    Options options;
    Options::described().assign(&options, values);
    return options;
}

// A room's own types are enough to make its line: Options::described(), fit(points, Options, Run&, SideInformation),
// Model::from(Archive).
template <class Options, class RoomModel>
Method method(std::string name, std::string summary, Honours honours,
              RoomModel (*fit)(PointsView, const Options&, Run&, const SideInformation&)) {
    Method out;
    out.name = std::move(name);
    out.summary = std::move(summary);
    out.options = &Options::described();
    out.honours = honours;
    out.fit = [fit, honours, name = out.name](PointsView points, const OptionValues& values, Run& run,
                                              const SideInformation& side) -> std::unique_ptr<Model> {
        refuse_unhonoured(name, honours, side);
        return std::make_unique<RoomModel>(fit(points, options_from<Options>(values), run, side));
    };
    out.fitter = [fit = out.fit](PointsView points, Run& run, const SideInformation& side) -> Method::Fitter {
        return [fit, points, &run, &side](const OptionValues& values) { return fit(points, values, run, side); };
    };
    out.load = [](const Archive& archive) -> std::unique_ptr<Model> {
        return std::make_unique<RoomModel>(RoomModel::from(archive));
    };
    return out;
}

// The same for a method whose fits share work: Fits(points, Run&, SideInformation) has fit(Options).
template <class Fits, class Options, class RoomModel>
Method shared_method(std::string name, std::string summary, Honours honours,
                     RoomModel (*fit)(PointsView, const Options&, Run&, const SideInformation&)) {
    Method out = method(std::move(name), std::move(summary), honours, fit);
    out.fitter = [honours, name = out.name](PointsView points, Run& run,
                                            const SideInformation& side) -> Method::Fitter {
        refuse_unhonoured(name, honours, side);
        return [fits = std::make_shared<Fits>(points, run, side)](const OptionValues& values) {
            return std::make_unique<RoomModel>(fits->fit(options_from<Options>(values)));
        };
    };
    out.shared_options = Fits::shared_options();
    return out;
}

Method spectral() {
    SpectralModel (*const fit)(PointsView, const SpectralOptions&, Run&, const SideInformation&) = fit_spectral;
    Method out = method(
        "spectral",
        "spectral clustering: eigenvectors of a graph of neighbours, of an rbf kernel or of given affinities", {}, fit);
    out.fit_graph = [](const SparseMatrix& affinity, const OptionValues& values, Run& run) -> std::unique_ptr<Model> {
        return std::make_unique<SpectralModel>(fit_spectral(affinity, options_from<SpectralOptions>(values), run));
    };
    return out;
}

}  // namespace

const std::vector<Method>& methods() {
    static const std::vector<Method> list = {
        method("kmeans", "k-means: Lloyd's algorithm with bounds, greedy k-means++ seeding",
               {.weights = true,
                .initial_centroids = true,
                .partial_labels = true,
                .group_shares = Honours::Shares::interval,
                .sizes = true},
               fit_kmeans),
        method("minibatch-kmeans", "k-means by batches drawn from the points, for very many of them",
               {.weights = true, .initial_centroids = true}, fit_minibatch_kmeans),
        method("soft-kmeans", "k-means with probabilities at a temperature, minimising the free energy",
               {.weights = true, .initial_centroids = true}, fit_soft_kmeans),
        method("spherical-kmeans", "k-means by cosine similarity, rows and centroids of length 1",
               {.weights = true, .initial_centroids = true}, fit_spherical_kmeans),
        method("ward", "Ward agglomeration by the nearest-neighbour chain, in memory n d", {.weights = true}, fit_ward),
        method("kernel-kmeans", "k-means in the feature space of a kernel: rbf, polynomial, linear or precomputed",
               {.weights = true, .initial_centroids = true}, fit_kernel_kmeans),
        spectral(),
        method("subspace",
               "constrained k-means with joint subspace selection: few labels, group shares, a learnt projection",
               {.initial_centroids = true,
                .partial_labels = true,
                .group_shares = Honours::Shares::interval,
                .sizes = true},
               fit_subspace),
        shared_method<CpdFits>("cpd",
                               "CPD-UML: clusters made compact by a smooth deformation of the space, linear and kernel",
                               {.initial_centroids = true}, fit_cpd),
        shared_method<AmlFits>(
            "aml", "adaptive metric learning: a linear metric and the clusters learnt together, linear and kernel",
            {.initial_centroids = true}, fit_aml),
        shared_method<RpcaOmFits>("rpca-om",
                                  "robust PCA with optimal mean, and k-means in its subspace, linear and kernel",
                                  {.initial_centroids = true}, fit_rpca_om),
        shared_method<FmeFits>(
            "fme", "flexible manifold embedding: a graph's embedding and the regression to it, linear and kernel",
            {.initial_centroids = true}, fit_fme),
        method("entropy", "discriminative entropy clustering: a linear softmax model, decisive and fair",
               {.partial_labels = true, .group_shares = Honours::Shares::number}, fit_entropy),
        method("mi", "mutual information of points and clusters, maximised by gradient descent (MIGD)",
               {.partial_labels = true, .group_shares = Honours::Shares::number}, fit_mi),
        method("sela", "self-labelling by optimal transport: a linear softmax model of balanced hard labels",
               {.partial_labels = true, .group_shares = Honours::Shares::number}, fit_sela),
        method("miadm", "self-labelling by alternating directions: a linear softmax model of soft labels",
               {.partial_labels = true}, fit_miadm),
        shared_method<WmcFits>("wmc",
                               "weighted manifold clustering: sparse representations in which near points are cheaper",
                               {}, fit_wmc),
        shared_method<ManifoldFits<SscOptions>>(
            "ssc", "sparse subspace clustering: representations by few points, all at the same cost", {}, fit_ssc),
        shared_method<ManifoldFits<EnscOptions>>(
            "ensc", "elastic-net subspace clustering: representations by few points and their squares", {}, fit_ensc),
        shared_method<ManifoldFits<SscOmpOptions>>(
            "ssc-omp", "subspace clustering by orthogonal matching pursuit, a fixed number of points each", {},
            fit_ssc_omp),
        shared_method<ManifoldFits<SmceOptions>>(
            "smce", "sparse manifold clustering and embedding: affine representations by nearest neighbours", {},
            fit_smce),
        method("ae-kmeans", "k-means in the embedding of an autoencoder (LibTorch)", {}, fit_ae_kmeans),
        method("dekm", "deep embedded k-means: an encoder moved along the clusters' widest direction (LibTorch)", {},
               fit_dekm),
        method("dec", "deep embedded clustering: an encoder trained by its own sharpened soft assignments (LibTorch)",
               {}, fit_dec),
        method("idec", "DEC that keeps reconstructing the points (LibTorch)", {}, fit_idec),
        method("dcn", "deep clustering network: reconstruction and distances from centroids, in turn (LibTorch)", {},
               fit_dcn),
        method("entropy-net", "discriminative entropy clustering: a self-labelling network (LibTorch)",
               {.partial_labels = true, .group_shares = Honours::Shares::number}, fit_entropy_net),
        method("imsat", "IMSAT: mutual information and predictions that augmentation leaves alone (LibTorch)",
               {.partial_labels = true, .group_shares = Honours::Shares::number}, fit_imsat),
        method("iic", "IIC: mutual information of the clusters of two views (LibTorch)", {.partial_labels = true},
               fit_iic),
        method("sela-net", "self-labelling by optimal transport: a network of one-hot labels (LibTorch)",
               {.partial_labels = true, .group_shares = Honours::Shares::number}, fit_sela_net),
        method("miadm-net", "self-labelling by alternating directions: a network of soft labels (LibTorch)",
               {.partial_labels = true}, fit_miadm_net),
    };
    return list;
}

const Method& find_method(std::string_view name) {
    for (const auto& method : methods())
        if (method.name == name) return method;
    std::vector<std::string> names;
    for (const auto& method : methods()) names.push_back(method.name);
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& a, const auto& b) { return edit_distance(a, name) < edit_distance(b, name); });
    std::string text;
    for (const auto& each : names) text += (text.empty() ? "" : ", ") + each;
    throw BadArgument("there is no method '" + std::string(name) + "'; the methods are (nearest first) " + text);
}

std::unique_ptr<Model> load_model(const Archive& archive) {
    for (const auto& method : methods())
        if (method.name == archive.method()) return method.load(archive);
    if (archive.method() == "checkpoint")
        throw BadData("this is a checkpoint of a fit of " + archive.text("fit") +
                      ", not a model; the fit that wrote it goes on from it");
    throw BadData("model of method '" + archive.method() + "', which this version of coterie does not have");
}

std::unique_ptr<Model> load_model(const std::string& path) {
    try {
        return load_model(Archive::load(path));
    } catch (const BadData& error) {
        const std::string text = error.message();
        throw BadData(text.find(path) == std::string::npos ? path + ": " + text : text);
    }
}

}  // namespace coterie
