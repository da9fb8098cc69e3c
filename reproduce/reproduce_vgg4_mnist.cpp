// vgg4-mnist: deep entropy clustering and its baselines, with the same network, starts and steps for all. Fits can take
// hours, so their states are kept in a folder, and interrupted fits continue. File names contain method, seed, number
// of images and epochs.

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/methods.hpp"
#include "coterie/metrics/metrics.hpp"
#include "panels.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

// The MNIST column of Table 4: mean and deviation of ACC in per cent, VGG4 from a random start.
struct Contender {
    std::string name;
    std::string method;
    OptionValues own;
    double published;
    double published_deviation;
};
const std::vector<Contender> contenders = {
    {"imsat", "imsat", {{"view", std::string("augmented")}}, 92.90, 6.3},
    {"iic", "iic", {{"augmentations", 2}}, 82.51, 2.3},
    {"sela", "sela-net", {}, 52.86, 1.9},
    {"miadm", "miadm-net", {{"labels_per", std::string("epoch")}}, 17.75, 1.3},
    {"miadm*", "miadm-net", {{"labels_per", std::string("batch")}}, 78.88, 3.3},
    {"ours", "entropy-net", {}, 93.58, 4.8},
};
constexpr int published_seeds = 6;

struct Vgg4Request {
    int points = 0;
    int epochs = 50;
    int seeds = published_seeds;
    int batch_size = 250;
    int kernel = 3;
    double learning_rate = 1e-4;
    double weight_decay = 0.01;
    double augmentation_weight = 0;
    std::string augment = "rotation,shift,zoom,colour";
    std::string methods = "imsat,iic,sela,miadm,miadm*,ours";
    bool half = false;
    std::string checkpoint;
    std::string figure;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<Vgg4Request>()
                .integer("points", &Vgg4Request::points, at_least(0), "number of images drawn from the 70,000; 0: all")
                .integer("epochs", &Vgg4Request::epochs, at_least(1), "passes over the images")
                .integer("seeds", &Vgg4Request::seeds, at_least(1), "starts per method, the same for all methods")
                .integer("batch_size", &Vgg4Request::batch_size, at_least(1), "images per batch")
                .integer("kernel", &Vgg4Request::kernel, between(1, 15), "side of the convolution kernels, odd")
                .real("learning_rate", &Vgg4Request::learning_rate, above(0), "learning rate of Adam")
                .real("weight_decay", &Vgg4Request::weight_decay, at_least(0), "weight decay of Adam")
                .real("augmentation_weight", &Vgg4Request::augmentation_weight, at_least(0),
                      "augmentation weight of the methods that have one; 0: the method's default")
                .text("augment", &Vgg4Request::augment,
                      "augmentations, as in coterie fit; the paper uses flip,rotation,colour")
                .text("methods", &Vgg4Request::methods,
                      "methods, separated by commas: imsat, iic, sela, miadm, miadm*, ours")
                .flag("half", &Vgg4Request::half, "compute in bfloat16 if the device is faster with it");
        return set;
    }
};

struct Fitted {
    Scores scores;
    FitReport report;
    std::vector<double> acc_per_epoch;  // ACC of a fit that stops after this epoch; empty if the fit was not followed

    double seconds_an_epoch() const {
        for (const auto& [stage, seconds] : report.seconds)
            if (stage == "training") return seconds / report.iterations;
        return 0;
    }
};

Fitted fit_once(const Contender& contender, const ImageSet& set, const Vgg4Request& request, const WorkFolder& folder,
                int seed, const Run& run) {
    const Method& method = find_method(contender.method);
    OptionValues options = {{"clusters", std::int64_t{set.classes}},
                            {"network", std::string("vgg4")},
                            {"image", std::vector<std::int64_t>{28, 28}},
                            {"kernel", std::int64_t{request.kernel}},
                            {"epochs", std::int64_t{request.epochs}},
                            {"batch_size", std::int64_t{request.batch_size}},
                            {"learning_rate", request.learning_rate},
                            {"weight_decay", request.weight_decay},
                            {"augment", request.augment},
                            {"half", request.half}};
    for (const auto& [name, value] : contender.own) options[name] = value;
    if (request.augmentation_weight > 0 && method.options->find("augmentation_weight") != nullptr)
        options["augmentation_weight"] = request.augmentation_weight;
    Run own = of_seed(run, static_cast<std::uint64_t>(seed));
    own.checkpoint = folder / internal::filled("vgg4-mnist-{}-{}-{}-{}.checkpoint", set.pixels.rows(), request.epochs,
                                               contender.name, run.seed + static_cast<std::uint64_t>(seed));
    std::vector<double> acc;
    std::function<bool(const Progress&)> epoch_done;
    std::function<void(const Model&)> record;
    if (seed == 0 && !request.figure.empty()) {
        epoch_done = [&](const Progress& progress) {
            return progress.stage == "epochs" && progress.fraction >= (progress.iteration + 1.0) / request.epochs;
        };
        record = [&](const Model& piece) { acc.push_back(score(piece.labels(), set.truth).acc); };
    }
    const auto model = fit_in_pieces(method, set.pixels, options, own, epoch_done, record);
    return {score(model->labels(), set.truth), model->fit_report(), std::move(acc)};
}

Json fit_json(const Fitted& fitted) {
    Json out = {{"acc", fitted.scores.acc},
                {"nmi", fitted.scores.nmi},
                {"clusters_found", fitted.report.clusters_found},
                {"seconds_an_epoch", fitted.seconds_an_epoch()},
                {"warnings", fitted.report.warnings}};
    for (const char* detail : {"criterion_per_epoch", "balance_per_epoch", "changed_per_epoch"})
        out[detail] = numbers_of(fitted.report, detail);
    if (!fitted.acc_per_epoch.empty()) out["acc_per_epoch"] = fitted.acc_per_epoch;
    return out;
}

// Plots of each method's first start.
std::string curves(const std::vector<std::pair<std::string, Fitted>>& firsts, const std::string& title) {
    std::vector<PictureLine> acc, changed, balances, criteria;
    for (const auto& [name, fitted] : firsts) {
        const auto add = [&name](std::vector<PictureLine>& to, const std::vector<double>& values, double factor,
                                 int first) {
            PictureLine line{name, {}, {}};
            for (std::size_t epoch = 0; epoch < values.size(); ++epoch) {
                line.x.push_back(static_cast<double>(epoch) + first);
                line.y.push_back(factor * values[epoch]);
            }
            to.push_back(std::move(line));
        };
        add(acc, fitted.acc_per_epoch, 100, 1);
        add(changed, numbers_of(fitted.report, "changed_per_epoch"), 100, 2);
        add(balances, numbers_of(fitted.report, "balance_per_epoch"), 1, 1);
        add(criteria, numbers_of(fitted.report, "criterion_per_epoch"), 1, 1);
    }
    return stacked_pictures({lines_picture(acc, "epochs", "ACC of the best epoch so far, per cent"),
                             lines_picture(changed, "epochs", "images that change cluster, per cent"),
                             lines_picture(balances, "epochs", "balance of the cluster sizes"),
                             lines_picture(criteria, "epochs", "criterion of an epoch")},
                            title);
}

int reproduce(const Vgg4Request& request) {
    std::vector<std::string> names;
    for (const Contender& contender : contenders) names.push_back(contender.name);
    const auto chosen = positions_of("--methods", request.methods, names);
    check_outputs(*request.running, {}, {{"figure", request.figure, {".svg"}}});
    const WorkFolder folder(request.checkpoint);
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;

    ImageSet set = read_images("mnist", run);
    if (request.points > 0) set = some_of(set, request.points, run.random("reproduce.vgg4-mnist"));
    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "vgg4-mnist";
    out["options"] = json_of(Vgg4Request::described(), Vgg4Request::described().values(&request));
    out["seed"] = request.running->seed;
    out["n"] = set.pixels.rows();
    std::vector<std::vector<std::string>> rows;
    std::vector<std::pair<std::string, Fitted>> firsts;
    for (const std::size_t number : chosen) {
        const Contender& contender = contenders[number];
        std::vector<double> acc, nmi;
        double seconds = 0;
        int fewest = set.classes;
        Json fits;
        for (int seed = 0; seed < request.seeds; ++seed) {
            Fitted fitted = fit_once(contender, set, request, folder, seed, run);
            acc.push_back(100 * fitted.scores.acc);
            nmi.push_back(100 * fitted.scores.nmi);
            fewest = std::min(fewest, fitted.report.clusters_found);
            seconds += fitted.seconds_an_epoch() / request.seeds;
            fits.push_back(fit_json(fitted));
            if (seed == 0) firsts.emplace_back(contender.name, std::move(fitted));
        }
        rows.push_back({contender.name,
                        summary_text({contender.published, contender.published_deviation, published_seeds}),
                        summary_text(summary_of(acc)), summary_text(summary_of(nmi)), std::to_string(fewest),
                        seconds_text(seconds)});
        out["methods"].push_back(
            {{"name", contender.name},
             {"published", {{"mean", contender.published / 100}, {"deviation", contender.published_deviation / 100}}},
             {"fits", std::move(fits)}});
    }
    if (!request.figure.empty()) write_file(request.figure, curves(firsts, "MNIST, VGG4, first start"));
    bar.clear();
    print(request.running->json
              ? document(out)
              : table({"mnist, VGG4", "published ACC", "ACC", "NMI", "fewest clusters", "seconds per epoch"}, rows,
                      {1, 2, 3, 4, 5}) +
                    internal::filled("{} images, {} epochs, {} starts; published: 70,000 images, 50 epochs, 6 starts\n",
                                     count_text(set.pixels.rows()), request.epochs, request.seeds));
    return Exit::done;
}

}  // namespace

Command reproduce_vgg4_mnist_command() {
    const auto request = std::make_shared<Vgg4Request>();
    Command command;
    command.name = "vgg4-mnist";
    command.summary = "deep entropy clustering and its baselines with VGG4 on MNIST: a column of Table 4";
    command.details =
        "Trains VGG4 from a random start with the settings of the paper: Adam with rate 1e-4 and weight decay 0.01, "
        "batches of 250, lambda 100, 50 epochs, six starts. All 70,000 images are used for training and for the "
        "scores. The paper does not state the strengths of its augmentations, its coefficient in this table, or the "
        "tuned options of the baselines. Here these are the defaults of the methods.";
    command.flags = flags_of(Vgg4Request::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(text_flag("--checkpoint", "FOLDER",
                                      "keep the states of fits here; interrupted fits continue from them", "Writing",
                                      request->checkpoint, request, Completion::file));
    command.flags.push_back(text_flag("--figure", "FILE.svg", "draw every epoch of the methods' first starts",
                                      "Writing", request->figure, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--device", "--quiet", "--json"}));
    command.examples = {
        {"coterie-reproduce vgg4-mnist --points 2000 --epochs 10 --seeds 1 --methods ours,imsat", "a quick look"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
