// Epochs of batches with a method's loss. Orders, views and labelled points follow from the numbers of epoch and batch.
// So a checkpoint between any two batches needs only the network, the state of its optimizers and a few counters, and a
// fit continues from it with the same bits. The parameters of the best epoch are stored separately. If training
// diverges, this is an error in the first epoch, and a warning after it. Adversarial views need one more pass per
// batch.

#include "coterie/deep/internal/classifier_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "coterie/base/idle_option.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deep/internal/pretrained.hpp"
#include "coterie/deep/internal/view_losses.hpp"
#include "coterie/io/sha256.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/neighbors.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie::deep::internal {
namespace {

constexpr Index distant_neighbor = 10;  // adversarial radii are a fraction of the distance to this neighbour

ClassifierNetwork network_of(const ClassifierOptions& options) {
    if (options.network != ClassifierNetwork::automatic) return options.network;
    return options.image.empty() ? ClassifierNetwork::dense : ClassifierNetwork::vgg4;
}

// Fingerprint of the points and of the constraints on them.
std::string fingerprint_of_all(PointsView points, const Constraints& constraints, const std::vector<double>& prior,
                               const std::string& pretrained, const Run& run) {
    const ClusterLabels clusters = constraints.cluster_labels();
    Sha256 sum;
    sum.update(constraints.labels.data(), sizeof(constraints.labels[0]) * constraints.labels.size());
    for (const std::string& name : clusters.names) sum.update(name.c_str(), name.size() + 1);
    sum.update(clusters.label_of.data(), sizeof(clusters.label_of[0]) * clusters.label_of.size());
    sum.update(prior.data(), sizeof(double) * prior.size());
    return fingerprint_with(points, pretrained, run) + " " + sum.hex();
}

class ClassifierTraining {
public:
    ClassifierTraining(std::string_view method, PointsView points, const ClassifierOptions& options,
                       const OptionValues& values, const std::vector<double>& prior, const Views& views,
                       const MakeLoss& make_loss, const Constraints& constraints, const Run& run)
        : options_(options),
          constraints_(constraints),
          prior_(prior),
          views_(views),
          run_(run),
          points_(checked(points, *options.clusters, run)),
          network_(classifier_of(options, points.columns()), run.device, run.threads, options.half),
          augmenter_(augmentation_of(options), network_.architecture().input, points, run),
          loss_(make_loss({constraints, prior, run.threads})),
          checkpoint_(run, std::string(method), without_files(values),
                      run.checkpoint.empty() ? std::string()
                                             : fingerprint_of_all(points, constraints, prior, options.pretrained, run)),
          collapsing_(values.contains("augmentation_weight") ? "augmentation_weight" : "learning_rate") {
        network_.set_unit(unit_for(options.pretrained, points, run));
        network_.set_points(points, run);
        for (Index i = 0; i < n(); ++i)
            if (constraints.label(i) >= 0) known_.push_back(i);
        RandomStream random = run.random("classifier.labelled");
        shuffle(known_, random);
        if (!known_.empty() && options.label_weight > 0)
            labelled_.resize(std::min(known_.size(), at(options.batch_size)));
        expected_balance_ = std::min(balance_of(prior), balance_of(known_shares()));
        batches_ = (n() + options.batch_size - 1) / Index{options.batch_size};
    }

    Classified operator()() {
        start();
        report_.seconds.emplace_back("start", watch_.restart());
        train();
        report_.seconds.emplace_back("training", trained_before_ + watch_.restart());
        Classified out = finish();
        out.report.seconds.emplace_back("labels", watch_.restart());
        return out;
    }

private:
    Index n() const { return points_.rows(); }

    // The shares of the clusters among the labelled points. The share of a label is divided equally among its clusters.
    // Returns the prior if a cluster has no labelled point.
    std::vector<double> known_shares() const {
        std::vector<double> out(prior_.size(), 0);
        for (const Index i : known_) {
            const auto [begin, end] = constraints_.clusters_of(constraints_.label(i));
            for (int k = begin; k < end; ++k)
                out[at(k)] += 1 / static_cast<double>(end - begin) / static_cast<double>(known_.size());
        }
        const bool all = std::all_of(out.begin(), out.end(), [](double share) { return share > 0; });
        return all ? out : prior_;
    }

    // This cannot be interrupted, so it is complete or not begun.
    Matrix<double> all_logits() {
        Matrix<double> out = network_.encode_all(run_.unstopped()).cast<double>();
        if (!out.allFinite()) diverged();
        return out;
    }

    struct Diverged {};
    [[noreturn]] static void diverged() { throw Diverged(); }

    void start() {
        if (views_.second_adversarial) measure_radii();
        NetworkOptimizer head{.learning_rate = options_.learning_rate, .weight_decay = options_.weight_decay};
        if (options_.backbone_rate) {
            NetworkOptimizer trunk = head;
            trunk.part = NetworkOptimizer::Part::trunk;
            trunk.learning_rate = *options_.backbone_rate;
            head.part = NetworkOptimizer::Part::head;
            network_.set_optimizers({trunk, head});
        } else {
            network_.set_optimizers({head});
        }
        const auto found = checkpoint_.found();
        if (!found) {
            network_.initialize(run_, "classifier.start");
            if (!options_.pretrained.empty()) {
                Parameters parameters = network_.parameters();
                together(run_.communicator(), [&] {
                    read_trunk(options_.pretrained, network_.architecture(),
                               network_of(options_) == ClassifierNetwork::resnet18, parameters);
                });
                network_.set_parameters(parameters);
            }
            return;
        }
        network_.load(*found, "network");
        network_.set_memory(found->labels("memory"));
        course_.load(*found);
        const auto counters = found->labels("counters", 3);
        epoch_ = counters[0];
        batch_ = counters[1];
        kept_epoch_ = counters[2];
        sum_ = found->vector("sum", 1)[0];
        trained_before_ = found->vector("seconds", 1)[0];
        if (kept_epoch_ >= 0) {
            kept_ = load_parameters(*found, "kept", network_.architecture());
            labels_ = found->labels("labels", n());
        }
        loss_->load(*found);
    }

    void measure_radii() {
        radii_ = Vector<double>::Zero(n());
        if (n() < 2) return;
        const Index count = std::min(distant_neighbor, n() - 1);
        const Matrix<float> all = all_in_single_precision();
        Neighbors found;
        together(run_.communicator(), [&] { found = nearest_neighbors(all, count, run_.alone()); });
        for (Index i = 0; i < n(); ++i) radii_[i] = views_.radius * std::sqrt(found.squared[at((i + 1) * count - 1)]);
    }

    Matrix<float> all_in_single_precision() const {
        const Index d = points_.columns();
        require_memory((run_.communicator().size() > 1 ? 2.0 : 1.0) * sizeof(float) * static_cast<double>(n()) *
                           static_cast<double>(d),
                       "the nearest neighbours for adversarial views (`view=augmented` needs none)");
        const Range own = own_rows(points_, run_);
        std::vector<float> out(at(own.count() * d));
        points_.with_scalar([&]<class Scalar>() {
            for_each_row_block<Scalar>(points_, run_, {.name = "reading"}, [&](const RowBlock<Scalar>& block, int) {
                Eigen::Map<eigen::Matrix<float>>(out.data() + (block.first - own.begin) * d, block.rows.rows, d) =
                    block.rows.matrix().template cast<float>();
            });
        });
        const std::vector<float> all =
            run_.communicator().size() > 1 ? gather(run_.communicator(), out) : std::move(out);
        return Eigen::Map<const eigen::Matrix<float>>(all.data(), n(), d);
    }

    // Both views of the batch's points, followed by labelled points.
    struct Seen {
        std::vector<std::int64_t> rows;
        Changes changes;
    };
    Seen see(const std::vector<Index>& rows, const std::vector<Index>& labelled, RandomStream& random) const {
        Seen out;
        out.rows.assign(rows.begin(), rows.end());
        out.rows.insert(out.rows.end(), rows.begin(), rows.end());
        out.rows.insert(out.rows.end(), labelled.begin(), labelled.end());
        std::vector<Index> changed;
        const auto size = static_cast<Index>(rows.size());
        if (!views_.second_adversarial)
            for (Index r = views_.first_augmented ? 0 : size; r < static_cast<Index>(out.rows.size()); ++r)
                changed.push_back(r);
        if (!changed.empty()) out.changes = augmenter_.draw(static_cast<Index>(out.rows.size()), changed, random);
        return out;
    }

    // Makes one step and returns the loss of the batch.
    double step(const std::vector<Index>& rows) {
        const auto number = static_cast<std::uint64_t>(epoch_) * static_cast<std::uint64_t>(batches_) +
                            static_cast<std::uint64_t>(batch_);
        for (std::size_t l = 0; l < labelled_.size(); ++l)
            labelled_[l] = known_[(number * labelled_.size() + l) % known_.size()];
        RandomStream random = run_.random("classifier.views", number);
        Seen seen = see(rows, labelled_, random);
        if (views_.second_adversarial) {
            const auto size = static_cast<Index>(rows.size());
            seen.changes.noise = Matrix<float>::Zero(static_cast<Index>(seen.rows.size()), points_.columns());
            seen.changes.noise.middleRows(size, size) =
                adversarial_moves(network_, {rows.begin(), rows.end()}, radii_, random, run_.threads);
        }
        const Matrix<double> logits = network_.begin(seen.rows, seen.changes).cast<double>();
        if (!logits.allFinite()) diverged();
        const auto views = static_cast<Index>(2 * rows.size());
        BatchLoss found = loss_->loss(logits.topRows(views), rows);
        if (!labelled_.empty()) {
            const Matrix<double> x = logits.bottomRows(logits.rows() - views);
            Matrix<double> gradient = Matrix<double>::Zero(x.rows(), x.cols());
            std::vector<std::pair<int, int>> clusters;
            for (const Index i : labelled_) clusters.push_back(constraints_.clusters_of(constraints_.label(i)));
            found.value += add_label_loss(softmax(x, run_.threads), clusters, options_.label_weight, gradient);
            Matrix<float> whole(logits.rows(), logits.cols());
            whole << found.gradient, gradient.cast<float>();
            found.gradient = std::move(whole);
        }
        if (!std::isfinite(found.value) || !found.gradient.allFinite()) diverged();
        network_.backward(found.gradient);
        network_.step();
        return found.value;
    }

    // Trains. If training diverges after an epoch was kept, that epoch is the result.
    void train() {
        try {
            train_epochs();
        } catch (const Diverged&) {
            Message message{.code = Code::diverged,
                            .problem = filled("training diverged in epoch {}", epoch_ + 1),
                            .remedy = "Use a smaller `learning_rate`, or `scale=minmax`"};
            if (kept_epoch_ < 0) {
                message.option = "learning_rate";
                message.value = to_text(options_.learning_rate);
                throw BadArgument(std::move(message));
            }
            message.problem += filled("; the model is from epoch {}", kept_epoch_ + 1);
            report_.warnings.push_back(std::move(message));
            report_.stopped = StopReason::collapsed;
        }
    }

    void train_epochs() {
        report_.stopped = StopReason::completed;
        std::vector<Index> order(at(n()));
        Matrix<double> all;  // logits at the start of the epoch
        for (; epoch_ < options_.epochs; ++epoch_, batch_ = 0, sum_ = 0) {
            if (batch_ == 0 && loss_->looks_at_all()) loss_->begin_epoch(all.size() > 0 ? all : all_logits());
            std::iota(order.begin(), order.end(), Index{0});
            RandomStream random = run_.random("classifier.order", static_cast<std::uint64_t>(epoch_));
            shuffle(order, random);
            for (; batch_ < batches_; ++batch_) {
                if (stopped()) return;
                const Index begin = batch_ * n() / batches_, end = (batch_ + 1) * n() / batches_;
                const double value = step({order.begin() + begin, order.begin() + end});
                sum_ += value * static_cast<double>(end - begin);
                const double done = static_cast<double>(batch_ + 1) / static_cast<double>(batches_);
                run_.report({.stage = "epochs",
                             .fraction = (epoch_ + done) / options_.epochs,
                             .objective = value,
                             .iteration = epoch_});
            }
            all = all_logits();
            judge(all);
        }
    }

    // Evaluates an epoch and keeps it if it is the best.
    void judge(const Matrix<double>& logits) {
        Labels labels = likeliest_clusters(constraints_, logits);
        if (!labels_.empty()) course_.changed.push_back(1 - accuracy(labels, labels_));  // clusters matched
        labels_ = std::move(labels);
        course_.objectives.push_back(sum_ / static_cast<double>(n()));
        course_.balances.push_back(balance(labels_, *options_.clusters));
        const Softmax<double> sigma = softmax(logits, run_.threads);
        course_.criteria.push_back(decisiveness(sigma, 1.0, run_.threads) + fairness(sigma, prior_, Fairness::reverse) +
                                   label_loss(sigma));
        const auto rank = [&](std::size_t epoch) {
            return std::pair(sound(course_.balances[epoch]) ? 0 : 1, course_.criteria[epoch]);
        };
        const std::size_t last = course_.objectives.size() - 1;
        if (kept_epoch_ >= 0 && rank(static_cast<std::size_t>(kept_epoch_)) < rank(last)) return;
        kept_epoch_ = static_cast<int>(last);
        kept_ = network_.parameters();
    }
    bool sound(double balance) const { return balance >= 0.5 * expected_balance_; }

    // Loss of all labelled points.
    double label_loss(const Softmax<double>& sigma) const {
        if (labelled_.empty()) return 0;
        const auto count = static_cast<Index>(known_.size());
        Softmax<double> own{Matrix<double>(count, sigma.probability.cols()),
                            Matrix<double>(count, sigma.probability.cols())};
        std::vector<std::pair<int, int>> clusters;
        for (Index l = 0; l < count; ++l) {
            own.probability.row(l) = sigma.probability.row(known_[at(l)]);
            own.logarithm.row(l) = sigma.logarithm.row(known_[at(l)]);
            clusters.push_back(constraints_.clusters_of(constraints_.label(known_[at(l)])));
        }
        Matrix<double> unused = Matrix<double>::Zero(count, sigma.probability.cols());
        return add_label_loss(own, clusters, options_.label_weight, unused);
    }

    // Called before every batch.
    bool stopped() {
        const bool stop = run_.stop_requested();
        if (checkpoint_.wanted() && (stop || checkpoint_.due())) {
            Archive archive = checkpoint_.begin();
            network_.store(archive, "network");
            archive.set_labels("memory", network_.memory());
            course_.store(archive);
            archive.set_labels("counters",
                               std::vector<std::int32_t>{epoch_, static_cast<std::int32_t>(batch_), kept_epoch_});
            archive.set_vector("sum", std::vector<double>{sum_});
            archive.set_vector("seconds", std::vector<double>{trained_before_ + watch_.seconds()});
            if (kept_epoch_ >= 0) {
                store_parameters(archive, "kept", kept_);
                archive.set_labels("labels", labels_);
            }
            loss_->store(archive);
            checkpoint_.write(archive);
        }
        if (!stop) return false;
        if (kept_epoch_ < 0)
            throw Cancelled(Code::cancelled, "interrupted during training" + checkpoint_.what_is_left());
        report_.stopped = StopReason::interrupted;
        return true;
    }

    Classified finish() {
        checkpoint_.warn(report_);
        network_.set_parameters(kept_);
        const Softmax<double> sigma = softmax(all_logits(), run_.threads);
        Classified out;
        out.labels = likeliest_clusters(constraints_, sigma.logarithm);
        const auto kept = static_cast<std::size_t>(kept_epoch_);
        if (!sound(course_.balances.back())) {
            if (report_.stopped == StopReason::completed) report_.stopped = StopReason::collapsed;
            report_.warnings.push_back(
                {.code = Code::diverged,
                 .problem = filled("the clusters collapsed: after the last epoch, most rows are in few clusters "
                                   "(balance {}); the model is from epoch {} ({})",
                                   to_text(course_.balances.back()), kept_epoch_ + 1, to_text(course_.balances[kept])),
                 .remedy = "Use a smaller `" + collapsing_ + "`"});
        }
        report_.objective_per_iteration = course_.objectives;
        report_.objective = course_.objectives[kept];
        report_.iterations = static_cast<int>(course_.objectives.size());
        report_.empty_cluster_policy = "an empty cluster stays empty";
        out.labels = own_part(out.labels, points_, run_);
        finish_report(report_, points_, out.labels, *options_.clusters, *options_.clusters, run_);
        describe_predictions(decisiveness(sigma, 1.0, run_.threads), sigma.probability.colwise().mean().transpose(),
                             prior_, report_);
        loss_->describe(report_);
        report_.details.emplace_back("kept_epoch", std::int64_t{kept_epoch_ + 1});
        report_.details.emplace_back("criterion", course_.criteria[kept]);
        report_.details.emplace_back("criterion_per_epoch", course_.criteria);
        report_.details.emplace_back("balance_per_epoch", course_.balances);
        report_.details.emplace_back("changed_per_epoch", course_.changed);
        const std::array<const char*, 4> names = {"auto", "dense", "vgg4", "resnet18"};
        describe_network(network_, names[static_cast<std::size_t>(network_of(options_))], run_, report_);
        out.state = {points_.columns(), network_.unit(), std::move(kept_)};
        out.report = std::move(report_);
        return out;
    }

    const ClassifierOptions& options_;
    const Constraints& constraints_;
    const std::vector<double>& prior_;
    const Views& views_;
    const Run& run_;

    PointsView points_;
    Network network_;
    Augmenter augmenter_;
    std::unique_ptr<ViewLoss> loss_;
    Checkpoint checkpoint_;
    std::string collapsing_;  // the option that makes clusters collapse if it is too large
    FitReport report_;
    Stopwatch watch_;
    double trained_before_ = 0;            // seconds of training before the checkpoint
    std::vector<Index> known_, labelled_;  // rows with a partial label; the labelled rows of the batch
    Vector<double> radii_;                 // n: radii of adversarial views
    double expected_balance_ = 0;
    Index batches_ = 1;

    int epoch_ = 0;
    Index batch_ = 0;
    double sum_ = 0;  // sum of the epoch's losses over its points
    Course course_;
    Labels labels_;  // of the last epoch
    Parameters kept_;
    int kept_epoch_ = -1;
};

}  // namespace

Architecture classifier_of(const ClassifierOptions& options, Index dimensions) {
    const ClassifierNetwork network = network_of(options);
    const ClassifierOptions defaults;
    refuse_idle(options.kernel != defaults.kernel, network == ClassifierNetwork::vgg4, "kernel", "`network=vgg4`");
    if (network == ClassifierNetwork::dense) {
        Architecture out = dense_classifier(dimensions, options.widths, *options.clusters);
        if (!options.image.empty()) out.input = image_shape(options.image, dimensions);
        return out;
    }
    if (options.image.empty())
        throw BadArgument(Code::missing_argument,
                          filled("{} needs `image`", network == ClassifierNetwork::vgg4 ? "vgg4" : "resnet18"),
                          "Set `image` to rows and columns, such as 28x28", {.option = "network"});
    const ImageShape image = image_shape(options.image, dimensions);
    refuse_idle(options.widths != defaults.widths, false, "widths", "`network=dense`");
    return network == ClassifierNetwork::vgg4 ? vgg4(image, options.kernel, *options.clusters)
                                              : resnet18(image, *options.clusters);
}

Augmentation augmentation_of(const ClassifierOptions& options) {
    const std::string automatic = options.image.empty() ? "noise" : "rotation,shift,zoom,colour";
    const std::string& text = options.augment == "auto" ? automatic : options.augment;
    struct Change {
        const char* name;
        double ClassifierOptions::*option;
        double Augmentation::*strength;
    };
    static constexpr std::array<Change, 5> changes = {
        {{"rotation", &ClassifierOptions::rotation, &Augmentation::rotation},
         {"shift", &ClassifierOptions::shift, &Augmentation::shift},
         {"zoom", &ClassifierOptions::zoom, &Augmentation::zoom},
         {"colour", &ClassifierOptions::colour, &Augmentation::colour},
         {"noise", &ClassifierOptions::noise, &Augmentation::noise}}};
    Augmentation out;
    for (std::size_t begin = 0; text != "none" && begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const auto found =
            std::find_if(changes.begin(), changes.end(), [&](const Change& change) { return change.name == word; });
        if (found != changes.end())
            out.*found->strength = options.*found->option;
        else if (word == "flip")
            out.flip = true;
        else
            throw refused_option(
                "augment", options.augment,
                "none, auto, or some of flip, rotation, shift, zoom, colour and noise, with commas between them");
        if (word != "noise" && options.image.empty())
            throw BadArgument(Code::missing_argument, word + " needs `image`",
                              "Set `image` to rows and columns, such as 28x28",
                              {.option = "augment", .value = options.augment});
        begin = end + 1;
    }
    const ClassifierOptions defaults;
    for (const Change& each : changes) {
        const double given = options.*each.option;
        refuse_idle(given != defaults.*each.option && given > 0, out.*each.strength > 0, each.name,
                    filled("{} in `augment`", each.name));
    }
    return out;
}

Matrix<float> adversarial_moves(Network& network, const std::vector<std::int64_t>& rows, const Vector<double>& radii,
                                RandomStream& random, int threads) {
    const auto size = static_cast<Index>(rows.size());
    const Index d = network.architecture().input.items();
    std::vector<std::int64_t> both = rows;
    both.insert(both.end(), rows.begin(), rows.end());
    const auto place = [&](Eigen::Ref<eigen::Matrix<float>> moves, Index r, const Vector<double>& direction) {
        const double length = direction.norm();
        if (length > 0) moves.row(r) = (radii[rows[at(r)]] / length * direction).cast<float>().transpose();
    };
    Changes probe;
    probe.noise = Matrix<float>::Zero(2 * size, d);
    for (Index r = 0; r < size; ++r) {
        Vector<double> direction(d);
        for (Index p = 0; p < d; ++p) direction[p] = random.normal();
        place(probe.noise.bottomRows(size), r, direction);
    }
    const Matrix<double> logits = network.begin(both, probe, Network::Pass::probing).cast<double>();
    const Softmax<double> sigma = softmax(Matrix<double>(logits.topRows(size)), threads);
    const Softmax<double> tau = softmax(Matrix<double>(logits.bottomRows(size)), threads);
    Matrix<float> gradient = Matrix<float>::Zero(2 * size, logits.cols());
    gradient.bottomRows(size) = (tau.probability - sigma.probability).cast<float>();
    const Matrix<float> slope = network.input_gradient(gradient);
    Matrix<float> out = Matrix<float>::Zero(size, d);
    for (Index r = 0; r < size; ++r) place(out, r, slope.row(size + r).cast<double>().transpose());
    return out;
}

Classified train_classifier(std::string_view method, PointsView points, const ClassifierOptions& options,
                            const OptionValues& values, const std::vector<double>& prior, const Views& views,
                            const MakeLoss& make_loss, const Constraints& constraints, const Run& run) {
    return ClassifierTraining(method, points, options, values, prior, views, make_loss, constraints, run)();
}

}  // namespace coterie::deep::internal
