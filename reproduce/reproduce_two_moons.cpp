// two-moons: how often CPD-UML separates two moons. Labels by the true density are the upper bound, except for luck.
// Each pair of moons is one task, with its own seed. All ways of labelling use the same pairs.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/deformation/cpd.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/kmeans/kernel_kmeans.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/selection/tune.hpp"
#include "panels.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct Moons {
    Matrix<double> points;
    Labels truth;
};

// The point of a noise-free moon at `share` of its length, from 0 to 1.
Eigen::RowVector2d on_moon(bool second, double share) {
    const double angle = std::numbers::pi * share;
    return second ? Eigen::RowVector2d(1 - std::cos(angle), 0.5 - std::sin(angle))
                  : Eigen::RowVector2d(std::cos(angle), std::sin(angle));
}

Moons moons(Index n, double noise, std::uint64_t seed) {
    RandomStream random(seed, "reproduce.two-moons");
    Moons out{Matrix<double>(n, 2), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        const bool second = i >= n / 2;
        out.points.row(i) =
            on_moon(second, static_cast<double>(second ? i - n / 2 : i) / static_cast<double>(n / 2 - 1));
        for (Index j = 0; j < 2; ++j) out.points(i, j) += noise * random.normal();
        out.truth[static_cast<std::size_t>(i)] = second ? 1 : 0;
    }
    return out;
}

// Labels by the density that the points were drawn from. Only luck gives a higher accuracy.
Labels by_density(const Matrix<double>& points, double noise) {
    constexpr int places = 400;
    Labels out(static_cast<std::size_t>(points.rows()));
    for (Index i = 0; i < points.rows(); ++i) {
        double density[2] = {0, 0};
        for (int moon = 0; moon < 2; ++moon)
            for (int p = 0; p < places; ++p)
                density[moon] += std::exp(-(points.row(i) - on_moon(moon == 1, p / (places - 1.0))).squaredNorm() /
                                          (2 * noise * noise));
        out[static_cast<std::size_t>(i)] = density[1] > density[0] ? 1 : 0;
    }
    return out;
}

CpdOptions recipe() {
    CpdOptions options;
    options.clusters = 2;
    options.damping = 0.5;
    options.assignments_per_round = 1;
    return options;
}

struct TwoMoonsRequest {
    int seeds = 40;
    int points = 200;
    std::string figure_1;
    std::string figure_2;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<TwoMoonsRequest>()
                .integer("seeds", &TwoMoonsRequest::seeds, at_least(1), "pairs of moons per noise level")
                .integer("points", &TwoMoonsRequest::points, between(20, 20000), "points per pair");
        return set;
    }
};

// The ways to label a pair, and their ACC.
enum Way { plain, by_recipe, by_choice, with_plain, at_best, ways };
constexpr std::array<const char*, ways> way_names = {"k-means, 10 restarts", "cpd, the recipe", "cpd, chosen by knncut",
                                                     "the same, k-means competing", "by the true density"};
using Accuracies = std::array<double, ways>;

Accuracies accuracies_of(const Moons& sample, double noise, std::uint64_t seed) {
    Run run(seed, 1);
    Accuracies out{};
    KMeansOptions kmeans;
    kmeans.clusters = 2;
    kmeans.restarts = 10;
    out[plain] = accuracy(fit_kmeans(sample.points, kmeans, run).labels(), sample.truth);
    const CpdOptions options = recipe();
    out[by_recipe] = accuracy(fit_cpd(sample.points, options, run).labels(), sample.truth);
    const Method& cpd = find_method("cpd");
    TuneOptions search;
    search.select = Criterion::knncut;
    for (const char* axis : {"sigma_rel=1,1.05", "lambda_rel=0.0025,0.003,0.0035", "damping=0.3,0.5"})
        search.grid.push_back(read_grid_axis(cpd, axis));
    const OptionValues fixed = {{"clusters", 2}, {"assignments_per_round", 1}};
    for (const Way way : {by_choice, with_plain}) {
        search.with_kmeans = way == with_plain;
        const TuneResult found = tune({.points = Points::borrow(sample.points)}, {cpd, fixed}, search, {}, run);
        const Method& best = find_method(found.best_method);
        out[way] = accuracy(best.fit({.points = Points::borrow(sample.points)}, found.best_options, run)->labels(),
                            sample.truth);
    }
    out[at_best] = accuracy(by_density(sample.points, noise), sample.truth);
    return out;
}

Panel panel_of(std::string title, const Matrix<double>& points, const Model& model, const Labels& truth) {
    return {std::move(title),
            "ACC " + share_text(accuracy(model.labels(), truth)),
            points,
            model.labels(),
            [&model](const Matrix<double>& places) { return model.predict(places, Run()); },
            {},
            {}};
}

// The lines of a square grid, moved by the deformation.
std::vector<Matrix<double>> bent_grid(const Matrix<double>& points, const CpdModel& model) {
    constexpr int lines = 21;
    constexpr int places = 101;
    const Eigen::RowVector2d low = points.colwise().minCoeff();
    const Eigen::RowVector2d high = points.colwise().maxCoeff();
    std::vector<Matrix<double>> out;
    for (int across = 0; across < 2; ++across)
        for (int line = 0; line < lines; ++line) {
            Matrix<double> way(places, 2);
            for (int p = 0; p < places; ++p) {
                way(p, across) = low[across] + (high[across] - low[across]) * line / (lines - 1);
                way(p, 1 - across) = low[1 - across] + (high[1 - across] - low[1 - across]) * p / (places - 1);
            }
            out.push_back(model.transform(way, Run()));
        }
    return out;
}

std::string figure_1(const Moons& sample, const Run& run) {
    KMeansOptions kmeans;
    kmeans.clusters = 2;
    kmeans.restarts = 10;
    const KMeansModel straight = fit_kmeans(sample.points, kmeans, run);
    const CpdModel bent = fit_cpd(sample.points, recipe(), run);
    const Matrix<double> moved = bent.transform(sample.points, run);
    std::vector<Panel> panels = {panel_of("(a) k-means", sample.points, straight, sample.truth),
                                 panel_of("(b) CPD-UML", sample.points, bent, sample.truth)};
    const Matrix<double> shift = sample.points.rowwise() - sample.points.colwise().mean();
    panels.push_back({"(c) the motion of each point", "around the mean", shift, bent.labels(), {}, moved, {}});
    panels.push_back({"(d) a square grid after the deformation",
                      "with the points",
                      moved,
                      bent.labels(),
                      {},
                      {},
                      bent_grid(sample.points, bent)});
    return panels_picture(panels, 2, {"Two moons", "clusters by k-means and by CPD-UML, and the deformation"});
}

struct Widths {
    double width;
    double kernel_kmeans;
    double cpd;
};

// Figure 2: kernel k-means and the kernel form of CPD-UML at four widths, on points multiplied by 10.
std::vector<Widths> figure_2(const Moons& sample, Run& run, std::string& picture) {
    std::vector<Widths> out;
    std::vector<Panel> panels;
    std::vector<std::unique_ptr<Model>> models;
    const Matrix<double> points = 10 * sample.points;
    for (const double width : {4.0, 8.0, 16.0, 32.0}) {
        KernelKMeansOptions kernel;
        kernel.clusters = 2;
        kernel.width = width;
        kernel.restarts = 10;
        models.push_back(std::make_unique<KernelKMeansModel>(fit_kernel_kmeans(points, kernel, run)));
        panels.push_back(panel_of("kernel k-means, width " + number_text(width), points, *models.back(), sample.truth));
        out.push_back({width, accuracy(models.back()->labels(), sample.truth), 0});
    }
    for (auto& one : out) {
        CpdOptions options = recipe();
        options.kernel = SpaceKernel::rbf;
        options.kernel_width = one.width;
        models.push_back(std::make_unique<CpdModel>(fit_cpd(points, options, run)));
        panels.push_back(
            panel_of("CPD-UML, kernel width " + number_text(one.width), points, *models.back(), sample.truth));
        one.cpd = accuracy(models.back()->labels(), sample.truth);
    }
    picture = panels_picture(panels, 4, {"Two moons in feature space", "decision regions at four kernel widths"});
    return out;
}

int reproduce(const TwoMoonsRequest& request) {
    check_outputs(*request.running, {},
                  {{"figure_1", request.figure_1, {".svg"}}, {"figure_2", request.figure_2, {".svg"}}});
    Run run = request.running->run();
    const std::vector<double> noises = {0.05, 0.1, 0.12, 0.15};
    const Index count = request.seeds;
    std::vector<Accuracies> all(noises.size() * static_cast<std::size_t>(count));
    for_each_block(static_cast<Index>(all.size()), run.threads, [&](Index cell, int) {
        const double noise = noises[static_cast<std::size_t>(cell / count)];
        const std::uint64_t seed = run.seed + static_cast<std::uint64_t>(cell % count);
        all[static_cast<std::size_t>(cell)] = accuracies_of(moons(request.points, noise, seed), noise, seed);
    });
    const Moons sample = moons(request.points, 0.08, run.seed);
    if (!request.figure_1.empty()) write_file(request.figure_1, figure_1(sample, run));
    std::string picture;
    const auto widths = figure_2(sample, run, picture);
    if (!request.figure_2.empty()) write_file(request.figure_2, picture);

    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "two-moons";
    out["options"] = json_of(TwoMoonsRequest::described(), TwoMoonsRequest::described().values(&request));
    out["seed"] = request.running->seed;
    std::vector<std::string> header = {"ACC 0.99 or more, of " + std::to_string(count) + " (mean)"};
    std::vector<std::vector<std::string>> rows(ways);
    for (std::size_t way = 0; way < ways; ++way) rows[way].emplace_back(way_names[way]);
    for (std::size_t level = 0; level < noises.size(); ++level) {
        header.push_back("noise " + number_text(noises[level]));
        Json one = {{"noise", noises[level]}};
        for (std::size_t way = 0; way < ways; ++way) {
            int good = 0;
            double sum = 0;
            double least = 1;
            for (Index s = 0; s < count; ++s) {
                const double acc = all[level * static_cast<std::size_t>(count) + static_cast<std::size_t>(s)][way];
                good += acc >= 0.99 - 1e-12;
                sum += acc;
                least = std::min(least, acc);
            }
            rows[way].push_back(std::to_string(good) + " (" + share_text(sum / static_cast<double>(count)) + ")");
            one["ways"].push_back({{"name", way_names[way]},
                                   {"at_least_0.99", good},
                                   {"mean", sum / static_cast<double>(count)},
                                   {"least", least}});
        }
        out["levels"].push_back(std::move(one));
    }
    std::vector<std::vector<std::string>> width_rows;
    for (const auto& one : widths) {
        width_rows.push_back({number_text(one.width), share_text(one.kernel_kmeans), share_text(one.cpd)});
        out["kernel_widths"].push_back({{"width", one.width}, {"kernel_kmeans", one.kernel_kmeans}, {"cpd", one.cpd}});
    }
    if (request.running->json) {
        print(document(out));
        return Exit::done;
    }
    print(table(header, rows, {1, 2, 3, 4}) + "\n" +
          table({"kernel width", "kernel k-means ACC", "CPD-UML ACC"}, width_rows, {0, 1, 2}));
    return Exit::done;
}

}  // namespace

Command reproduce_two_moons_command() {
    const auto request = std::make_shared<TwoMoonsRequest>();
    Command command;
    command.name = "two-moons";
    command.summary = "CPD-UML on two moons: how often it separates them, Figures 1 and 2";
    command.details =
        "Draws pairs of moons at four noise levels. Labels them by k-means and by the recipe of docs/deformation.md "
        "(cpd --damping 0.5 --assignments-per-round 1). Then chooses, from a small grid around the recipe, the cell "
        "with the least normalised cut of the 10-nearest-neighbour graph. Labels by the true density are the upper "
        "bound. The figures show the first seed at noise 0.08; Figure 2 multiplies the points by 10.";
    command.flags = flags_of(TwoMoonsRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(
        text_flag("--figure-1", "FILE.svg", "draw clusters and deformation", "Writing", request->figure_1, request));
    command.flags.push_back(text_flag("--figure-2", "FILE.svg", "draw decision regions at four kernel widths",
                                      "Writing", request->figure_2, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--json"}));
    command.examples = {
        {"coterie-reproduce two-moons --seeds 5 --figure-1 moons.svg", "a quick look, and the picture"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
