// entropy-linear: linear entropy clustering and its baselines on pixels. All methods have equally many grid cells and
// updates. The starts that choose the cell are not scored. Each thread runs one fit, with its own seed.

#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/entropy/entropy.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/report/picture.hpp"
#include "coterie/selection/tune.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

const std::vector<std::string> set_names = {"mnist", "usps", "digits", "coil-20"};
constexpr std::size_t mnist = 0;

constexpr Index batch_size = 250;
constexpr Index most_tuning_points = 10000;
constexpr std::uint64_t first_tuning_seed = 1000;

struct Contender {
    std::string name;
    std::string method;
    std::vector<std::string> grid;  // the method's own axes; all methods have the same number of cells
    double published;               // mean and deviation of ACC on MNIST (on features of a network), per cent
    double published_deviation;
};
const std::vector<std::string> common_grid = {"learning_rate=0.1,0.3,1", "gamma=0.001,0.003,0.01"};
const std::vector<Contender> contenders = {
    {"entropy", "entropy", {"label_rounds=1,3,10,20", "start_scale=0.015"}, 58.2, 3.1},
    {"mi", "mi", {"fairness=1,1.3,2,3", "start_scale=0.015"}, 52.92, 3.0},
    {"sela", "sela", {"sharpness=5,25", "start_scale=0.015,0.15"}, 52.38, 5.2},
    {"miadm", "miadm", {"labels_per=epoch", "start_scale=0.015,0.15,1.5,15"}, 47.15, 3.7},
    {"miadm*", "miadm", {"labels_per=batch", "start_scale=0.015,0.15,1.5,15"}, 50.61, 1.3},
};
const std::vector<std::string> row_names = {"kmeans", "entropy", "mi", "sela", "miadm", "miadm*"};
constexpr SampleSummary published_kmeans = {47.62, 2.1, 6};
// Figure 12 as the text gives it, after 50 epochs: labels renewed per batch, and per epoch.
constexpr std::array<double, 2> published_renewal = {63, 52};
constexpr std::array<int, 6> figure_epochs = {1, 2, 5, 10, 20, 50};

struct LinearRequest {
    int seeds = 6;
    int tuning_seeds = 3;
    int updates = 2800;  // the training of the paper on MNIST: ten epochs of 70,000 images
    std::string sets = "mnist,usps,digits,coil-20";
    std::string methods = join(row_names, ",");
    std::string figure;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<LinearRequest>()
                .integer("seeds", &LinearRequest::seeds, at_least(2), "scored starts of each method")
                .integer("tuning_seeds", &LinearRequest::tuning_seeds, at_least(1),
                         "other starts; their mean accuracy chooses the options of each method")
                .integer("updates", &LinearRequest::updates, at_least(1), "batches of 250 images in each fit")
                .text("sets", &LinearRequest::sets, "data sets, separated by commas: " + join(set_names))
                .text("methods", &LinearRequest::methods, "methods, separated by commas: " + join(row_names));
        return set;
    }
};

struct Fitted {
    Scores scores;
    int clusters_found = 0;
    double seconds = 0;
};

struct Row {
    std::string name;
    OptionValues chosen;
    std::size_t cells = 0;
    std::vector<Fitted> fits;
    std::optional<SampleSummary> published;  // ACC on MNIST

    SampleSummary summary(double Scores::*member) const {
        std::vector<double> values;
        for (const Fitted& fit : fits) values.push_back(100 * (fit.scores.*member));
        return summary_of(values);
    }
    int fewest_clusters() const {
        int out = fits[0].clusters_found;
        for (const Fitted& fit : fits) out = std::min(out, fit.clusters_found);
        return out;
    }
    double mean_seconds() const {
        double out = 0;
        for (const Fitted& fit : fits) out += fit.seconds / static_cast<double>(fits.size());
        return out;
    }
};

std::int64_t epochs_for(Index points, int updates) { return (updates * batch_size + points - 1) / points; }

// One fit per seed, each on one thread.
std::vector<Fitted> fit_seeds(const std::string& method, const Points& points, const Labels& truth,
                              const OptionValues& options, int seeds, const Run& run) {
    std::vector<Fitted> out(static_cast<std::size_t>(seeds));
    const Method& of = find_method(method);
    for_each_block(seeds, run.threads, [&](Index seed, int) {
        run.throw_if_stopped("fits");
        Run own(run.seed + static_cast<std::uint64_t>(seed), 1);
        const Stopwatch watch;
        const auto model = of.fit({.points = points}, options, own);
        out[static_cast<std::size_t>(seed)] = {score(model->labels(), truth), model->fit_report().clusters_found,
                                               watch.seconds()};
    });
    return out;
}

// Returns the cell with the highest mean accuracy over the tuning seeds. Cells whose training diverges do not count.
OptionValues tuned(const Contender& contender, const Points& points, const Labels& truth, const OptionValues& fixed,
                   int seeds, const Run& run, std::size_t& cells) {
    TuneOptions options;
    options.select = Criterion::acc;
    for (const auto* texts : {&common_grid, &contender.grid})
        for (const std::string& text : *texts)
            options.grid.push_back(read_grid_axis(find_method(contender.method), text));
    std::vector<TuneResult> results(static_cast<std::size_t>(seeds));
    for_each_block(seeds, run.threads, [&](Index seed, int) {
        run.throw_if_stopped("tuning");
        Run own(run.seed + first_tuning_seed + static_cast<std::uint64_t>(seed), 1);
        own.should_stop = run.should_stop;
        results[static_cast<std::size_t>(seed)] =
            tune({.points = points}, {contender.method, fixed}, options, {}, own, truth);
    });
    run.throw_if_stopped("tuning");
    cells = results[0].cells.size();
    std::size_t best = 0;
    double highest = -1;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        double mean = 0;
        for (const auto& result : results) mean += result.cells[cell].criterion / seeds;
        if (mean > highest) {  // false for NaN
            highest = mean;
            best = cell;
        }
    }
    if (highest < 0)
        throw BadData(Code::not_converged, "every cell of " + contender.name + " failed: " + results[0].cells[0].error);
    return results[0].cells[best].options;
}

std::vector<Row> measure(const ImageSet& set, const std::vector<std::size_t>& methods, const LinearRequest& request,
                         const Run& run, ProgressBar& bar) {
    const auto wanted = [&](const std::string& name) {
        return std::any_of(methods.begin(), methods.end(), [&](std::size_t m) { return row_names[m] == name; });
    };
    const OptionValues clusters = {{"clusters", std::int64_t{set.classes}}};
    std::vector<Row> out;
    for (const std::int64_t restarts : {1, 10}) {
        if (!wanted("kmeans")) break;
        OptionValues options = clusters;
        options["restarts"] = restarts;
        Row row;
        row.name = restarts == 1 ? "kmeans" : "kmeans, 10 restarts";
        if (restarts == 1) row.published = published_kmeans;
        row.fits = fit_seeds("kmeans", set.pixels, set.truth, options, request.seeds, run);
        out.push_back(std::move(row));
    }
    // For large data sets, a sample chooses the options, with the same number of updates.
    const ImageSet some = some_of(set, most_tuning_points, run.random("reproduce.tuning-points"));
    for (std::size_t c = 0; c < contenders.size(); ++c) {
        const Contender& contender = contenders[c];
        if (!wanted(contender.name)) continue;
        if (run.on_progress)
            bar.update(
                {.stage = contender.name, .fraction = static_cast<double>(c) / static_cast<double>(contenders.size())});
        OptionValues options = clusters;
        options["batch_size"] = std::int64_t{batch_size};
        options["epochs"] = epochs_for(some.pixels.rows(), request.updates);
        Row row;
        row.name = contender.name;
        row.published = SampleSummary{contender.published, contender.published_deviation, 6};
        row.chosen = tuned(contender, some.pixels, some.truth, options, request.tuning_seeds, run, row.cells);
        options["epochs"] = epochs_for(set.pixels.rows(), request.updates);
        for (const auto& [key, value] : row.chosen) options[key] = value;
        row.fits = fit_seeds(contender.method, set.pixels, set.truth, options, request.seeds, run);
        out.push_back(std::move(row));
    }
    return out;
}

// Figure 12: the same starts, with labels renewed per batch and per epoch. The order of an epoch does not depend on the
// number of epochs, so a fit with few epochs is the beginning of one with many.
std::array<std::vector<SampleSummary>, 2> renewal(const ImageSet& set, const OptionValues& chosen, int seeds,
                                                  const Run& run) {
    std::array<std::vector<SampleSummary>, 2> out;
    for (std::size_t per = 0; per < 2; ++per)
        for (const int epochs : figure_epochs) {
            OptionValues options = chosen;
            options["clusters"] = std::int64_t{set.classes};
            options["epochs"] = std::int64_t{epochs};
            options["labels_per"] = std::string(per == 0 ? "batch" : "epoch");
            Row row;
            row.fits = fit_seeds("entropy", set.pixels, set.truth, options, seeds, run);
            out[per].push_back(row.summary(&Scores::acc));
        }
    return out;
}

std::string chosen_text(const OptionValues& chosen) {
    std::vector<std::string> words;
    for (const auto& [key, value] : chosen) words.push_back(key + " " + to_text(value));
    return join(words);
}

int reproduce(const LinearRequest& request) {
    check_outputs(*request.running, {}, {{"figure", request.figure, {".svg"}}});
    const auto sets = positions_of("--sets", request.sets, set_names);
    const auto methods = positions_of("--methods", request.methods, row_names);
    if (!request.figure.empty() && std::find(sets.begin(), sets.end(), mnist) == sets.end())
        throw BadArgument(Code::conflict, "Figure 12 needs mnist, which is not in --sets", "", {.option = "figure"});
    if (!request.figure.empty() && std::find(methods.begin(), methods.end(), std::size_t{1}) == methods.end())
        throw BadArgument(Code::conflict, "Figure 12 needs entropy, which is not in --methods", "",
                          {.option = "figure"});
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;

    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "entropy-linear";
    out["options"] = json_of(LinearRequest::described(), LinearRequest::described().values(&request));
    out["seed"] = request.running->seed;
    std::string text;
    std::vector<PictureLine> lines;
    for (const std::size_t number : sets) {
        const Stopwatch watch;
        const ImageSet set = read_images(set_names[number], run);
        const auto rows = measure(set, methods, request, run, bar);
        const bool is_mnist = number == mnist;
        Json one = {{"set", set_names[number]}, {"n", set.pixels.rows()}, {"d", set.pixels.columns()}};
        std::vector<std::string> header = {set_names[number], "ACC",   "NMI", "fewest clusters",
                                           "seconds per fit", "chosen"};
        if (is_mnist) header.insert(header.begin() + 1, "published");
        std::vector<std::vector<std::string>> cells;
        for (const Row& row : rows) {
            std::vector<std::string> line = {row.name,
                                             summary_text(row.summary(&Scores::acc)),
                                             summary_text(row.summary(&Scores::nmi)),
                                             std::to_string(row.fewest_clusters()),
                                             seconds_text(row.mean_seconds()),
                                             chosen_text(row.chosen)};
            Json entry = {{"name", row.name},
                          {"acc", summary_json(row.summary(&Scores::acc))},
                          {"nmi", summary_json(row.summary(&Scores::nmi))},
                          {"fewest_clusters", row.fewest_clusters()},
                          {"seconds", row.mean_seconds()},
                          {"cells", row.cells}};
            for (const auto& [key, value] : row.chosen) entry["chosen"][key] = json_of(value);
            if (is_mnist) {
                line.insert(line.begin() + 1, row.published ? summary_text(*row.published) : "");
                if (row.published) entry["published"] = summary_json(*row.published);
            }
            cells.push_back(std::move(line));
            one["methods"].push_back(std::move(entry));
        }
        text += table(header, cells,
                      is_mnist ? std::vector<std::size_t>{1, 2, 3, 4, 5} : std::vector<std::size_t>{1, 2, 3, 4});
        text += count_text(set.pixels.rows()) + " images; options of each method chosen from a grid of " +
                std::to_string(rows.back().cells) + " cells\n\n";
        const auto entropy =
            std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.name == "entropy"; });
        if (is_mnist && entropy != rows.end()) {
            const auto curves = renewal(set, entropy->chosen, request.seeds, run);
            std::vector<std::string> figure_header = {"Figure 12, ACC after epochs"};
            for (const int epochs : figure_epochs) figure_header.push_back(std::to_string(epochs));
            figure_header.emplace_back("published, 50");
            std::vector<std::vector<std::string>> figure_rows;
            for (std::size_t per = 0; per < 2; ++per) {
                const std::string name = per == 0 ? "labels renewed per batch" : "labels renewed per epoch";
                figure_rows.push_back({name});
                PictureLine line{name, {}, {}};
                Json curve = {{"labels_per", per == 0 ? "batch" : "epoch"},
                              {"published", published_renewal[per] / 100}};
                for (std::size_t e = 0; e < figure_epochs.size(); ++e) {
                    const SampleSummary& sample = curves[per][e];
                    figure_rows.back().push_back(summary_text(sample));
                    line.x.push_back(figure_epochs[e]);
                    line.y.push_back(sample.mean);
                    Json point = summary_json(sample);
                    point["epochs"] = figure_epochs[e];
                    curve["acc"].push_back(std::move(point));
                }
                figure_rows.back().push_back(fixed_text(published_renewal[per], 0));
                lines.push_back(std::move(line));
                one["renewal"].push_back(std::move(curve));
            }
            text += table(figure_header, figure_rows, {1, 2, 3, 4, 5, 6, 7}) + "\n";
        }
        one["seconds"] = watch.seconds();
        out["sets"].push_back(std::move(one));
    }
    bar.clear();
    if (!request.figure.empty()) write_file(request.figure, lines_picture(lines, "epochs", "ACC, per cent"));
    print(request.running->json ? document(out) : text);
    return Exit::done;
}

}  // namespace

Command reproduce_entropy_linear_command() {
    const auto request = std::make_shared<LinearRequest>();
    Command command;
    command.name = "entropy-linear";
    command.summary = "linear entropy clustering and its baselines on images: Table 3 and Figure 12";
    command.details =
        "Trains linear softmax models on pixels, because the network features of the paper are not available. As in "
        "the paper, training takes 2,800 batches of 250. Each method has the same number of option combinations. The "
        "mean accuracy of other starts, on at most 10,000 images, chooses one: the same oracle for all methods. "
        "The scored starts then use all images. Figure 12 uses mnist and the options chosen for entropy.";
    command.flags = flags_of(LinearRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(
        text_flag("--figure", "FILE.svg", "draw Figure 12 (needs mnist)", "Writing", request->figure, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--quiet", "--json"}));
    command.examples = {{"coterie-reproduce entropy-linear --sets digits --seeds 3", "a quick look at one data set"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
