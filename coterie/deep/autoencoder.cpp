#include "coterie/deep/autoencoder.hpp"

#include "coterie/deep/deep_fit.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {

const OptionSet& AeKMeansOptions::described() {
    static const OptionSet set = internal::describe_autoencoder<AeKMeansOptions>();
    return set;
}

AeKMeansModel fit_ae_kmeans(PointsView points, const AeKMeansOptions& options, Run& run, const SideInformation& side) {
    check_options(options);
    internal::DeepFit fit("ae-kmeans", points, options, AeKMeansOptions::described().values(&options), run, side);
    fit.pretrain();
    const Matrix<double> embedding = fit.embedding();
    KMeansOptions clustering;
    clustering.clusters = options.clusters;
    clustering.restarts = options.restarts;
    const KMeansModel found = fit_kmeans(embedding, clustering, run);
    fit.report().seconds.emplace_back("k-means", fit.watch().restart());
    fit.report().objective = found.inertia();
    fit.report().objective_per_iteration = found.fit_report().objective_per_iteration;
    fit.report().iterations = found.fit_report().iterations;
    fit.report().stopped = found.fit_report().stopped;
    fit.finish(found.labels(), options.clusters);
    return {options,
            fit.state(Matrix<double>::Identity(fit.width(), fit.width()), to_matrix<double>(found.centroids())),
            found.labels(), std::move(fit.report())};
}

// ---- the model

DeepModel::DeepModel(DeepState state, Labels labels, FitReport report) : state_(std::move(state)) {
    labels_ = std::move(labels);
    report_ = std::move(report);
}

Matrix<double> DeepModel::transform(PointsView points, const Run& run) const {
    if (!accept("transform", points, run)) return Matrix<double>(0, state_.rotation.rows());
    const Matrix<float> floats = to_matrix<float>(points);
    check_points(floats, "transform", run.threads);  // what fits float64 may be infinite in float32
    internal::Network network(internal::architecture_of(autoencoder(), state_.dimensions), autoencoder().device,
                              run.threads, autoencoder().half);
    network.set_parameters(state_.parameters);
    network.set_points(floats);
    return network.encode_all(run).cast<double>() * state_.rotation.transpose();
}

Labels DeepModel::predict_checked(PointsView points, const Run& run) const {
    return nearest_centroids(transform(points, run), state_.centroids, run.threads).labels;
}

void DeepModel::store_network(Archive& archive) const {
    internal::store_parameters(state_.parameters, archive, "network");
    archive.set_text("dimensions", std::to_string(state_.dimensions));
    archive.set_points("rotation", state_.rotation);
    archive.set_points("centroids", state_.centroids);
}

void DeepModel::load_network(const Archive& archive, int clusters, int embedding) {
    const std::string& text = archive.text("dimensions");
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
        throw BadData("model: '" + text + "' is no number of dimensions");
    state_.dimensions = std::stol(text);
    state_.rotation = to_matrix<double>(archive.points("rotation", embedding, embedding).view());
    state_.centroids = to_matrix<double>(archive.points("centroids", clusters, embedding).view());
    const internal::Architecture architecture = [&] {
        try {
            return internal::architecture_of(autoencoder(), state_.dimensions);
        } catch (const BadArgument& error) {
            throw BadData(std::string("model: its options do not fit: ") + error.what());
        }
    }();
    std::vector<Index> sizes;
    for (const auto* layers : {&architecture.encoder, &architecture.decoder})
        for (const internal::Layer& layer : *layers) {
            const auto own = internal::parameter_sizes(layer.plan);
            sizes.insert(sizes.end(), own.begin(), own.end());
        }
    state_.parameters = internal::load_parameters(sizes, archive, "network");
}

}  // namespace coterie
