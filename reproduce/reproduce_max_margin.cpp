// max-margin: checks the theorems about decisive clusters and margins on separable data sets. Besides the optimizer
// that users have, it runs solvers that converge to rounding (entropy/max_margin.hpp), so that an angle shows the
// theorem and not the solver. Each data set is one task, with its own seed.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/entropy/entropy.hpp"
#include "coterie/entropy/max_margin.hpp"
#include "coterie/entropy/training.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/linalg/dense.hpp"
#include "panels.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

using Classifier = LinearSoftmax<double>;

// `fairness` of the entropy loss. The theorems are about clusters of equal size. With fairness 1 and gamma 1e-5, the
// loss prefers a wider gap to equal sizes.
constexpr double enforced_fairness = 100;
constexpr double annealed_gamma = 1e-5;
constexpr double annealed_further = 1e-9;
// Newton's method uses gamma = 10^-decade.
constexpr std::array<double, 6> decades = {9, 14, 30, 100, 300, 1000};

struct Kind {
    Index dimensions;
    int clusters;
};
constexpr std::array<Kind, 4> kinds = {{{2, 2}, {2, 3}, {20, 2}, {20, 3}}};

enum Baseline { plain, soft, alternating, baselines };
constexpr std::array<const char*, baselines> baseline_names = {"k-means", "soft k-means", "miadm"};

// Normal points, with the same number per cluster. Each point is scored along K directions at equal angles in one
// plane, and kept if its best score is at least 0.5 above the next one. With two clusters, both are elongated, so that
// the partition of least variance is not the one of widest margin.
Matrix<double> separable_set(Kind kind, Index a_cluster, std::uint64_t seed) {
    RandomStream random(seed, "reproduce.max-margin", static_cast<std::uint64_t>(10 * kind.dimensions + kind.clusters));
    Matrix<double> axes(kind.dimensions, 2);  // orthonormal
    for (Index i = 0; i < axes.size(); ++i) axes.data()[i] = random.normal();
    axes.col(0).normalize();
    axes.col(1) -= axes.col(0).dot(axes.col(1)) * axes.col(0);
    axes.col(1).normalize();
    Matrix<double> directions(kind.clusters, 2);
    for (int k = 0; k < kind.clusters; ++k) {
        const double angle = 2 * std::numbers::pi * k / kind.clusters;
        directions.row(k) << std::cos(angle), std::sin(angle);
    }
    const double along = kind.clusters == 2 ? 2.0 : 1.0;
    std::vector<Index> left(static_cast<std::size_t>(kind.clusters), a_cluster);
    Matrix<double> out(a_cluster * kind.clusters, kind.dimensions);
    for (Index i = 0; i < out.rows();) {
        Vector<double> x(kind.dimensions);
        for (double& value : x) value = random.normal();
        const Eigen::Vector2d in_plane = axes.transpose() * x;
        x += (along - 1) * in_plane[1] * axes.col(1);
        Vector<double> scores = directions * Eigen::Vector2d(in_plane[0], along * in_plane[1]);
        Index own = 0;
        const double best = scores.maxCoeff(&own);
        scores[own] = -1e300;
        if (best - scores.maxCoeff() < 0.5 || left[static_cast<std::size_t>(own)] == 0) continue;
        --left[static_cast<std::size_t>(own)];
        out.row(i++) = x.transpose();
    }
    return out;
}

Classifier of_centroids(const Points& from) {
    const Matrix<double> centroids = to_matrix<double>(from);
    return {2 * centroids, -centroids.rowwise().squaredNorm()};
}

Labels labels_of(const Classifier& classifier, const Matrix<double>& points) {
    const Matrix<double> x = (points * classifier.weights.transpose()).rowwise() + classifier.bias.transpose();
    return internal::largest_columns(x);
}

std::vector<Index> sizes_of(const Labels& labels, int clusters) {
    std::vector<Index> out(static_cast<std::size_t>(clusters), 0);
    for (const auto label : labels) ++out[static_cast<std::size_t>(label)];
    return out;
}

// Whether the clusters are the same, up to their numbering.
bool same_clusters(const Labels& a, const Labels& b) { return adjusted_rand_index(a, b) == 1; }

// Converts to the units of a fit. The gamma of the theorems applies to || V ||^2, that of a fit to || s V ||^2. If
// first weights are drawn uniformly from +- a / sqrt(d), the root mean square of the logits is a * first_logits.
struct InUnits {
    InUnits(const Matrix<double>& points, int clusters) {
        const ColumnMoments moments = column_moments(points, Run(0, 1));
        const double s = internal::training_unit(moments, clusters);
        gamma_factor = 1 / (s * s);
        first_logits = std::sqrt(moments.variance.sum() / 3 / static_cast<double>(points.cols()));
    }
    double gamma_factor;
    double first_logits;  // for a = 1
};

// The annealed start with the lowest objective. A stop request to `whole` is noticed between two starts.
EntropyModel annealed(const Matrix<double>& points, int clusters, double gamma, int starts, std::uint64_t seed,
                      const Run& whole) {
    EntropyOptions options;
    options.fairness = enforced_fairness;
    options.clusters = clusters;
    options.loss = EntropyLoss::mi;
    options.optimizer = Optimizer::lbfgs;
    const InUnits units(points, clusters);
    options.gamma = units.gamma_factor * gamma;
    options.epochs = 12;
    std::optional<EntropyModel> best;
    for (int start = 0; start < starts; ++start) {
        whole.throw_if_stopped("fits");
        // With a large first gamma or small weights, all starts find the same pair of clusters, along the direction of
        // largest variance.
        options.gamma_start = units.gamma_factor * std::max(gamma, std::pow(10, -1 - start % 5));
        options.start_scale = units.first_logits * std::pow(10, 0.5 * (start % 4));
        Run run(seed + 1000003 * static_cast<std::uint64_t>(start), 1);
        EntropyModel model = fit_entropy(points, options, run);
        if (!best || model.fit_report().objective < best->fit_report().objective) best = std::move(model);
    }
    return *best;
}

const Classifier& classifier_of(const SoftmaxModel& model) { return std::get<Classifier>(model.linear()); }

Classifier baseline_of(Baseline baseline, const Matrix<double>& points, int clusters, int starts, std::uint64_t seed,
                       const Run& whole) {
    whole.throw_if_stopped("fits");
    Run run(seed, 1);
    if (baseline == plain) {
        KMeansOptions options;
        options.clusters = clusters;
        options.restarts = 10;
        return of_centroids(fit_kmeans(points, options, run).centroids());
    }
    if (baseline == soft) {
        SoftKMeansOptions options;
        options.clusters = clusters;
        options.restarts = 10;
        return of_centroids(fit_soft_kmeans(points, options, run).centroids());
    }
    MiadmOptions options;
    options.clusters = clusters;
    options.optimizer = Optimizer::lbfgs;
    const InUnits units(points, clusters);
    options.gamma = units.gamma_factor * annealed_gamma;
    options.epochs = 12;
    std::optional<MiadmModel> best;
    for (int start = 0; start < starts; ++start) {
        whole.throw_if_stopped("fits");
        options.gamma_start = units.gamma_factor * std::pow(10, -1 - start % 5);
        options.start_scale = units.first_logits * std::pow(10, 0.5 * (start % 4));
        Run again(seed + 1000003 * static_cast<std::uint64_t>(start), 1);
        MiadmModel model = fit_miadm(points, options, again);
        if (!best || model.fit_report().objective < best->fit_report().objective) best = std::move(model);
    }
    return classifier_of(*best);
}

struct Against {
    bool lost = false;  // it lost a cluster, so there is no margin to compare
    double margin = 0;  // of the baseline's classifier
    double gap = 0;     // the widest margin for its labels
    bool fair = false;
};

struct Outcome {
    bool fair = false;            // the clusters have equal sizes; otherwise nothing else is measured
    double degrees = 0;           // L-BFGS at annealed_gamma
    double degrees_further = -1;  // at annealed_further; negative if the clusters there have unequal sizes
    std::array<double, decades.size()> degrees_newton{};
    double margin = 0;  // of the classifier at annealed_gamma
    double gap = 0;     // the widest margin for its labels
    std::array<double, decades.size()> margin_newton{};
    std::array<Against, baselines> against{};
};

Outcome outcome_of(Kind kind, Index a_cluster, int starts, std::uint64_t seed, const Run& whole) {
    const Matrix<double> points = separable_set(kind, a_cluster, seed);
    const std::vector<Index> equal(static_cast<std::size_t>(kind.clusters), a_cluster);
    Outcome out;
    const EntropyModel model = annealed(points, kind.clusters, annealed_gamma, starts, seed, whole);
    if (model.fit_report().sizes != equal) return out;
    out.fair = true;
    const Classifier best = internal::hard_margin(points, model.labels(), kind.clusters);
    out.gap = internal::margin(points, best, model.labels());
    out.margin = internal::margin(points, classifier_of(model), model.labels());
    out.degrees = internal::degrees_between(classifier_of(model), best);
    Classifier minimum = classifier_of(model);
    for (std::size_t g = 0; g < decades.size(); ++g) {
        minimum = internal::decisive_minimum(points, model.labels(), minimum, decades[g]);
        out.degrees_newton[g] = internal::degrees_between(minimum, best);
        out.margin_newton[g] = internal::margin(points, minimum, model.labels());
    }
    const EntropyModel further = annealed(points, kind.clusters, annealed_further, starts, seed, whole);
    if (further.fit_report().sizes == equal)
        out.degrees_further = internal::degrees_between(classifier_of(further),
                                                        internal::hard_margin(points, further.labels(), kind.clusters));
    for (int r = 0; r < baselines; ++r) {
        const Classifier baseline = baseline_of(static_cast<Baseline>(r), points, kind.clusters, starts, seed, whole);
        const Labels labels = labels_of(baseline, points);
        const std::vector<Index> sizes = sizes_of(labels, kind.clusters);
        Against& against = out.against[static_cast<std::size_t>(r)];
        against.lost = std::count(sizes.begin(), sizes.end(), 0) > 0;
        if (against.lost) continue;
        against.fair = sizes == equal;
        against.margin = internal::margin(points, baseline, labels);
        against.gap = internal::margin(points, internal::hard_margin(points, labels, kind.clusters), labels);
    }
    return out;
}

// ---------------------------------------------------------------- the figures

Panel panel_of(std::string title, const Matrix<double>& points, const Classifier& classifier) {
    const Labels labels = labels_of(classifier, points);
    return {std::move(title),
            filled("margin {}, sizes {}", number_text(internal::margin(points, classifier, labels)),
                   sizes_text(sizes_of(labels, static_cast<int>(classifier.bias.size())))),
            points,
            labels,
            [classifier](const Matrix<double>& places) { return labels_of(classifier, places); },
            {},
            {}};
}

// Soft k-means that starts from the means of the given clusters.
Classifier soft_from(const Matrix<double>& points, const Labels& labels, double temperature) {
    SoftKMeansOptions options;
    options.clusters = 2;
    options.temperature = temperature;
    Matrix<double> means = Matrix<double>::Zero(2, points.cols());
    const std::vector<Index> sizes = sizes_of(labels, 2);
    for (Index i = 0; i < points.rows(); ++i) {
        const Index own = labels[static_cast<std::size_t>(i)];
        means.row(own) += points.row(i) / static_cast<double>(sizes[static_cast<std::size_t>(own)]);
    }
    Run run(0, 1);
    return of_centroids(
        fit_soft_kmeans({.points = Points::borrow(points), .initial_centroids = Points::borrow(means)}, options, run)
            .centroids());
}

Classifier soft_global(const Matrix<double>& points, double temperature) {
    SoftKMeansOptions options;
    options.clusters = 2;
    options.temperature = temperature;
    options.restarts = 20;
    Run run(0, 1);
    return of_centroids(fit_soft_kmeans(points, options, run).centroids());
}

struct CrossCheck {
    Classifier entropy_global, entropy_local, soft_local, soft_global;
    bool entropy_returns;  // the entropy loss goes from the local minimum of soft k-means to its own global one
    bool soft_returns;     // soft k-means goes from the local minimum of the entropy loss to its own global one
};

CrossCheck cross_check(const Matrix<double>& points, int starts, const Run& whole) {
    CrossCheck out;
    out.entropy_global = classifier_of(annealed(points, 2, annealed_gamma, starts, 0, whole));
    out.soft_global = soft_global(points, annealed_gamma);
    const Labels widest = labels_of(out.entropy_global, points);
    out.soft_local = soft_from(points, widest, annealed_gamma);
    out.entropy_local =
        internal::decisive_and_fair(points, out.soft_global, annealed_gamma, enforced_fairness).classifier;
    out.entropy_returns = same_clusters(
        labels_of(internal::decisive_and_fair(points, out.soft_local, annealed_gamma, enforced_fairness).classifier,
                  points),
        widest);
    out.soft_returns =
        same_clusters(labels_of(soft_from(points, labels_of(out.entropy_local, points), annealed_gamma), points),
                      labels_of(out.soft_global, points));
    return out;
}

std::string figure(const Matrix<double>& two, const Matrix<double>& three, const CrossCheck& check, int starts,
                   const Run& whole) {
    const std::uint64_t seed = whole.seed;
    std::vector<Panel> panels;
    panels.push_back(panel_of("Figure 1a: k-means", two, baseline_of(plain, two, 2, starts, seed, whole)));
    panels.push_back(panel_of("Figure 1b: entropy", two, check.entropy_global));
    panels.push_back(panel_of("Figure 8a: k-means", three, baseline_of(plain, three, 3, starts, seed, whole)));
    panels.push_back(
        panel_of("Figure 8b: entropy", three, classifier_of(annealed(three, 3, annealed_gamma, starts, seed, whole))));
    panels.push_back(panel_of("Figure 3a: entropy, global", two, check.entropy_global));
    panels.push_back(panel_of("Figure 3b: entropy, local, from d", two, check.entropy_local));
    panels.push_back(panel_of("Figure 3c: soft k-means, from a", two, check.soft_local));
    panels.push_back(panel_of("Figure 3d: soft k-means, global", two, check.soft_global));
    const std::array<double, 4> gammas = {1e-5, 1e-3, 0.01, 0.1};
    for (const double gamma : gammas)
        panels.push_back(panel_of("Figure 4: entropy, gamma " + number_text(gamma), two,
                                  classifier_of(annealed(two, 2, gamma, starts, seed, whole))));
    for (const double gamma : gammas)
        panels.push_back(panel_of("Figure 4: soft k-means, gamma " + number_text(gamma), two, soft_global(two, gamma)));
    return panels_picture(
        panels, 4,
        {"Decisive and fair clusters compared with compact ones", "one data set of two clusters, one of three"});
}

// ---------------------------------------------------------------- the tables

struct MaxMarginRequest {
    int sets = 50;
    int points = 30;
    int starts = 10;
    std::string figure;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<MaxMarginRequest>()
                .integer("sets", &MaxMarginRequest::sets, at_least(1), "data sets of each of the four kinds")
                .integer("points", &MaxMarginRequest::points, between(5, 500), "rows per cluster")
                .integer("starts", &MaxMarginRequest::starts, at_least(1),
                         "starts of each minimisation; the lowest objective counts");
        return set;
    }
};

struct Angles {
    int within = 0;
    double worst = 0;
    double mean = 0;
};
Angles angles_of(const std::vector<double>& degrees) {
    Angles out;
    for (const double each : degrees) {
        out.within += each < 1;
        out.worst = std::max(out.worst, each);
        out.mean += each / static_cast<double>(degrees.size());
    }
    return out;
}

// The tables of angles and of margins. Each kind of data set adds a column to both.
struct Tables {
    std::vector<std::string> header = {"within 1 degree (worst, mean)"};
    std::vector<std::vector<std::string>> angles, margins;

    Tables() : angles(2 + decades.size()), margins(3 + 4 * baselines) {
        angles[0] = {"L-BFGS, gamma " + number_text(annealed_gamma)};
        angles[1] = {"L-BFGS, gamma " + number_text(annealed_further)};
        for (std::size_t g = 0; g < decades.size(); ++g)
            angles[2 + g] = {"Newton, gamma 1e-" + number_text(decades[g])};
        margins[0] = {"margin / widest, gamma 1e-5"};
        margins[1] = {"margin / widest, gamma 1e-" + number_text(decades.back())};
        margins[2] = {"data sets with clusters of equal size"};
        for (std::size_t r = 0; r < baselines; ++r) {
            const std::string name = baseline_names[r];
            margins[3 + 4 * r] = {name + ": lost a cluster (not in the next rows)"};
            margins[4 + 4 * r] = {name + ": its margin is at most ours"};
            margins[5 + 4 * r] = {name + ": the widest margin of its labels is at most ours"};
            margins[6 + 4 * r] = {name + ": the same, if its clusters have equal sizes"};
        }
    }
    std::string text() const {
        std::vector<std::string> margin_header = header;
        margin_header[0] = "margins";
        return table(header, angles, {1, 2, 3, 4}) + "\n" + table(margin_header, margins, {1, 2, 3, 4});
    }
};

// The outcomes with clusters of equal size, of one kind of data set.
using FairOutcomes = std::vector<const Outcome*>;

// Adds the angles of one solver, of(outcome), to the tables and to the document.
template <class Of>
void add_angles(const FairOutcomes& fair, std::size_t row, const char* solver, double log_gamma, Of&& of,
                Tables& tables, Json& one) {
    std::vector<double> degrees;
    for (const Outcome* each : fair)
        if (of(*each) >= 0) degrees.push_back(of(*each));
    const Angles found = angles_of(degrees);
    tables.angles[row].push_back(
        filled("{} of {} ({}, {})", found.within, degrees.size(), number_text(found.worst), number_text(found.mean)));
    one["angles"].push_back({{"solver", solver},
                             {"log10_gamma", log_gamma},
                             {"sets", degrees.size()},
                             {"within_one_degree", found.within},
                             {"worst", found.worst},
                             {"mean", found.mean}});
}

// Adds the margins of one solver, of(outcome), divided by the widest ones.
template <class Of>
void add_shares(const FairOutcomes& fair, std::size_t row, const char* key, Of&& of, Tables& tables, Json& one) {
    double least = 1;
    double mean = 0;
    for (const Outcome* each : fair) {
        least = std::min(least, of(*each) / each->gap);
        mean += of(*each) / each->gap / static_cast<double>(fair.size());
    }
    tables.margins[row].push_back(fair.empty() ? "" : filled("{} (least {})", share_text(mean), share_text(least)));
    one[key] = {{"mean", mean}, {"least", least}};
}

// Compares the margins with those of one baseline.
void add_baseline(const FairOutcomes& fair, std::size_t r, Tables& tables, Json& one) {
    int lost = 0;
    int margin_holds = 0;
    int gap_holds = 0;
    int comparable = 0;
    int comparable_holds = 0;
    for (const Outcome* each : fair) {
        const Against& against = each->against[r];
        lost += against.lost;
        if (against.lost) continue;
        // The same labels give the same gap up to rounding.
        const bool wider = each->gap >= against.gap * (1 - 1e-6);
        margin_holds += each->margin >= against.margin;
        gap_holds += wider;
        comparable += against.fair;
        comparable_holds += against.fair && wider;
    }
    const std::string of = " of " + std::to_string(static_cast<int>(fair.size()) - lost);
    auto* const rows = tables.margins.data() + 3 + 4 * r;
    rows[0].push_back(filled("{} of {}", lost, fair.size()));
    rows[1].push_back(std::to_string(margin_holds) + of);
    rows[2].push_back(std::to_string(gap_holds) + of);
    rows[3].push_back(filled("{} of {}", comparable_holds, comparable));
    one["baselines"].push_back({{"name", baseline_names[r]},
                                {"lost_a_cluster", lost},
                                {"margin_at_most_ours", margin_holds},
                                {"gap_at_most_ours", gap_holds},
                                {"equal_sizes", comparable},
                                {"equal_sizes_gap_at_most_ours", comparable_holds}});
}

// Adds a kind of data set to the tables. Returns its part of the document.
Json add_kind(Kind kind, std::span<const Outcome> outcomes, Tables& tables) {
    tables.header.push_back(filled("{}-D, K = {}", kind.dimensions, kind.clusters));
    FairOutcomes fair;
    for (const Outcome& each : outcomes)
        if (each.fair) fair.push_back(&each);
    Json one = {{"dimensions", kind.dimensions}, {"clusters", kind.clusters}, {"equal_sizes", fair.size()}};
    add_angles(
        fair, 0, "lbfgs", -5, [](const Outcome& o) { return o.degrees; }, tables, one);
    add_angles(
        fair, 1, "lbfgs", -9, [](const Outcome& o) { return o.degrees_further; }, tables, one);
    for (std::size_t g = 0; g < decades.size(); ++g)
        add_angles(
            fair, 2 + g, "newton", -decades[g], [g](const Outcome& o) { return o.degrees_newton[g]; }, tables, one);
    add_shares(
        fair, 0, "margin_share", [](const Outcome& o) { return o.margin; }, tables, one);
    add_shares(
        fair, 1, "margin_share_newton", [](const Outcome& o) { return o.margin_newton.back(); }, tables, one);
    tables.margins[2].push_back(filled("{} of {}", fair.size(), outcomes.size()));
    for (std::size_t r = 0; r < baselines; ++r) add_baseline(fair, r, tables, one);
    return one;
}

// The outcomes of all data sets: those of the first kind, then those of the second, and so on.
std::vector<Outcome> all_outcomes(const MaxMarginRequest& request, const Run& run) {
    const Index count = request.sets;
    std::vector<Outcome> all(kinds.size() * static_cast<std::size_t>(count));
    for_each_block(static_cast<Index>(all.size()), run.threads, [&](Index cell, int) {
        all[static_cast<std::size_t>(cell)] =
            outcome_of(kinds[static_cast<std::size_t>(cell / count)], request.points, request.starts,
                       run.seed + static_cast<std::uint64_t>(cell % count), run);
    });
    return all;
}

int reproduce(const MaxMarginRequest& request) {
    check_outputs(*request.running, {}, {{"figure", request.figure, {".svg"}}});
    Run run = request.running->run();
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    const std::vector<Outcome> all = all_outcomes(request, run);
    const Matrix<double> two = separable_set({2, 2}, request.points, run.seed);
    const CrossCheck check = cross_check(two, 20, run);
    if (!request.figure.empty())
        write_file(request.figure, figure(two, separable_set({2, 3}, request.points, run.seed), check, 20, run));

    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "max-margin";
    out["options"] = json_of(MaxMarginRequest::described(), MaxMarginRequest::described().values(&request));
    out["seed"] = request.running->seed;
    Tables tables;
    const auto count = static_cast<std::size_t>(request.sets);
    for (std::size_t k = 0; k < kinds.size(); ++k)
        out["kinds"].push_back(add_kind(kinds[k], std::span(all).subspan(k * count, count), tables));
    const auto margin_of = [&](const Classifier& classifier) {
        return internal::margin(two, classifier, labels_of(classifier, two));
    };
    out["cross_check"] = {{"entropy_global_margin", margin_of(check.entropy_global)},
                          {"entropy_local_margin", margin_of(check.entropy_local)},
                          {"soft_kmeans_local_margin", margin_of(check.soft_local)},
                          {"soft_kmeans_global_margin", margin_of(check.soft_global)},
                          {"entropy_returns", check.entropy_returns},
                          {"soft_kmeans_returns", check.soft_returns}};
    if (request.running->json) {
        print(document(out));
        return Exit::done;
    }
    print(tables.text() + "\n" +
          table({"Figure 3", "margin", "the other method, started there"},
                {{"a: entropy, global", number_text(margin_of(check.entropy_global)), "finds c"},
                 {"b: entropy, local", number_text(margin_of(check.entropy_local)),
                  check.soft_returns ? "returns to d" : "finds other clusters than d"},
                 {"c: soft k-means, local", number_text(margin_of(check.soft_local)),
                  check.entropy_returns ? "returns to a" : "finds other clusters than a"},
                 {"d: soft k-means, global", number_text(margin_of(check.soft_global)), "finds b"}},
                {1}));
    return Exit::done;
}

}  // namespace

Command reproduce_max_margin_command() {
    const auto request = std::make_shared<MaxMarginRequest>();
    Command command;
    command.name = "max-margin";
    command.summary = "decisive clusters and the widest margin: theorems 2 to 4, Figures 1, 3, 4 and 8";
    command.details =
        "Draws separable data sets in 2 and 20 columns, with two and three clusters of equal size. Minimises the "
        "entropy loss (entropy --loss mi --optimizer lbfgs) with gamma decreasing to 1e-5 and 1e-9. If the clusters "
        "found have equal sizes, compares the classifier with the hard-margin support vector machine for its labels. "
        "Newton's method then follows the minimiser of regularised decisiveness, down to gammas below the smallest "
        "double. Margins follow definition 3, at weights of Frobenius norm 1. The figures show the first data sets "
        "with two columns.";
    command.flags = flags_of(MaxMarginRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(text_flag("--figure", "FILE.svg", "draw Figures 1, 3, 4 and 8 in one file", "Writing",
                                      request->figure, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--json"}));
    command.examples = {
        {"coterie-reproduce max-margin --sets 10 --figure margins.svg", "a quick look, and the picture"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
