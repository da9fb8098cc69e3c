// Alternates between updates and batches. An update is either complete or not begun, and a checkpoint is the state
// before an update. So a continued fit repeats the same batches and ends with the same bits. The result of the last
// sound update is stored separately: if clusters collapse or numbers overflow, only the work after this update is lost.
// With `full`, the batches of a pass add up the gradient of the mean over all points, and then one step follows.

#include "coterie/deep/internal/alternation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie::deep::internal {
namespace {

// The result of the last sound update, which the fit returns.
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

// The run of the first update, which is k-means with many starts. Its progress is not shown.
Run without_progress(const Run& run) {
    Run out = run.within();
    out.on_progress = nullptr;
    return out;
}

// The state of the loop, and its steps.
class Loop {
public:
    Loop(DeepFit& fit, const AlternatingOptions& options, Alternation& alternation, bool full)
        : fit_(fit),
          network_(fit.network()),
          options_(options),
          alternation_(alternation),
          full_(full),
          order_(static_cast<std::size_t>(fit.count())),
          first_(without_progress(fit.run())),
          uninterrupted_(first_.unstopped()) {
        std::iota(order_.begin(), order_.end(), 0);
        RandomStream random = fit.run().random("deep.clustering-order");
        shuffle(order_, random);
    }

    void load(const Archive& archive) {
        network_.set_memory(archive.labels("memory"));
        course_.load(archive);
        const auto counters = archive.labels("counters", 2);
        batches_done_ = counters[0];
        next_row_ = counters[1];
        labels_ = archive.labels("labels", fit_.count());
        alternation_.load(archive);
        kept_.load(archive, network_, fit_.count());
    }

    // Alternates until there is a reason to stop, and returns it.
    StopReason alternate() {
        while (true) {
            const Matrix<double> embedding = network_.encode_all(uninterrupted_).cast<double>();
            if (!embedding.allFinite()) {
                report_divergence();
                return StopReason::collapsed;
            }
            bool stop = false;
            const bool sound = update(embedding, stop);
            if (!course_.changed.empty() && course_.changed.back() < options_.tolerance)
                return sound ? StopReason::converged : StopReason::collapsed;
            if (batches_done_ >= options_.max_iterations) return StopReason::iteration_limit;
            if (train(stop)) {
                if (before_) fit_.checkpoint().write(*before_);
                return StopReason::interrupted;
            }
        }
    }

    // Returns the kept update as the result of the fit, and adds the course of all updates to the report.
    Alternated finish() {
        FitReport& report = fit_.report();
        network_.set_parameters(kept_.parameters);
        if (kept_.update + 1 < course_.objectives.size())
            report.warnings.push_back(
                {.code = Code::diverged,
                 .problem = filled("the clusters collapsed: the balance of their sizes fell from {} to {}; the model "
                                   "is from update {}",
                                   to_text(course_.balances.front()), to_text(course_.balances.back()), kept_.update),
                 .remedy = "Use a smaller `learning_rate`"});
        report.objective_per_iteration = course_.objectives;
        report.objective = course_.objectives[kept_.update];
        report.iterations = batches_done_;
        fit_.finish(kept_.labels, options_.clusters);
        report.details.emplace_back("changed_per_update", course_.changed);
        report.details.emplace_back("balance_per_update", course_.balances);
        report.details.emplace_back("loss_per_update", course_.losses);
        return {fit_.state(std::move(kept_.rotation), std::move(kept_.centroids)),
                own_part(kept_.labels, fit_.points(), fit_.run())};
    }

private:
    Archive state() {
        Archive archive = fit_.snapshot("clustering");
        course_.store(archive);
        archive.set_labels("counters", std::vector<std::int32_t>{batches_done_, static_cast<std::int32_t>(next_row_)});
        archive.set_labels("labels", labels_);
        alternation_.store(archive);
        kept_.store(archive);
        return archive;
    }

    void tell() const {
        fit_.run().report({.stage = "clustering",
                           .fraction = static_cast<double>(batches_done_) / std::max(1, options_.max_iterations),
                           .objective = course_.objectives.back(),
                           .iteration = batches_done_});
    }

    // Warns that the embedding is not finite. Throws if there is no update to return.
    void report_divergence() {
        Message message{.code = Code::diverged,
                        .problem = "training diverged",
                        .remedy = "Use a smaller `learning_rate`, or `scale=minmax`"};
        if (!kept_.any()) {
            message.option = "learning_rate";
            throw BadArgument(std::move(message));
        }
        message.problem +=
            filled(" in batch {} at the latest; the model is from update {}", batches_done_, kept_.update);
        fit_.report().warnings.push_back(std::move(message));
        if (!course_.losses.empty() && !std::isfinite(course_.losses.back())) course_.losses.pop_back();
    }

    // Returns whether the clusters are sound: their balance is at least half of that of the first update. Sets `stop`
    // if the fit should stop during the first update. Other updates cannot be stopped, so each is complete or not
    // begun.
    bool update(const Matrix<double>& embedding, bool& stop) {
        const bool is_first = labels_.empty();
        Labels found =
            alternation_.update(embedding, labels_, course_.changed.size(), is_first ? first_ : uninterrupted_);
        stop = is_first && fit_.run().stop_requested();
        if (!is_first) course_.changed.push_back(1 - accuracy(found, labels_));  // clusters matched
        labels_ = std::move(found);
        course_.objectives.push_back(alternation_.objective());
        course_.balances.push_back(balance(labels_, options_.clusters));
        const bool sound = course_.balances.back() >= 0.5 * course_.balances.front();
        if (!kept_.any() || sound)
            kept_ = {network_.parameters(), alternation_.rotation(), alternation_.centroids(), labels_,
                     course_.objectives.size() - 1};
        tell();
        return sound;
    }

    // Moves the network towards the targets of the update, unless `stop`. Returns whether the fit was asked to stop.
    bool train(bool stop) {
        const Run& run = fit_.run();
        double loss = 0;
        double seen = 0;
        const int steps = std::min(full_ ? 1 : *options_.update_interval, options_.max_iterations - batches_done_);
        for (int step = 0; step < steps; ++step) {
            stop = stop || (step > 0 && run.stop_requested());
            if (stop) return true;
            if (before_ && fit_.checkpoint().due()) fit_.checkpoint().write(*before_);
            for (Index left = full_ ? fit_.count() : 1; left > 0;) {
                const Index size = add_batch(loss);
                seen += static_cast<double>(size);
                left -= size;
            }
            network_.step();
            alternation_.step();
            ++batches_done_;
        }
        course_.losses.push_back(loss / seen);
        if (fit_.checkpoint().wanted()) before_ = state();
        tell();
        return run.stop_requested();
    }

    // Adds the gradient of the next batch to that of the network, and its loss to `loss`. Returns its number of rows.
    Index add_batch(double& loss) {
        if (next_row_ >= fit_.count()) next_row_ = 0;
        const auto size = std::min<Index>(options_.batch_size, fit_.count() - next_row_);
        const std::vector<std::int64_t> rows(order_.begin() + next_row_, order_.begin() + next_row_ + size);
        BatchLoss part = alternation_.loss(network_.begin(rows), rows);
        // With `full`, batches add up the gradient of the mean over all points.
        const double share = full_ ? static_cast<double>(size) / static_cast<double>(fit_.count()) : 1.0;
        if (full_) part.gradient *= static_cast<float>(share);
        const double weight = alternation_.reconstruction_weight();
        if (weight > 0) part.value += weight * network_.reconstruct(weight * share);
        network_.backward(part.gradient);
        loss += part.value * static_cast<double>(size);
        next_row_ += size;
        return size;
    }

    DeepFit& fit_;
    Network& network_;
    const AlternatingOptions& options_;
    Alternation& alternation_;
    bool full_;
    Labels labels_;  // of the last update
    Course course_;
    Kept kept_;
    int batches_done_ = 0;
    Index next_row_ = 0;
    std::vector<std::int64_t> order_;
    Run first_;                      // of the first update
    Run uninterrupted_;              // of all other updates
    std::optional<Archive> before_;  // the state before the last update; empty before the first
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
                     const std::vector<NetworkOptimizer>& optimizers, bool full) {
    fit.pretrain();
    Loop loop(fit, options, alternation, full);
    fit.network().set_optimizers(optimizers);
    if (const auto& found = fit.resumed()) loop.load(*found);
    fit.report().stopped = loop.alternate();
    fit.end_stage("clustering");
    return loop.finish();
}

}  // namespace coterie::deep::internal
