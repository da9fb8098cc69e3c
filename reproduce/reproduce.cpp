// Functions that the tables share, and the root command. To see the model after each update, a fit stops at a progress
// report and continues from its checkpoint. This gives the same bits, so the library needs no interface for observers.

#include "reproduce.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <nlohmann/json.hpp>

#include "coterie/data/catalogue.hpp"

namespace coterie::cli {

ImageSet read_images(const std::string& name, const Run& run) {
    ReadOptions options;
    options.precision = Precision::float32;
    const PointsFile file = read_data(name, options, run);
    Matrix<float> pixels = to_matrix<float>(file.points);
    pixels /= pixels.maxCoeff();
    ImageSet out;
    out.pixels = Points(std::move(pixels));
    out.truth = file.labels->labels;
    out.classes = 1 + *std::max_element(out.truth.begin(), out.truth.end());
    return out;
}

ImageSet some_of(const ImageSet& set, Index count, RandomStream random) {
    if (count >= set.pixels.rows()) return set;
    std::vector<Index> rows(static_cast<std::size_t>(set.pixels.rows()));
    std::iota(rows.begin(), rows.end(), Index{0});
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    rows.resize(static_cast<std::size_t>(count));
    std::sort(rows.begin(), rows.end());
    ImageSet out{rows_of(set.pixels, rows), {}, set.classes};
    for (const Index i : rows) out.truth.push_back(set.truth[static_cast<std::size_t>(i)]);
    return out;
}

WorkFolder::WorkFolder(const std::string& named) : path_(named), kept_(!named.empty()) {
    if (!kept_) {
        std::string pattern = (std::filesystem::temp_directory_path() / "coterie-reproduce-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw ResourceError(Code::cannot_write, "cannot create the folder", "", {.file = pattern});
        path_ = pattern;
        return;
    }
    std::error_code failed;
    std::filesystem::create_directories(path_, failed);
    if (!std::filesystem::is_directory(path_))
        throw ResourceError(Code::cannot_write, "cannot create the folder" + (failed ? ": " + failed.message() : ""),
                            "", {.option = "checkpoint", .file = named});
}
WorkFolder::~WorkFolder() {
    std::error_code ignored;
    if (!kept_) std::filesystem::remove_all(path_, ignored);
}

Run of_seed(const Run& run, std::uint64_t seed) {
    Run out = run;
    out.seed += seed;
    return out;
}

std::unique_ptr<Model> fit_in_pieces(const Method& method, PointsView points, const OptionValues& options,
                                     const Run& run, const std::function<bool(const Progress&)>& cut,
                                     const std::function<void(const Model&)>& after_piece) {
    while (true) {
        Run own = run;
        bool done = false;
        own.on_progress = [&](const Progress& progress) {
            done = (cut && cut(progress)) || done;
            run.report(progress);
        };
        own.should_stop = [&] { return done || run.stop_requested(); };
        auto model = method.fit({.points = Points::borrow(points)}, options, own);
        run.throw_if_stopped(method.name);
        if (after_piece) after_piece(*model);
        if (model->fit_report().stopped != StopReason::interrupted) return model;
    }
}

const std::vector<double>& numbers_of(const FitReport& report, const std::string& detail) {
    static const std::vector<double> none;
    for (const auto& [name, value] : report.details)
        if (name == detail) return std::get<std::vector<double>>(value);
    return none;
}

std::string summary_text(const SampleSummary& sample) {
    const std::string mean = fixed_text(sample.mean, 2);
    return sample.count > 1 ? mean + " ± " + fixed_text(sample.deviation, 2) : mean;
}

Json summary_json(const SampleSummary& sample) {
    Json out = {{"mean", sample.mean / 100}};
    if (sample.count > 1) out["deviation"] = sample.deviation / 100;
    return out;
}

Command reproduce_command() {
    Command command;
    command.name = "coterie-reproduce";
    command.summary = "repeat the tables and figures of a paper and compare them with the published ones";
    command.details =
        "Runs the protocol of a paper on the data that it used. COTERIE_DATA names the folder of these data. "
        "Prints the measured figures in the form of the paper, next to the published ones.";
    command.commands_are = "NAME";
    command.commands = {
        reproduce_cpd_uml_command(),        reproduce_dekm_coil_command(),  reproduce_dekm_mnist_command(),
        reproduce_dekm_usps_command(),      reproduce_entropy_em_command(), reproduce_entropy_linear_command(),
        reproduce_label_noise_command(),    reproduce_max_margin_command(), reproduce_ner_transfer_command(),
        reproduce_trefoil_lambda_command(), reproduce_trefoil_n_command(),  reproduce_two_moons_command(),
        reproduce_vgg4_mnist_command(),     reproduce_wmc_cifar_command()};
    command.examples = {{"coterie-reproduce cpd-uml --runs 3 --sets ecoli", "a quick look at one data set"}};
    return command;
}

}  // namespace coterie::cli
