// The common part of deep fits, except their loops. The checkpoint of pre-training is the state at the start of an
// epoch, and the order of an epoch depends only on its number. So a fit that continues from a checkpoint repeats at
// most one epoch, and ends with the same bits.

#include "coterie/deep/internal/deep_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "coterie/base/idle_option.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/deep/internal/pretrained.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/sha256.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/metrics/criteria.hpp"

namespace coterie::deep::internal {

namespace {
constexpr std::array<std::pair<const char*, std::vector<double> Course::*>, 5> series = {
    {{"objectives", &Course::objectives},
     {"criteria", &Course::criteria},
     {"balances", &Course::balances},
     {"changed", &Course::changed},
     {"losses", &Course::losses}}};
}  // namespace

void Course::store(Archive& archive) const {
    for (const auto& [name, values] : series)
        if (!(this->*values).empty()) archive.set_vector(name, this->*values);
}

void Course::load(const Archive& archive) {
    for (const auto& [name, values] : series)
        if (archive.has(name)) this->*values = archive.vector(name);
}

PointsView checked(PointsView points, int clusters, const Run& run) {
    check_clustering_input(points, clusters, {}, run);
    return points;
}

Labels own_part(const Labels& labels, PointsView points, const Run& run) {
    const Range own = own_rows(points, run);
    return {labels.begin() + own.begin, labels.begin() + own.end};
}

std::string fingerprint_with(PointsView points, const std::string& path, const Run& run) {
    std::string out = fingerprint_of(points, run);
    if (path.empty()) return out;
    const formats::Bytes file = formats::read_bytes(path);
    Sha256 beside;
    beside.update(file.data.data(), file.data.size());
    return out + " " + beside.hex();
}

OptionValues without_files(OptionValues options) {
    options.erase("pretrained");
    return options;
}

ImageShape image_shape(const std::vector<int>& sides, Index dimensions) {
    if (sides.size() != 2 && sides.size() != 3)
        throw refused_option("image", OptionValue(std::vector<std::int64_t>(sides.begin(), sides.end())),
                             "rows and columns (28x28), or channels, rows and columns (3x32x32)");
    const ImageShape image = {sides.size() == 3 ? sides[0] : 1, sides[sides.size() - 2], sides.back()};
    if (image.items() != dimensions) {
        std::string text;
        for (const int side : sides) text += (text.empty() ? "" : "x") + std::to_string(side);
        throw BadArgument(
            Code::wrong_shape,
            filled("{} makes {} numbers, but the rows have {}", text, image.items(), counted(dimensions, "column")),
            filled("Use sides whose product is {}", dimensions),
            {.option = "image", .value = text, .accepted = filled("{} numbers", dimensions)});
    }
    return image;
}

Matrix<double> encoded(PointsView points, double unit, const Architecture& architecture, const Parameters& parameters,
                       bool half, const Run& run) {
    // A model predicts on any machine, even if half precision is not available.
    Network network(architecture, run.device, run.threads, half && has_half(run.device));
    network.set_parameters(parameters);
    network.set_unit(unit);
    network.set_points(points, run);
    return network.encode_all(run).cast<double>();
}

void describe_network(const Network& network, const std::string& name, const Run& run, FitReport& report) {
    std::int64_t size = 0;
    for (const auto& values : network.parameters()) size += static_cast<std::int64_t>(values.size());
    report.details.emplace_back("parameters", size);
    report.details.emplace_back("network", name);
    report.details.emplace_back("device", run.device);
    report.details.emplace_back("backend", network_backend());
}

Architecture architecture_of(const AutoencoderOptions& options, Index dimensions) {
    const ImageShape image = options.image.empty() ? ImageShape{} : image_shape(options.image, dimensions);
    const bool convolutional = options.network == AutoencoderNetwork::convolutional ||
                               (options.network == AutoencoderNetwork::automatic && !options.image.empty());
    if (convolutional) {
        if (options.image.empty())
            throw BadArgument(Code::missing_argument, "a convolutional network needs `image`",
                              "Set `image` to rows and columns, such as 28x28",
                              {.option = "network", .value = "convolutional"});
        refuse_idle(options.widths != AutoencoderOptions().widths, false, "widths", "`network=dense`");
        return convolutional_autoencoder(image, options.embedding);
    }
    return dense_autoencoder(dimensions, options.widths, options.embedding);
}

void require_kind(const Archive& model, const std::string& path, std::initializer_list<std::string_view> methods) {
    if (std::find(methods.begin(), methods.end(), model.method()) != methods.end()) return;
    std::string accepted;
    for (const std::string_view method : methods) accepted += (accepted.empty() ? "" : ", ") + std::string(method);
    throw BadData(Code::model_mismatch,
                  "this is a " + (model.method() == "checkpoint" ? "checkpoint" : "model of " + model.method()),
                  "For `pretrained`, use a model of " + accepted,
                  {.option = "pretrained", .value = model.method(), .accepted = accepted, .file = path});
}

DeepFit::DeepFit(std::string_view method, PointsView points, const AutoencoderOptions& options,
                 const OptionValues& values, const Run& run)
    : points_(checked(points, options.clusters, run)),
      options_(options),
      run_(run),
      network_(architecture_of(options, points.columns()), run.device, run.threads, options.half),
      checkpoint_(run, std::string(method), without_files(values),
                  run.checkpoint.empty() ? std::string() : fingerprint_with(points_, options.pretrained, run)) {
    network_.set_unit(unit_for(options.pretrained, points, run));
    network_.set_points(points, run);
}

Matrix<double> DeepFit::embedding() { return network_.encode_all(run_).cast<double>(); }

Archive DeepFit::snapshot(const std::string& stage) const {
    Archive out = checkpoint_.begin();
    out.set_text("stage", stage);
    network_.store(out, "network");
    out.set_labels("memory", network_.memory());
    if (!reconstruction_.empty()) out.set_vector("reconstruction", reconstruction_);
    std::vector<double> seconds;  // of the stages that are complete, and of this stage so far
    for (const auto& [name, spent] : report_.seconds) seconds.push_back(spent);
    seconds.push_back(earlier_ + watch_.seconds());
    out.set_vector("seconds", seconds);
    return out;
}

void DeepFit::end_stage(const std::string& name) {
    report_.seconds.emplace_back(name, earlier_ + watch_.restart());
    earlier_ = 0;
}

void DeepFit::pretrain() {
    if (const auto found = checkpoint_.found()) {
        const bool pretraining = found->text("stage") == "pretraining";
        network_.load(*found, "network");
        if (found->has("reconstruction")) reconstruction_ = found->vector("reconstruction");
        const auto seconds = found->vector("seconds", pretraining ? 1 : 2);
        earlier_ = seconds.back();
        if (!pretraining) {
            report_.seconds.emplace_back("pretraining", seconds.front());
            resumed_ = found;
            return;
        }
        network_.set_optimizers({{.learning_rate = options_.pretrain_rate}});
        network_.set_memory(found->labels("memory"));
    } else if (!options_.pretrained.empty()) {
        together(run_.communicator(), [&] {
            const Archive model = Archive::load(options_.pretrained);
            require_kind(model, options_.pretrained, {"ae-kmeans", "dekm", "dec", "idec", "dcn"});
            try {
                network_.load(model, "network");
            } catch (BadData& error) {
                error.amend([&](Message& message) {
                    message.code = Code::model_mismatch;
                    message.problem = "the model's network has another shape (" + message.problem + ")";
                    message.remedy = "Use its `network`, `image`, `widths` and `embedding`";
                    message.option = "pretrained";
                    message.file = options_.pretrained;
                });
                throw;
            }
        });
        end_stage("pretraining");
        return;
    } else {
        network_.initialize(run_, "deep.start");
        network_.set_optimizers({{.learning_rate = options_.pretrain_rate}});
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(count()));
    const auto batch = static_cast<std::size_t>(options_.pretrain_batch_size);
    std::optional<Archive> begun;  // the state at the start of the epoch
    const auto stop_if_asked = [&] {
        if (!run_.stop_requested()) return;
        if (begun) checkpoint_.write(*begun);
        throw Cancelled(Code::cancelled, "interrupted during pretraining" + checkpoint_.what_is_left());
    };
    const auto refuse_diverged = [&](const std::string& when) {
        throw BadArgument(Code::diverged, "pretraining diverged" + when,
                          "Use a smaller `pretrain_rate`, or `scale=minmax`",
                          {.option = "pretrain_rate", .value = to_text(options_.pretrain_rate)});
    };
    for (auto epoch = static_cast<int>(reconstruction_.size()); epoch < options_.pretrain_epochs; ++epoch) {
        if (checkpoint_.wanted() && !begun) begun = snapshot("pretraining");
        if (checkpoint_.due()) checkpoint_.write(*begun);
        std::iota(order.begin(), order.end(), 0);
        RandomStream random = run_.random("deep.order", static_cast<std::uint64_t>(epoch));
        shuffle(order, random);
        double sum = 0;
        for (std::size_t from = 0; from < order.size(); from += batch) {
            const std::size_t to = std::min(order.size(), from + batch);
            network_.begin(
                {order.begin() + static_cast<std::ptrdiff_t>(from), order.begin() + static_cast<std::ptrdiff_t>(to)});
            const double error = network_.reconstruct(1.0);
            if (!std::isfinite(error)) refuse_diverged(filled(" in epoch {}", epoch + 1));
            sum += error * static_cast<double>(to - from);
            network_.backward({});
            network_.step();
            if (to < order.size()) stop_if_asked();
        }
        reconstruction_.push_back(sum / static_cast<double>(count()));
        run_.report({.stage = "pretraining",
                     .fraction = static_cast<double>(epoch + 1) / options_.pretrain_epochs,
                     .objective = reconstruction_.back(),
                     .iteration = epoch + 1});
        if (checkpoint_.wanted()) begun = snapshot("pretraining");
        stop_if_asked();
    }
    if (!network_.encode_all(run_.unstopped()).allFinite()) refuse_diverged("");
    if (begun) checkpoint_.write(*begun);  // a fit that is stopped after this does not repeat pre-training
    end_stage("pretraining");
}

DeepState DeepFit::state(Matrix<double> rotation, Matrix<double> centroids) const {
    return {points_.columns(), network_.unit(), network_.parameters(), std::move(rotation), std::move(centroids)};
}

void DeepFit::finish(const Labels& labels, int clusters) {
    checkpoint_.warn(report_);
    report_.empty_cluster_policy = "an empty cluster of k-means gets the row that adds most to the inertia";
    const Labels own = own_part(labels, points_, run_);
    finish_report(report_, points_, own, clusters, clusters, run_);
    auto& details = report_.details;
    const Run run = run_.within().unstopped();
    const double total = within_scatter(points_, Labels(own.size(), 0), run);
    details.emplace_back("within_share", total > 0 ? within_scatter(points_, own, run) / total : 1.0);
    if (!reconstruction_.empty()) {
        details.emplace_back("reconstruction", reconstruction_.back());
        details.emplace_back("reconstruction_per_epoch", reconstruction_);
    }
    describe_network(network_,
                     network_.architecture().encoder.front().plan.kind == COTERIE_DENSE ? "dense" : "convolutional",
                     run_, report_);
}

double balance_of(const std::vector<double>& shares) {
    if (shares.size() < 2) return 1;
    double entropy = 0;
    for (const double share : shares)
        if (share > 0) entropy -= share * std::log(share);
    return entropy / std::log(static_cast<double>(shares.size()));
}

double balance(const Labels& labels, int clusters) {
    std::vector<double> shares(static_cast<std::size_t>(clusters), 0.0);
    for (const auto label : labels) ++shares[static_cast<std::size_t>(label)];
    for (double& share : shares) share /= static_cast<double>(labels.size());
    return balance_of(shares);
}

}  // namespace coterie::deep::internal
