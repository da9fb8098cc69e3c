#include "coterie/deep/dekm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coterie/deep/deep_fit.hpp"
#include "coterie/deep/dekm_step.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {

const OptionSet& DekmOptions::described() {
    static const OptionSet set =
        internal::describe_autoencoder<DekmOptions>()
            .real("learning_rate", &DekmOptions::learning_rate, above(0), "of Adam while clustering")
            .integer("batch_size", &DekmOptions::batch_size, at_least(1), "points a batch while clustering")
            .integer("update_interval", &DekmOptions::update_interval, at_least(0),
                     "batches from one update to the next; 0: 40 for convolutional networks, 10 for dense ones")
            .integer("max_iterations", &DekmOptions::max_iterations, at_least(0), "batches at most")
            .real("tolerance", &DekmOptions::tolerance, between(0, 1),
                  "it ends when a smaller share of the points changes cluster in an update")
            .integer("update_restarts", &DekmOptions::update_restarts, at_least(0),
                     "k-means starts of an update beside the last clusters")
            .choice("move", &DekmOptions::move, {"last", "all"},
                    "which coordinates are moved to the cluster's mean: the widest direction, or every one")
            .choice("update", &DekmOptions::update, {"batch", "full"},
                    "steps of batches, or one step a pass over all points");
    return set;
}

namespace internal {

GreedyTargets greedy_targets(const Matrix<double>& embedding, const Labels& labels, int clusters, DekmMove move,
                             const Run& run) {
    GreedyTargets out;
    const Index p = embedding.cols();
    const ClusterSums sums =
        cluster_sums(embedding, labels, clusters, {}, run.threads, sum_chunks(embedding.rows(), clusters));
    out.means = sums.sums;
    for (Index c = 0; c < clusters; ++c)
        if (sums.mass[static_cast<std::size_t>(c)] > 0) out.means.row(c) /= sums.mass[static_cast<std::size_t>(c)];
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

GreedyLoss greedy_loss(const Matrix<float>& encoded, const GreedyTargets& targets,
                       const std::vector<std::int64_t>& rows) {
    const Matrix<double> f = encoded.cast<double>();
    Matrix<double> difference = f * targets.rotation.transpose();
    for (Index r = 0; r < f.rows(); ++r) difference.row(r) -= targets.targets.row(rows[static_cast<std::size_t>(r)]);
    const auto size = static_cast<double>(difference.size());
    return {difference.squaredNorm() / size, (2 / size * difference * targets.rotation).cast<float>()};
}

}  // namespace internal

namespace {

struct Clusters {
    Labels labels;
    double inertia = 0;
};

// k-means from the means of the last labels, and from a few starts of its own; the warm one among equals.
Clusters cluster_again(const Matrix<double>& embedding, const Labels& last, int clusters, int restarts, const Run& run,
                       std::uint64_t update, std::int64_t& warm) {
    const internal::ClusterSums sums = internal::cluster_sums(embedding, last, clusters, {}, run.threads,
                                                              internal::sum_chunks(embedding.rows(), clusters));
    Matrix<double> means = sums.sums;
    for (Index c = 0; c < clusters; ++c)
        if (sums.mass[static_cast<std::size_t>(c)] > 0) means.row(c) /= sums.mass[static_cast<std::size_t>(c)];
    KMeansOptions options;
    options.clusters = clusters;
    SideInformation side;
    side.initial_centroids = means;
    Run own(run.seed + 1000003 * (update + 1), run.threads);
    const KMeansModel from_last = fit_kmeans(embedding, options, own, side);
    Clusters out{from_last.labels(), from_last.inertia()};
    if (restarts > 0) {
        options.restarts = restarts;
        const KMeansModel fresh = fit_kmeans(embedding, options, own);
        if (fresh.inertia() < out.inertia * (1 - 1e-9)) return {fresh.labels(), fresh.inertia()};
    }
    ++warm;
    return out;
}

// The share of points whose cluster changed, clusters matched.
double changed_share(const Labels& labels, const Labels& before) { return 1 - accuracy(labels, before); }

// What an update leaves; the last sound one is what comes back.
struct Kept {
    std::vector<std::vector<float>> parameters;
    internal::GreedyTargets targets;
    Labels labels;
    int update = -1;
};

}  // namespace

DekmModel fit_dekm(PointsView points, const DekmOptions& options, Run& run, const SideInformation& side) {
    check_options(options);
    DekmOptions used = options;
    internal::DeepFit fit("dekm", points, used, DekmOptions::described().values(&options), run, side);
    internal::Network& network = fit.network();
    const bool dense = network.architecture().encoder.front().plan.kind == COTERIE_DENSE;
    if (used.update_interval == 0) used.update_interval = dense ? 10 : 40;
    FitReport& report = fit.report();
    fit.pretrain();

    Labels labels;
    std::vector<double> inertias, changed, balances, losses;
    std::int64_t warm = 0;
    std::int64_t batches_done = 0;
    Index next_row = 0;
    network.set_optimizers({{.part = internal::Optimizer::Part::encoder, .learning_rate = used.learning_rate}});
    if (const auto& found = fit.resumed()) {
        network.set_memory(found->labels("memory"));
        const auto read = [&](const char* name) {
            return found->has(name) ? found->vector(name) : std::vector<double>();
        };
        inertias = read("inertias"), changed = read("changed"), balances = read("balances"), losses = read("losses");
        const auto counters = found->vector("counters", 3);
        batches_done = std::llround(counters[0]), next_row = std::llround(counters[1]),
        warm = std::llround(counters[2]);
        labels = found->labels("labels", fit.count());
    }
    const auto snapshot = [&] {
        Archive out = fit.snapshot("clustering");
        for (const auto& [name, values] :
             {std::pair{"inertias", &inertias}, {"changed", &changed}, {"balances", &balances}, {"losses", &losses}})
            if (!values->empty()) out.set_vector(name, *values);
        out.set_vector("counters", std::vector<double>{static_cast<double>(batches_done), static_cast<double>(next_row),
                                                       static_cast<double>(warm)});
        out.set_labels("labels", labels);
        return out;
    };

    Kept kept;
    Run uninterrupted(run.seed, run.threads);  // so that an update is done or not begun
    report.stopped = StopReason::iteration_limit;
    while (true) {
        const Matrix<double> embedding = network.encode_all(uninterrupted).cast<double>();
        if (!embedding.allFinite())
            throw BadArgument("training diverged: lower --learning-rate, or scale the points (--scale minmax)");
        Clusters found;
        if (labels.empty()) {
            KMeansOptions first;
            first.clusters = used.clusters;
            first.restarts = used.restarts;
            const KMeansModel model = fit_kmeans(embedding, first, uninterrupted);
            found = {model.labels(), model.inertia()};
        } else {
            found = cluster_again(embedding, labels, used.clusters, used.update_restarts, run, changed.size(), warm);
            changed.push_back(changed_share(found.labels, labels));
        }
        labels = std::move(found.labels);
        inertias.push_back(found.inertia);
        balances.push_back(internal::balance(labels, used.clusters));
        internal::GreedyTargets targets =
            internal::greedy_targets(embedding, labels, used.clusters, used.move, uninterrupted);
        if (kept.update < 0 || balances.back() >= 0.5 * balances.front())
            kept = {network.parameters(), targets, labels, static_cast<int>(inertias.size()) - 1};
        run.report(
            {.stage = "clustering",
             .fraction = used.max_iterations == 0 ? 1.0 : static_cast<double>(batches_done) / used.max_iterations,
             .objective = found.inertia,
             .iteration = static_cast<int>(batches_done)});
        if (!changed.empty() && changed.back() < used.tolerance) {
            report.stopped = StopReason::converged;
            break;
        }
        if (batches_done >= used.max_iterations) break;
        double loss = 0;
        double seen = 0;
        const int steps = used.update == DekmUpdate::full ? 1 : used.update_interval;
        for (int step = 0; step < steps && batches_done < used.max_iterations; ++step) {
            Index left = used.update == DekmUpdate::full ? fit.count() : used.batch_size;
            while (left > 0) {
                if (next_row >= fit.count()) next_row = 0;
                std::vector<std::int64_t> rows(
                    static_cast<std::size_t>(std::min<Index>({Index{used.batch_size}, left, fit.count() - next_row})));
                std::iota(rows.begin(), rows.end(), next_row);
                const auto size = static_cast<Index>(rows.size());
                internal::GreedyLoss part = internal::greedy_loss(network.begin(rows), targets, rows);
                // All points in one step: the gradient of their mean, batch by batch.
                if (used.update == DekmUpdate::full)
                    part.gradient *= static_cast<float>(static_cast<double>(size) / static_cast<double>(fit.count()));
                network.backward(part.gradient);
                loss += part.value * static_cast<double>(size);
                seen += static_cast<double>(size);
                next_row += size;
                left = used.update == DekmUpdate::full ? left - size : 0;
            }
            network.step();
            ++batches_done;
        }
        losses.push_back(loss / seen);
        const bool stop = run.stop_requested();
        if (fit.checkpoint().wanted() && (stop || fit.checkpoint().due())) fit.checkpoint().write(snapshot());
        if (stop) {
            report.stopped = StopReason::interrupted;
            break;
        }
    }
    network.set_parameters(kept.parameters);
    report.seconds.emplace_back("clustering", fit.watch().restart());
    if (kept.update + 1 < static_cast<int>(inertias.size())) {
        report.warnings.push_back(
            "the clusters collapsed: their balance fell from " + to_text(OptionValue(balances.front())) + " to " +
            to_text(OptionValue(balances.back())) + "; the model is that of update " + std::to_string(kept.update));
    }
    report.objective_per_iteration = inertias;
    report.objective = inertias[static_cast<std::size_t>(kept.update)];
    report.iterations = static_cast<int>(batches_done);
    fit.finish(kept.labels, used.clusters);
    report.details.emplace_back("changed_per_update", changed);
    report.details.emplace_back("balance_per_update", balances);
    report.details.emplace_back("loss_per_update", losses);
    report.details.emplace_back("warm_starts", warm);
    DeepState state = fit.state(kept.targets.rotation, kept.targets.means * kept.targets.rotation.transpose());
    return {used, std::move(state), std::move(kept.labels), std::move(report)};
}

}  // namespace coterie
