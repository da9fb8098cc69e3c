// dekm-coil20, dekm-mnist, dekm-usps: DEKM and its baselines. All methods of a seed start from the same autoencoder,
// which is trained once and stored as a model file. The file name holds all settings on which the autoencoder depends,
// so several commands can share a folder.

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deep/dekm.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "panels.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

struct DekmSet {
    const char* name;
    const char* data;
    int side;                             // images are side x side
    double published_acc, published_nmi;  // DEKM, mean of three runs, per cent
};
constexpr DekmSet coil = {"dekm-coil20", "coil-20", 28, 69.03, 80.06};
constexpr DekmSet mnist = {"dekm-mnist", "mnist", 28, 95.75, 91.06};
constexpr DekmSet usps = {"dekm-usps", "usps", 16, 79.75, 82.23};

constexpr Index batch_size = 256;
Index batches_of(Index points) { return (points + batch_size - 1) / batch_size; }

struct Contender {
    const char* name;
    const char* method;
    OptionValues own;
    bool variant;
};
const std::vector<Contender>& contenders() {
    static const std::vector<Contender> all = {
        {"kmeans", "kmeans", {{"restarts", 10}}, false},
        {"ae-kmeans", "ae-kmeans", {}, false},
        {"dec", "dec", {{"update_interval", 140}}, false},
        {"idec", "idec", {{"update_interval", 140}}, false},
        {"dcn", "dcn", {{"update_interval", 140}}, false},
        {"dekm", "dekm", {{"update_interval", 40}}, false},
        {"entropy-net", "entropy-net", {{"network", std::string("vgg4")}}, false},
        {"dekm-all", "dekm", {{"update_interval", 40}, {"move", std::string("all")}}, true},
        {"dekm-full", "dekm", {{"update_interval", 40}, {"update", std::string("full")}}, true},
    };
    return all;
}
bool is_full(const Contender& contender) { return contender.own.contains("update"); }

struct DekmRequest {
    int seeds = 3;
    std::string methods = "kmeans,ae-kmeans,dec,idec,dcn,dekm";
    bool variants = false;
    int points = 0;
    int pretrain_epochs = 200;
    int max_iterations = 14000;
    int net_epochs = 50;
    double tolerance = 0.001;
    std::string checkpoint;
    std::string figure;
    std::string figure1;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set = [] {
            std::vector<std::string> names;
            for (const Contender& contender : contenders()) names.emplace_back(contender.name);
            return OptionSetFor<DekmRequest>()
                .integer("seeds", &DekmRequest::seeds, at_least(1), "autoencoders; all methods start from each of them")
                .text("methods", &DekmRequest::methods, "methods, separated by commas: " + join(names))
                .flag("variants", &DekmRequest::variants,
                      "also run dekm-all (moves every coordinate) and dekm-full (one step per pass over all images)")
                .integer("points", &DekmRequest::points, at_least(0), "number of images drawn at random; 0: all")
                .integer("pretrain_epochs", &DekmRequest::pretrain_epochs, at_least(1), "epochs of each autoencoder")
                .integer("max_iterations", &DekmRequest::max_iterations, at_least(1),
                         "maximal number of batches of 256 images while clustering; dekm-full: the passes that they "
                         "make")
                .integer("net_epochs", &DekmRequest::net_epochs, at_least(1), "epochs of entropy-net")
                .real("tolerance", &DekmRequest::tolerance, between(0, 1),
                      "a fit ends when a smaller share of the images changes cluster in an update");
        }();
        return set;
    }
};

// Makes square images smaller; each row holds an image. A new pixel is the mean of the area that it covers: each old
// pixel is weighted with its covered part. The result does not depend on whether images are stored by rows or by
// columns.
Points resized(PointsView images, int from, int to) {
    Matrix<float> cover = Matrix<float>::Zero(to, from);
    const double scale = static_cast<double>(from) / to;
    for (int i = 0; i < to; ++i)
        for (int j = 0; j < from; ++j)
            cover(i, j) = static_cast<float>(
                std::max(0.0, std::min((i + 1) * scale, j + 1.0) - std::max(i * scale, static_cast<double>(j))) /
                scale);
    const Matrix<float> pixels = to_matrix<float>(images);
    Matrix<float> out(pixels.rows(), Index{to} * to);
    for (Index i = 0; i < pixels.rows(); ++i)
        Eigen::Map<eigen::Matrix<float>>(out.data() + i * out.cols(), to, to) =
            cover * Eigen::Map<const eigen::Matrix<float>>(pixels.data() + i * pixels.cols(), from, from) *
            cover.transpose();
    return Points(std::move(out));
}

struct Fitted {
    Scores scores;
    FitReport report;
    double seconds = 0;
    std::vector<double> acc_per_update;  // empty if the fit was not followed

    const std::vector<double>& numbers(const std::string& detail) const { return numbers_of(report, detail); }
    std::size_t updates() const { return numbers("balance_per_update").size(); }
};

struct Row {
    const Contender* contender;
    std::vector<Fitted> fits;

    SampleSummary summary(double Scores::*member) const {
        std::vector<double> values;
        for (const Fitted& fit : fits) values.push_back(100 * (fit.scores.*member));
        return summary_of(values);
    }
    double mean(double (*of)(const Fitted&)) const {
        double sum = 0;
        for (const Fitted& fit : fits) sum += of(fit);
        return sum / static_cast<double>(fits.size());
    }
    double seconds() const {
        return mean([](const Fitted& fit) { return fit.seconds; });
    }
    double updates() const {
        return mean([](const Fitted& fit) { return static_cast<double>(fit.updates()); });
    }
};

// The data, settings and folder that all fits of a command share.
class Protocol {
public:
    Protocol(const DekmSet& set, const DekmRequest& request, const Run& run)
        : set_(set), request_(request), run_(run), folder_(request.checkpoint) {
        images_ = read_images(set.data, run);
        if (images_.pixels.columns() != Index{set.side} * set.side) {
            const auto side = static_cast<int>(std::lround(std::sqrt(images_.pixels.columns())));
            images_.pixels = resized(images_.pixels, side, set.side);
        }
        if (request.points > 0) images_ = some_of(images_, request.points, run.random("reproduce.dekm.points"));
    }

    const ImageSet& images() const { return images_; }

    // The model file of a seed's autoencoder. Trains it if the file does not exist.
    std::string autoencoder(const ImageSet& images, int embedding, std::uint64_t seed) const {
        const std::string path = folder_ / (stem(images, embedding, seed) + ".coterie");
        if (std::filesystem::exists(path)) return path;
        OptionValues options = common(images);
        options["embedding"] = std::int64_t{embedding};
        options["pretrain_epochs"] = std::int64_t{request_.pretrain_epochs};
        Run own = of_seed(run_, seed);
        own.checkpoint = path + ".checkpoint";
        Pipeline(find_method("ae-kmeans").fit({.points = images.pixels}, options, own)).save(path);
        std::filesystem::remove(own.checkpoint);
        return path;
    }

    Fitted fit(const Contender& contender, std::uint64_t seed, bool follow) const {
        OptionValues options = contender.own;
        Run own = of_seed(run_, seed);
        if (std::string(contender.method) == "kmeans") {
            options["clusters"] = std::int64_t{images_.classes};
            own.device = "cpu";
            return fitted(contender, images_, options, own, {});
        }
        for (const auto& [key, value] : common(images_)) options[key] = value;
        const std::string checkpoint =
            folder_ / filled("{}-{}.checkpoint", stem(images_, default_embedding, seed), contender.name);
        if (std::string(contender.method) == "entropy-net") {
            options["epochs"] = std::int64_t{request_.net_epochs};
            own.checkpoint = checkpoint;
            return fitted(contender, images_, options, own, {});
        }
        options["embedding"] = std::int64_t{default_embedding};
        options["pretrained"] = autoencoder(images_, default_embedding, seed);
        if (std::string(contender.method) == "ae-kmeans") return fitted(contender, images_, options, own, {});
        const Index per_pass = batches_of(images_.pixels.rows());
        options["max_iterations"] = is_full(contender) ? std::max<std::int64_t>(1, request_.max_iterations / per_pass)
                                                       : request_.max_iterations;
        options["tolerance"] = request_.tolerance;
        own.checkpoint = checkpoint;
        std::vector<double> acc;
        const auto record = [&](const Model& model) { acc.push_back(score(model.labels(), images_.truth).acc); };
        Fitted out = fitted(contender, images_, options, own, follow ? record : OnUpdate());
        out.acc_per_update = std::move(acc);
        return out;
    }

    // Figure 1: four classes in two dimensions.
    std::string phases() const;

private:
    using OnUpdate = std::function<void(const Model&)>;
    static constexpr int default_embedding = 10;

    std::string stem(const ImageSet& images, int embedding, std::uint64_t seed) const {
        return filled("{}-{}-{}-{}-{}", set_.data, images.pixels.rows(), embedding, request_.pretrain_epochs,
                      run_.seed + seed);
    }
    OptionValues common(const ImageSet& images) const {
        return {{"clusters", std::int64_t{images.classes}}, {"image", std::vector<std::int64_t>{set_.side, set_.side}}};
    }

    // on_update gets the model after every update.
    Fitted fitted(const Contender& contender, const ImageSet& images, const OptionValues& options, const Run& run,
                  const OnUpdate& on_update) const {
        const Stopwatch watch;
        int told = 0;  // progress reports: one after the update, one after its batches
        std::function<bool(const Progress&)> updated;
        if (on_update)
            updated = [&](const Progress& progress) {
                told += progress.stage == "clustering" ? 1 : 0;
                return told >= 2;
            };
        const auto model =
            fit_in_pieces(find_method(contender.method), images.pixels, options, run, updated, [&](const Model& piece) {
                told = 0;
                if (on_update) on_update(piece);
            });
        return {score(model->labels(), images.truth), model->fit_report(), watch.seconds(), {}};
    }

    const DekmSet& set_;
    const DekmRequest& request_;
    const Run& run_;
    WorkFolder folder_;
    ImageSet images_;
};

std::string Protocol::phases() const {
    constexpr int classes = 4;
    constexpr Index drawn = 400;
    ImageSet four;
    std::vector<Index> rows;
    for (std::size_t i = 0; i < images_.truth.size(); ++i)
        if (images_.truth[i] < classes) {
            rows.push_back(static_cast<Index>(i));
            four.truth.push_back(images_.truth[i]);
        }
    four.pixels = rows_of(images_.pixels, rows);
    four.classes = classes;
    const ImageSet some = some_of(four, drawn, run_.random("reproduce.dekm.drawn"));

    Contender contender = contenders()[5];
    OptionValues options = contender.own;
    for (const auto& [key, value] : common(four)) options[key] = value;
    options["embedding"] = std::int64_t{2};
    options["pretrained"] = autoencoder(four, 2, 0);
    options["max_iterations"] = std::int64_t{request_.max_iterations};
    options["tolerance"] = request_.tolerance;
    Run own = run_;
    own.checkpoint = folder_ / (stem(four, 2, 0) + "-phases.checkpoint");

    // Shows the embedding, as in the paper, so the rotation of the model's space is undone.
    std::vector<Panel> panels;
    const auto panel_of = [&](const Model& model) {
        const DeepState& state = dynamic_cast<const DekmModel&>(model).state();
        Panel panel;
        panel.title = "update " + std::to_string(panels.size());
        panel.subtitle = "ACC " + share_text(score(model.labels(), four.truth).acc);
        panel.points = model.transform(some.pixels, run_) * state.rotation;
        panel.labels = some.truth;
        panel.regions = [rotation = state.rotation, centroids = state.centroids](const Matrix<double>& places) {
            const Matrix<double> turned = places * rotation.transpose();
            return nearest_centroids(turned, centroids, 1).labels;
        };
        const Matrix<double> means = state.centroids * state.rotation;
        const double width = panel.points.col(0).maxCoeff() - panel.points.col(0).minCoeff();
        const double height = panel.points.col(1).maxCoeff() - panel.points.col(1).minCoeff();
        for (Index c = 0; c < classes; ++c)
            for (const double way : {-1.0, 1.0}) {
                Matrix<double> stroke(2, 2);
                stroke.row(0) = means.row(c) - 0.02 * Eigen::RowVector2d(width, way * height);
                stroke.row(1) = means.row(c) + 0.02 * Eigen::RowVector2d(width, way * height);
                panel.lines.push_back(stroke);
            }
        const Eigen::RowVector2d middle = panel.points.colwise().mean();
        const Eigen::RowVector2d last = 0.4 * std::min(width, height) * state.rotation.row(1);
        Matrix<double> direction(2, 2);
        direction.row(0) = middle - last;
        direction.row(1) = middle + last;
        panel.lines.push_back(direction);
        panels.push_back(std::move(panel));
    };
    fitted(contender, four, options, own, panel_of);
    panels[0].title = "after pre-training";
    std::vector<Panel> shown;
    std::size_t previous = panels.size();
    for (const std::size_t wanted :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, panels.size() / 4, panels.size() / 2, panels.size() - 1}) {
        const std::size_t number = std::min(wanted, panels.size() - 1);
        if (previous < panels.size() && number <= previous) continue;
        shown.push_back(panels[number]);
        previous = number;
    }
    return panels_picture(shown, 3,
                          {"DEKM on four classes of MNIST, two dimensions",
                           "points: coloured by class; background: by cluster; line: the widest direction"});
}

Json row_json(const Row& row, const DekmSet& set) {
    Json out = {{"name", row.contender->name}};
    if (std::string(row.contender->name) == "dekm")
        out["published"] = {{"acc", set.published_acc / 100}, {"nmi", set.published_nmi / 100}};
    out["acc"] = summary_json(row.summary(&Scores::acc));
    out["nmi"] = summary_json(row.summary(&Scores::nmi));
    out["ari"] = summary_json(row.summary(&Scores::ari));
    out["seconds"] = row.seconds();
    for (const Fitted& fit : row.fits) {
        Json one = {{"scores", json_of(fit.scores)},
                    {"seconds", fit.seconds},
                    {"stopped", name(fit.report.stopped)},
                    {"objective", fit.report.objective},
                    {"iterations", fit.report.iterations}};
        if (fit.updates() > 0) {
            one["updates"] = fit.updates();
            one["objective_per_update"] = fit.report.objective_per_iteration;
            for (const char* detail : {"changed_per_update", "balance_per_update", "loss_per_update"})
                one[detail] = fit.numbers(detail);
        }
        if (!fit.acc_per_update.empty()) one["acc_per_update"] = fit.acc_per_update;
        if (!fit.report.warnings.empty()) one["warnings"] = fit.report.warnings;
        out["fits"].push_back(std::move(one));
    }
    return out;
}

// For the first seed: accuracy, share of changed labels, balance and DEKM's inertia, by passes over the images.
std::string curves(const std::vector<Row>& rows, Index points, const std::string& title) {
    std::vector<PictureLine> acc, changed, balances, inertia;
    for (const Row& row : rows) {
        const Fitted& fit = row.fits[0];
        if (fit.acc_per_update.empty()) continue;
        const Contender& contender = *row.contender;
        const double interval =
            is_full(contender) ? 1 : static_cast<double>(std::get<std::int64_t>(contender.own.at("update_interval")));
        const auto per_pass = is_full(contender) ? 1 : static_cast<double>(batches_of(points));
        const auto add = [&](std::vector<PictureLine>& to, const std::vector<double>& values, double factor,
                             double first) {
            PictureLine line{contender.name, {}, {}};
            for (std::size_t u = 0; u < values.size(); ++u) {
                line.x.push_back(
                    std::min((static_cast<double>(u) + first) * interval, static_cast<double>(fit.report.iterations)) /
                    per_pass);
                line.y.push_back(factor * values[u]);
            }
            to.push_back(std::move(line));
        };
        add(acc, fit.acc_per_update, 100, 0);
        add(changed, fit.numbers("changed_per_update"), 100, 1);
        add(balances, fit.numbers("balance_per_update"), 1, 0);
        const auto& objectives = fit.report.objective_per_iteration;
        if (std::string(contender.method) == "dekm")
            add(inertia, objectives, 100 / objectives[0], 0);
        else
            inertia.push_back({});  // keeps the colour of each method the same in all plots
    }
    const char* const passes = "passes over the images";
    return stacked_pictures({lines_picture(acc, passes, "ACC, per cent"),
                             lines_picture(changed, passes, "images that change cluster, per cent"),
                             lines_picture(balances, passes, "balance of the cluster sizes"),
                             lines_picture(inertia, passes, "inertia, per cent of the first")},
                            title);
}

int reproduce(const DekmSet& set, const DekmRequest& request) {
    check_outputs(*request.running, {}, {{"figure", request.figure, {".svg"}}, {"figure1", request.figure1, {".svg"}}});
    std::vector<std::string> names;
    for (const Contender& contender : contenders()) names.emplace_back(contender.name);
    std::vector<std::size_t> chosen = positions_of("--methods", request.methods, names);
    for (std::size_t c = 0; c < contenders().size(); ++c)
        if (request.variants && contenders()[c].variant && std::find(chosen.begin(), chosen.end(), c) == chosen.end())
            chosen.push_back(c);
    const auto has_updates = [](std::size_t c) { return contenders()[c].own.contains("update_interval"); };
    if (!request.figure.empty() && std::none_of(chosen.begin(), chosen.end(), has_updates))
        throw BadArgument(Code::conflict, "none of --methods " + request.methods + " has updates to draw",
                          "Add dec, idec, dcn or dekm", {.option = "figure"});
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;

    const Protocol protocol(set, request, run);
    const ImageSet& images = protocol.images();
    std::vector<Row> rows;
    for (const std::size_t c : chosen) rows.push_back({&contenders()[c], {}});
    Stopwatch watch;
    for (int seed = 0; seed < request.seeds; ++seed)
        for (Row& row : rows)
            row.fits.push_back(
                protocol.fit(*row.contender, static_cast<std::uint64_t>(seed), seed == 0 && !request.figure.empty()));
    if (!request.figure.empty())
        write_file(request.figure, curves(rows, images.pixels.rows(), filled("{}, first seed", set.name)));
    if (!request.figure1.empty()) write_file(request.figure1, protocol.phases());
    bar.clear();

    if (request.running->json) {
        Json out;
        out["schema"] = internal::json_schema;
        out["name"] = set.name;
        out["options"] = json_of(DekmRequest::described(), DekmRequest::described().values(&request));
        out["seed"] = request.running->seed;
        out["threads"] = run.threads;
        out["n"] = images.pixels.rows();
        out["d"] = images.pixels.columns();
        out["clusters"] = images.classes;
        for (const Row& row : rows) out["methods"].push_back(row_json(row, set));
        out["seconds"] = watch.seconds();
        print(document(out));
        return Exit::done;
    }
    std::vector<std::vector<std::string>> cells;
    for (const Row& row : rows) {
        const bool published = std::string(row.contender->name) == "dekm";
        cells.push_back({row.contender->name, summary_text(row.summary(&Scores::acc)),
                         summary_text(row.summary(&Scores::nmi)), summary_text(row.summary(&Scores::ari)),
                         row.updates() > 0 ? fixed_text(row.updates(), 1) : "", seconds_text(row.seconds()),
                         published ? fixed_text(set.published_acc, 2) : "",
                         published ? fixed_text(set.published_nmi, 2) : ""});
    }
    print(table({filled("{}, per cent", set.data), "ACC", "NMI", "ARI", "updates", "seconds", "published ACC", "NMI"},
                cells, {1, 2, 3, 4, 5, 6, 7}) +
          filled("\n{} images; {} autoencoders of {} epochs; each is the start of all methods that use one\n",
                 count_text(images.pixels.rows()), request.seeds, request.pretrain_epochs));
    return Exit::done;
}

Command dekm_command(const DekmSet& set, const char* of) {
    const auto request = std::make_shared<DekmRequest>();
    Command command;
    command.name = set.name;
    command.summary = std::string("deep embedded k-means and its baselines on ") + of;
    command.details =
        "Trains one autoencoder per seed with the schedule of the paper (convolutions, batches of 256, Adam with rate "
        "0.001). From it start k-means in its embedding, DEC, IDEC, DCN and DEKM. A fit ends when few images change "
        "cluster in an update. entropy-net starts without an autoencoder. --checkpoint keeps the autoencoders and the "
        "states of the fits in a folder, so that an interrupted command can continue.";
    command.flags = flags_of(DekmRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(text_flag("--checkpoint", "FOLDER", "keep autoencoders and states of fits here", "Writing",
                                      request->checkpoint, request, Completion::file));
    command.flags.push_back(text_flag("--figure", "FILE.svg", "draw every update of the first seed's fits", "Writing",
                                      request->figure, request));
    if (&set == &mnist)
        command.flags.push_back(text_flag("--figure1", "FILE.svg", "draw Figure 1: four classes in two dimensions",
                                          "Writing", request->figure1, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--device", "--quiet", "--json"}));
    command.examples = {{std::string("coterie-reproduce ") + set.name + " --methods ae-kmeans,dekm --points 1000 " +
                             "--pretrain-epochs 10 --max-iterations 200",
                         "a quick look"}};
    command.act = [&set, request] { return reproduce(set, *request); };
    return command;
}

}  // namespace

Command reproduce_dekm_coil_command() { return dekm_command(coil, "COIL-20 in 28 x 28 pixels"); }
Command reproduce_dekm_mnist_command() { return dekm_command(mnist, "MNIST, and Figure 1"); }
Command reproduce_dekm_usps_command() { return dekm_command(usps, "USPS"); }

}  // namespace coterie::cli
