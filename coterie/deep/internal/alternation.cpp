// Alternates updates and batches. An update is either complete or not begun, and a checkpoint is the state before one.
// So a continued fit repeats the same batches and ends with the same bits. The last sound update is kept apart from the
// current network: if clusters collapse or numbers overflow, only the work after that update is lost. With `full`,
// batches add the gradient of the mean over all points before one step.

#include "coterie/deep/internal/alternation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie::internal {
namespace {

// One number for each update so far.
struct Course {
    std::vector<double> objectives, changed, balances, losses;

    std::vector<std::pair<const char*, std::vector<double>*>> named() {
        return {{"objectives", &objectives}, {"changed", &changed}, {"balances", &balances}, {"losses", &losses}};
    }
};

// The result of an update; the last sound one is returned.
struct Kept {
    std::vector<std::vector<float>> parameters;
    Matrix<double> rotation, centroids;
    Labels labels;
    std::size_t update = 0;

    bool any() const { return !parameters.empty(); }
    void store(Archive& archive) const {
        store_parameters(archive, "kept", parameters);
        archive.set_points("kept_rotation", rotation);
        archive.set_points("kept_centroids", centroids);
        archive.set_labels("kept_labels", labels);
        archive.set_labels("kept_update", std::vector<std::int32_t>{static_cast<std::int32_t>(update)});
    }
    void load(const Archive& archive, const Network& network, Index points) {
        parameters = load_parameters(archive, "kept", network.architecture());
        rotation = to_matrix<double>(archive.points("kept_rotation").view());
        centroids = to_matrix<double>(archive.points("kept_centroids").view());
        labels = archive.labels("kept_labels", points);
        update = static_cast<std::size_t>(archive.labels("kept_update", 1)[0]);
    }
};

}  // namespace

Clusters first_clusters(const Matrix<double>& embedding, int clusters, int restarts, const Run& run) {
    KMeansOptions options;
    options.clusters = clusters;
    options.restarts = restarts;
    return clusters_of(fit_kmeans(embedding, options, run), run);
}

Clusters clusters_of(const KMeansModel& model, const Run& run) {
    return {gather(run.communicator(), model.labels()), to_matrix<double>(model.centroids()), model.inertia()};
}

Alternated alternate(DeepFit& fit, const AlternatingOptions& options, Alternation& alternation,
                     const std::vector<Optimizer>& optimizers, bool full) {
    FitReport& report = fit.report();
    Network& network = fit.network();
    const Run& run = fit.run();
    fit.pretrain();

    Labels labels;
    Course course;
    Kept kept;
    int batches_done = 0;
    Index next_row = 0;
    network.set_optimizers(optimizers);
    if (const auto& found = fit.resumed()) {
        network.set_memory(found->labels("memory"));
        for (auto& [name, values] : course.named())
            if (found->has(name)) *values = found->vector(name);
        const auto counters = found->labels("counters", 2);
        batches_done = counters[0];
        next_row = counters[1];
        labels = found->labels("labels", fit.count());
        alternation.load(*found);
        kept.load(*found, network, fit.count());
    }

    std::vector<std::int64_t> order(static_cast<std::size_t>(fit.count()));
    std::iota(order.begin(), order.end(), 0);
    RandomStream random = run.random("deep.clustering-order");
    shuffle(order, random);
    Run first = run.within();  // the first update runs k-means with many starts
    first.on_progress = nullptr;
    const Run uninterrupted = first.unstopped();  // so that every other update is complete or not begun
    const auto state = [&] {
        Archive archive = fit.snapshot("clustering");
        for (const auto& [name, values] : course.named())
            if (!values->empty()) archive.set_vector(name, *values);
        archive.set_labels("counters", std::vector<std::int32_t>{batches_done, static_cast<std::int32_t>(next_row)});
        archive.set_labels("labels", labels);
        alternation.store(archive);
        kept.store(archive);
        return archive;
    };
    std::optional<Archive> before;  // the state before the last update; none before the first
    const auto tell = [&] {
        run.report({.stage = "clustering",
                    .fraction = static_cast<double>(batches_done) / std::max(1, options.max_iterations),
                    .objective = course.objectives.back(),
                    .iteration = batches_done});
    };
    report.stopped = StopReason::iteration_limit;
    while (true) {
        const Matrix<double> embedding = network.encode_all(uninterrupted).cast<double>();
        if (!embedding.allFinite()) {
            Message message{.code = Code::diverged,
                            .problem = "training diverged",
                            .remedy = "Use a smaller `learning_rate`, or `scale=minmax`"};
            if (!kept.any()) {
                message.option = "learning_rate";
                throw BadArgument(std::move(message));
            }
            message.problem += " in batch " + std::to_string(batches_done) +
                               " at the latest; the model is from update " + std::to_string(kept.update);
            report.warnings.push_back(std::move(message));
            report.stopped = StopReason::collapsed;
            if (!course.losses.empty() && !std::isfinite(course.losses.back())) course.losses.pop_back();
            break;
        }
        const bool is_first = labels.empty();
        Labels found = alternation.update(embedding, labels, course.changed.size(), is_first ? first : uninterrupted);
        bool stop = is_first && run.stop_requested();
        if (!is_first) course.changed.push_back(1 - accuracy(found, labels));  // clusters matched
        labels = std::move(found);
        course.objectives.push_back(alternation.objective());
        course.balances.push_back(balance(labels, options.clusters));
        const bool sound = course.balances.back() >= 0.5 * course.balances.front();
        if (!kept.any() || sound)
            kept = {network.parameters(), alternation.rotation(), alternation.centroids(), labels,
                    course.objectives.size() - 1};
        tell();
        if (!course.changed.empty() && course.changed.back() < options.tolerance) {
            report.stopped = sound ? StopReason::converged : StopReason::collapsed;
            break;
        }
        if (batches_done >= options.max_iterations) break;
        double loss = 0;
        double seen = 0;
        const int steps = std::min(full ? 1 : *options.update_interval, options.max_iterations - batches_done);
        for (int step = 0; step < steps; ++step) {
            stop = stop || (step > 0 && run.stop_requested());
            if (stop) break;
            if (before && fit.checkpoint().due()) fit.checkpoint().write(*before);
            Index left = full ? fit.count() : 1;
            while (left > 0) {
                if (next_row >= fit.count()) next_row = 0;
                const auto size = std::min<Index>(options.batch_size, fit.count() - next_row);
                const std::vector<std::int64_t> rows(order.begin() + next_row, order.begin() + next_row + size);
                BatchLoss part = alternation.loss(network.begin(rows), rows);
                // All points in one step: the gradient of their mean, batch by batch.
                const double share = full ? static_cast<double>(size) / static_cast<double>(fit.count()) : 1.0;
                if (full) part.gradient *= static_cast<float>(share);
                const double weight = alternation.reconstruction_weight();
                if (weight > 0) part.value += weight * network.reconstruct(weight * share);
                network.backward(part.gradient);
                loss += part.value * static_cast<double>(size);
                seen += static_cast<double>(size);
                next_row += size;
                left -= size;
            }
            network.step();
            alternation.step();
            ++batches_done;
        }
        if (!stop) {
            course.losses.push_back(loss / seen);
            if (fit.checkpoint().wanted()) before = state();
            tell();
            stop = run.stop_requested();
        }
        if (stop) {
            if (before) fit.checkpoint().write(*before);
            report.stopped = StopReason::interrupted;
            break;
        }
    }
    fit.end_stage("clustering");
    network.set_parameters(kept.parameters);
    if (kept.update + 1 < course.objectives.size())
        report.warnings.push_back({.code = Code::diverged,
                                   .problem = "the clusters collapsed: the balance of their sizes fell from " +
                                              to_text(course.balances.front()) + " to " +
                                              to_text(course.balances.back()) + "; the model is from update " +
                                              std::to_string(kept.update),
                                   .remedy = "Use a smaller `learning_rate`"});
    report.objective_per_iteration = course.objectives;
    report.objective = course.objectives[kept.update];
    report.iterations = batches_done;
    fit.finish(kept.labels, options.clusters);
    report.details.emplace_back("changed_per_update", course.changed);
    report.details.emplace_back("balance_per_update", course.balances);
    report.details.emplace_back("loss_per_update", course.losses);
    return {fit.state(std::move(kept.rotation), std::move(kept.centroids)), own_part(kept.labels, fit.points(), run)};
}

}  // namespace coterie::internal
