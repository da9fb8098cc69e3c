// ae-kmeans, the baseline of these methods: pre-training, then k-means, without training towards the clusters. Also the
// model of all methods that cluster in an embedding. The model keeps no points. Everything after the network (rotation,
// distances, labels) is in double.

#include "coterie/deep/autoencoder.hpp"

#include "coterie/deep/internal/alternation.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {

using namespace deep::internal;

const OptionSet& AeKMeansOptions::described() {
    static const OptionSet set = describe_autoencoder<AeKMeansOptions>();
    return set;
}

AeKMeansModel AeKMeansMethod::fit(const Problem& problem, const AeKMeansOptions& options, const Run& run) {
    const PointsView points = problem.points;
    DeepFit fit("ae-kmeans", points, options, AeKMeansOptions::described().values(&options), run);
    fit.pretrain();
    const Matrix<double> embedding = fit.embedding();
    KMeansOptions clustering;
    clustering.clusters = options.clusters;
    clustering.restarts = options.kmeans_restarts;
    const Run within = run.within();
    const KMeansModel found = fit_kmeans(embedding, clustering, within);
    const Labels labels = clusters_of(found, within).labels;
    fit.end_stage("k-means");
    fit.report().objective = found.inertia();
    fit.report().objective_per_iteration = found.fit_report().objective_per_iteration;
    fit.report().iterations = found.fit_report().iterations;
    fit.report().stopped = found.fit_report().stopped;
    fit.finish(labels, options.clusters);
    return {options,
            fit.state(Matrix<double>::Identity(fit.width(), fit.width()), to_matrix<double>(found.centroids())),
            own_part(labels, points, run), std::move(fit.report())};
}

// ---- the model

double DeepModel::restart_criterion() const { return number_of(report_, "within_share"); }

Matrix<double> DeepModel::output_checked(Output which, PointsView points, const Run& run) const {
    Matrix<double> y = embed(points, run);
    return which == Output::distances ? euclidean_distances(y, state_.centroids, run.threads) : y;
}

Matrix<double> DeepModel::embed(PointsView points, const Run& run) const {
    return encoded(points, state_.unit, architecture_of(options(), state_.dimensions), state_.parameters,
                   options().half, run) *
           state_.rotation.transpose();
}

Labels DeepModel::predict_checked(PointsView points, const Run& run) const {
    return nearest_centroids(embed(points, run), state_.centroids, run.threads).labels;
}

void DeepModel::parts(Parts& parts) {
    parts.bind('e', options().embedding);
    parts.add_count("dimensions", state_.dimensions);
    unit_part(parts, state_.unit);
    parts.add("rotation", state_.rotation, "e x e", "the orthonormal basis of the embedding");
    parts.add("centroids", state_.centroids, "k x e", "the centroid of each cluster in the embedding");
    network_parts(parts, state_.parameters, [&] { return architecture_of(options(), state_.dimensions); });
}

}  // namespace coterie
