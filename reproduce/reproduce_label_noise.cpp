// label-noise: compares forward and reverse cross-entropy on wrong labels. The seed decides splits, wrong labels and
// starts, which are the same for both losses. Rows outside the training and test parts choose the options.

#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/entropy/soft_targets.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/report/picture.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

enum class NoiseSet { mnist, usps, digits };
const std::vector<std::string> set_names = {"mnist", "usps", "digits"};
constexpr std::array<double, 8> noises = {0.01, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95};
constexpr std::array<CrossEntropy, 2> kinds = {CrossEntropy::forward, CrossEntropy::reverse};
constexpr std::array<const char*, 2> kind_names = {"forward, H(y, sigma)", "reverse, H(sigma, y)"};
// Each loss chooses among these, by its accuracy on rows that are not scored.
constexpr std::array<double, 3> learning_rates = {0.003, 0.03, 0.3};
constexpr std::array<double, 3> gammas = {1e-5, 1e-4, 1e-3};

struct NoiseRequest {
    NoiseSet set = NoiseSet::mnist;
    int seeds = 3;
    int epochs = 10;
    std::string figure;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<NoiseRequest>()
                .choice("set", &NoiseRequest::set, set_names, "data set of images")
                .integer("seeds", &NoiseRequest::seeds, at_least(2), "splits, corruptions and starts")
                .integer("epochs", &NoiseRequest::epochs, at_least(1), "epochs of training");
        return set;
    }
};

// Three quarters of the rows are the training part. A third of the other rows chooses the options; the rest is scored.
struct Split {
    std::vector<Index> training, choosing, test;
};
Split split_rows(Index rows, const Run& run) {
    std::vector<Index> order(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
    RandomStream random = run.random("reproduce.label-noise.split");
    shuffle(order, random);
    const auto at = [&](Index numerator) { return order.begin() + rows * numerator / 12; };
    return {{at(3), order.end()}, {order.begin(), at(1)}, {at(1), at(3)}};
}

// Replaces a share `noise` of the labels by labels drawn from all classes.
Labels corrupted(const Labels& truth, const std::vector<Index>& rows, int classes, double noise, const Run& run) {
    RandomStream random =
        run.random("reproduce.label-noise.labels", static_cast<std::uint64_t>(std::lround(1e6 * noise)));
    Labels out;
    for (const Index i : rows) {
        const bool wrong = random.uniform() < noise;
        const auto drawn = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
        out.push_back(wrong ? drawn : truth[static_cast<std::size_t>(i)]);
    }
    return out;
}

double share_right(const LinearSoftmax<float>& model, const ImageSet& set, const std::vector<Index>& rows) {
    const Points points = rows_of(set.pixels, rows);
    const Labels found = internal::largest_columns(logits(points.view().as<float>(), model, 1));
    Index right = 0;
    for (std::size_t i = 0; i < found.size(); ++i) right += found[i] == set.truth[static_cast<std::size_t>(rows[i])];
    return static_cast<double>(right) / static_cast<double>(found.size());
}

// Test accuracy of both losses, per noise level.
using Outcome = std::array<std::array<double, kinds.size()>, noises.size()>;

Outcome outcome_of(const ImageSet& set, const NoiseRequest& request, const Run& run) {
    Outcome out{};
    const Split split = split_rows(set.pixels.rows(), run);
    const Points training = rows_of(set.pixels, split.training);
    for (std::size_t level = 0; level < noises.size(); ++level) {
        const Matrix<double> targets = smoothed_targets(
            corrupted(set.truth, split.training, set.classes, noises[level], run), set.classes, noises[level]);
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            double best = -1;
            for (const double rate : learning_rates)
                for (const double gamma : gammas) {
                    run.throw_if_stopped("training");
                    SoftTargetOptions options;
                    options.cross_entropy = kinds[kind];
                    options.epochs = request.epochs;
                    options.learning_rate = rate;
                    options.gamma = gamma;
                    Run own(run.seed, 1);
                    const auto fit = fit_soft_targets(training.view().as<float>(), targets, options, own);
                    const double chosen_by = share_right(fit.linear, set, split.choosing);
                    if (chosen_by <= best) continue;
                    best = chosen_by;
                    out[level][kind] = share_right(fit.linear, set, split.test);
                }
        }
    }
    return out;
}

int reproduce(const NoiseRequest& request) {
    check_outputs(*request.running, {}, {{"figure", request.figure, {".svg"}}});
    Run run = request.running->run();
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    const std::string& name = set_names[static_cast<std::size_t>(request.set)];
    const ImageSet set = read_images(name, run);
    std::vector<Outcome> outcomes(static_cast<std::size_t>(request.seeds));
    for_each_block(request.seeds, run.threads, [&](Index seed, int) {
        Run own(run.seed + static_cast<std::uint64_t>(seed), 1);
        own.should_stop = run.should_stop;
        outcomes[static_cast<std::size_t>(seed)] = outcome_of(set, request, own);
    });
    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "label-noise";
    out["options"] = json_of(NoiseRequest::described(), NoiseRequest::described().values(&request));
    out["seed"] = request.running->seed;
    out["n"] = set.pixels.rows();
    std::vector<std::string> header = {"Figure 11: test accuracy, " + name + ", wrong labels"};
    std::vector<std::vector<std::string>> rows;
    std::vector<PictureLine> lines;
    for (const char* kind : kind_names) {
        rows.push_back({kind});
        lines.push_back({kind, {}, {}});
    }
    for (std::size_t level = 0; level < noises.size(); ++level) {
        header.push_back(fixed_text(noises[level], 2));
        Json one = {{"noise", noises[level]}};
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            std::vector<double> values;
            for (const Outcome& outcome : outcomes) values.push_back(100 * outcome[level][kind]);
            const SampleSummary sample = summary_of(values);
            rows[kind].push_back(summary_text(sample));
            lines[kind].x.push_back(100 * noises[level]);
            lines[kind].y.push_back(sample.mean);
            one[kind == 0 ? "forward" : "reverse"] = summary_json(sample);
        }
        out["levels"].push_back(std::move(one));
    }
    if (!request.figure.empty())
        write_file(request.figure, lines_picture(lines, "wrong labels, per cent", "test accuracy, per cent"));
    print(request.running->json ? document(out) : table(header, rows, {1, 2, 3, 4, 5, 6, 7, 8}));
    return Exit::done;
}

}  // namespace

Command reproduce_label_noise_command() {
    const auto request = std::make_shared<NoiseRequest>();
    Command command;
    command.name = "label-noise";
    command.summary = "forward and reverse cross-entropy on wrong labels: Figure 11, for a linear model";
    command.details =
        "Replaces a share of the training labels by labels drawn from all classes. The targets mix the resulting "
        "labels with the uniform distribution by that share. A linear softmax model is trained on them with the "
        "ordinary and with the reverse cross-entropy. Each loss chooses one of nine pairs of learning rate and gamma, "
        "on correctly labelled rows outside the training and test parts.";
    command.flags = flags_of(NoiseRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(text_flag("--figure", "FILE.svg", "draw Figure 11", "Writing", request->figure, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--json"}));
    command.examples = {{"coterie-reproduce label-noise --set digits --figure noise.svg", "a quick look"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
