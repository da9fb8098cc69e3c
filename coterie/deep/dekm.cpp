// An update computes clusters, the eigenvectors of their scatter (a small dense problem, p x p) and targets for all
// points. Batches then only compare outputs with the targets. The network moves little between two updates, so k-means
// continues from the last labels. A fresh start replaces this result only if it is better by more than rounding, so
// that labels do not jump between equal solutions. The random numbers of an update depend only on the seed and the
// number of the update, as checkpoints require.

#include "coterie/deep/dekm.hpp"

#include "coterie/deep/internal/dekm_step.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {

using namespace deep::internal;

const OptionSet& DekmOptions::described() {
    static const OptionSet set =
        describe_alternating<DekmOptions>(
            "40 for convolutional networks, 10 for others",
            "must be 1, because without true labels no criterion finds the best of several fits of this method")
            .integer("update_restarts", &DekmOptions::update_restarts, at_least(0),
                     "number of new starts of k-means per update, in addition to the start from the previous clusters")
            .choice("move", &DekmOptions::move, {"last", "all"},
                    "coordinates that move to the cluster's mean: only the widest direction (last), or all")
            .choice("update", &DekmOptions::update, {"batch", "full"},
                    "batch: one step per batch; full: one step per pass over all rows");
    return set;
}

namespace deep::internal {

GreedyTargets greedy_targets(const Matrix<double>& embedding, const Labels& labels, int clusters, DekmMove move,
                             const Run& run) {
    GreedyTargets out;
    const Index p = embedding.cols();
    out.means = means_of(embedding, labels, Matrix<double>::Zero(clusters, p), run.threads);
    EigenPairs pairs = symmetric_eigen(class_scatter(embedding, labels, clusters, run).within);
    out.spreads = std::move(pairs.values);
    out.rotation = pairs.vectors.transpose();
    out.targets = embedding * out.rotation.transpose();
    const Matrix<double> centres = out.means * out.rotation.transpose();
    for (Index i = 0; i < embedding.rows(); ++i) {
        const Index own = labels[static_cast<std::size_t>(i)];
        if (move == DekmMove::all)
            out.targets.row(i) = centres.row(own);
        else
            out.targets(i, p - 1) = centres(own, p - 1);
    }
    return out;
}

BatchLoss greedy_loss(const Matrix<float>& encoded, const GreedyTargets& targets,
                      const std::vector<std::int64_t>& rows) {
    const Matrix<double> f = encoded.cast<double>();
    Matrix<double> difference = f * targets.rotation.transpose();
    for (Index r = 0; r < f.rows(); ++r) difference.row(r) -= targets.targets.row(rows[static_cast<std::size_t>(r)]);
    const auto size = static_cast<double>(difference.size());
    return {difference.squaredNorm() / size, (2 / size * difference * targets.rotation).cast<float>()};
}

}  // namespace deep::internal

namespace {

class Dekm : public Alternation {
public:
    explicit Dekm(const DekmOptions& options) : options_(options) {}

    Labels update(const Matrix<double>& embedding, const Labels& last, std::uint64_t number, const Run& run) override {
        Clusters found = last.empty() ? first_clusters(embedding, options_.clusters, options_.kmeans_restarts, run)
                                      : cluster_again(embedding, last, number, run);
        inertia_ = found.inertia;
        targets_ = greedy_targets(embedding, found.labels, options_.clusters, options_.move, run.alone());
        return std::move(found.labels);
    }
    double objective() const override { return inertia_; }
    BatchLoss loss(const Matrix<float>& encoded, const std::vector<std::int64_t>& rows) override {
        return greedy_loss(encoded, targets_, rows);
    }
    Matrix<double> rotation() const override { return targets_.rotation; }
    Matrix<double> centroids() const override { return targets_.means * targets_.rotation.transpose(); }
    void store(Archive& archive) const override { archive.set_labels("warm", std::vector<std::int32_t>{warm_}); }
    void load(const Archive& archive) override { warm_ = archive.labels("warm", 1)[0]; }

    int warm_starts() const { return warm_; }

private:
    // k-means from the means of the last labels (warm start), and from a few fresh starts. The warm start wins ties.
    Clusters cluster_again(const Matrix<double>& embedding, const Labels& last, std::uint64_t number, const Run& run) {
        Run own = run;
        own.seed += 1000003 * (number + 1);
        KMeansOptions options;
        options.clusters = options_.clusters;
        const Matrix<double> means =
            means_of(embedding, last, Matrix<double>::Zero(options_.clusters, embedding.cols()), run.threads);
        const KMeansModel warm =
            fit_kmeans({.points = Points::borrow(embedding), .initial_centroids = Points::borrow(means)}, options, own);
        if (options_.update_restarts > 0) {
            Clusters fresh = first_clusters(embedding, options_.clusters, options_.update_restarts, own);
            if (fresh.inertia < warm.inertia() * (1 - 1e-9)) return fresh;
        }
        ++warm_;
        return clusters_of(warm, own);
    }

    const DekmOptions& options_;
    GreedyTargets targets_;
    double inertia_ = 0;
    int warm_ = 0;
};

}  // namespace

DekmModel DekmMethod::fit(const Problem& problem, const DekmOptions& options, const Run& run) {
    // The scatter within clusters finds the best fit of ae-kmeans, but not of dekm: docs/results/deep-kmeans.md.
    if (options.restarts > 1)
        throw BadArgument(Code::not_accepted,
                          std::to_string(options.restarts) +
                              " is not accepted, because without true labels no criterion finds the best fit of dekm",
                          "Use 1. For several fits, use several values of `seed` and compare the results",
                          {.option = "restarts", .value = std::to_string(options.restarts), .accepted = "1"});
    const PointsView points = problem.points;
    DekmOptions used = options;
    DeepFit fit("dekm", points, used, DekmOptions::described().values(&options), run);
    const bool dense = fit.network().architecture().encoder.front().plan.kind == COTERIE_DENSE;
    used.update_interval = options.update_interval.value_or(dense ? 10 : 40);
    Dekm dekm(used);
    Alternated found =
        alternate(fit, used, dekm, {{.part = NetworkOptimizer::Part::encoder, .learning_rate = used.learning_rate}},
                  used.update == DekmUpdate::full);
    fit.report().details.emplace_back("warm_starts", std::int64_t{dekm.warm_starts()});
    return {used, std::move(found.state), std::move(found.labels), std::move(fit.report())};
}

}  // namespace coterie
