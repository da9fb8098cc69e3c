// One task per k fits the points. One task per reference set and one per halving fit all k. Each task uses a child of
// the run, so results do not depend on the number of threads. A task holds only its own points in memory.

#include "coterie/selection/choose_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

#include "coterie/base/checks.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/criteria.hpp"
#include "coterie/selection/internal/many_fits.hpp"

namespace coterie {
namespace {

constexpr Index most_points = 2000;
constexpr Index most_points_in_memory = 1000;  // for methods whose time grows faster than the number of rows
constexpr int most_clusters = 30;
constexpr int references = 20;
constexpr int halvings = 10;
constexpr double unknown_value = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

std::size_t place(int value) { return static_cast<std::size_t>(value); }

// The rows that the criteria use: all prepared rows, or a sample of them.
Points sampled(const PreparedProblem& prepared, const Method& method, const Run& run) {
    const Points& points = prepared.problem.points;
    RandomStream random = run.random("selection.sample");
    return selection::internal::rows_in_memory(
        points, sample_rows(points.rows(), method.takes.blocks ? most_points : most_points_in_memory, random), run);
}

std::vector<int> tried(const ChooseOptions& options, Index n) {
    if (options.clusters.empty()) {
        const int highest = std::clamp(static_cast<int>(std::sqrt(static_cast<double>(n))), 1, most_clusters);
        std::vector<int> out(place(highest));
        std::iota(out.begin(), out.end(), 1);
        return out;
    }
    for (std::size_t i = 0; i < options.clusters.size(); ++i)
        if (options.clusters[i] < 1 || (i > 0 && options.clusters[i] <= options.clusters[i - 1]))
            throw refused_option("clusters", std::int64_t{options.clusters[i]},
                                 "whole numbers, at least 1, ascending, each once");
    return options.clusters;
}

// Fits of one set of points for several k.
class Fits {
public:
    Fits(const Method& method, Points points, const OptionValues& fixed, const Run& run)
        : problem_{.points = std::move(points)}, fixed_(fixed), run_(run), fitter_(method.fitter(problem_, run_)) {}
    Fits(const Fits&) = delete;
    Fits& operator=(const Fits&) = delete;

    const Points& points() const { return problem_.points; }
    const Run& run() const { return run_; }
    std::unique_ptr<Model> operator()(int clusters) const {
        run_.throw_if_stopped("the choice of the number of clusters");
        OptionValues options = fixed_;
        options["clusters"] = std::int64_t{clusters};
        auto model = fitter_(options);
        if (model->fit_report().stopped == StopReason::interrupted)
            throw Cancelled::during("the choice of the number of clusters");
        return model;
    }

private:
    Problem problem_;
    const OptionValues& fixed_;
    Run run_;
    Method::Fitter fitter_;
};

double log_scatter(PointsView points, LabelSpan labels, const Run& run) {
    return std::log(within_scatter(points, labels, run));
}

// Draws uniformly from the box around the points along their principal axes.
class Box {
public:
    Box(PointsView points, const Run& run)
        : axes_(principal_axes(points, static_cast<int>(std::min(points.columns(), points.rows())), run)),
          rows_(points.rows()) {
        const Matrix<double> along = project(points, axes_, run);
        low_ = along.colwise().minCoeff();
        extent_ = along.colwise().maxCoeff().transpose() - low_;
    }
    Points draw(const Run& run) const {
        RandomStream random = run.random("selection.reference");
        Matrix<double> along(rows_, axes_.axes.rows());
        for (Index i = 0; i < along.rows(); ++i)
            for (Index c = 0; c < along.cols(); ++c) along(i, c) = low_[c] + extent_[c] * random.uniform();
        Matrix<double> out = along * axes_.axes;
        out.rowwise() += axes_.mean.transpose();
        return Points(std::move(out));
    }

private:
    PrincipalAxes axes_;
    Index rows_;
    Vector<double> low_, extent_;
};

// The share of points whose clusters differ under the best matching.
double disagreement(LabelSpan a, LabelSpan b) { return 1.0 - accuracy(a, b); }

// Results of the halvings, by k. Each halving counts in both directions.
struct HalvingResult {
    Numbers disagreement, chance, strength;
    explicit HalvingResult(std::size_t ks)
        : disagreement(ks, unknown_value), chance(ks, unknown_value), strength(ks, unknown_value) {}
};

HalvingResult halve(const Method& method, const Points& points, const OptionValues& fixed, const std::vector<int>& ks,
                    const Run& run) {
    HalvingResult out(ks.size());
    std::vector<Index> order(static_cast<std::size_t>(points.rows()));
    std::iota(order.begin(), order.end(), Index{0});
    RandomStream random = run.random("selection.halves");
    shuffle(order, random);
    const auto middle = order.begin() + points.rows() / 2;
    std::sort(order.begin(), middle);
    std::sort(middle, order.end());
    const Fits first(method, rows_of(points, std::vector<Index>(order.begin(), middle)), fixed, run);
    const Fits second(method, rows_of(points, std::vector<Index>(middle, order.end())), fixed, run);
    const Fits* const halves[] = {&first, &second};
    for (std::size_t at = 0; at < ks.size(); ++at) {
        const int k = ks[at];
        if (k == 1) {
            out.strength[at] = 1.0;
            continue;
        }
        selection::internal::recorded([&] {
            const std::unique_ptr<Model> models[] = {first(k), second(k)};
            double differ = 0, chance = 0, strength = 0;
            for (const int half : {0, 1}) {
                const Labels& labels = models[half]->labels();
                const Labels predicted = models[1 - half]->predict(halves[half]->points(), run);
                differ += 0.5 * disagreement(labels, predicted);
                strength += 0.5 * prediction_strength(labels, predicted);
                RandomStream draw = run.random("selection.chance", static_cast<std::uint64_t>(2 * k + half));
                Labels one, other;
                for (std::size_t i = 0; i < labels.size(); ++i) {
                    one.push_back(static_cast<std::int32_t>(draw.below(static_cast<std::uint64_t>(k))));
                    other.push_back(static_cast<std::int32_t>(draw.below(static_cast<std::uint64_t>(k))));
                }
                chance += 0.5 * disagreement(one, other);
            }
            out.disagreement[at] = differ;
            out.chance[at] = chance;
            out.strength[at] = strength;
        });
    }
    return out;
}

// Mean over all repetitions for one k; NaN if a value is missing. `deviation` divides by the number of repetitions.
struct Moments {
    double mean = 0, deviation = 0;
};
template <class Get>
Moments moments(int count, Get&& get) {
    Moments out;
    for (int i = 0; i < count; ++i) out.mean += get(i);
    out.mean /= count;
    for (int i = 0; i < count; ++i) out.deviation += (get(i) - out.mean) * (get(i) - out.mean);
    out.deviation = std::sqrt(out.deviation / count);
    return out;
}

Index distinct_labels(LabelSpan labels) {
    std::vector<std::int32_t> distinct(labels.begin(), labels.end());
    std::sort(distinct.begin(), distinct.end());
    return std::unique(distinct.begin(), distinct.end()) - distinct.begin();
}

// One choice of k: the fits, and the curves of the criteria.
class Choosing {
public:
    Choosing(const Method& method, const OptionValues& fixed, Points points, ClusterChoice& choice, const Run& run)
        : method_(method),
          fixed_(fixed),
          points_(std::move(points)),
          choice_(choice),
          run_(run),
          own_(run),
          scatter_(choice.clusters.size(), unknown_value) {
        own_.threads = is_network() ? run.threads : 1;
        own_.on_progress = nullptr;
        choice.errors.resize(count());
        for (int c = 0; c < cluster_criterion_count; ++c)
            choice.curves.push_back({static_cast<ClusterCriterion>(c), Numbers(count(), unknown_value)});
    }

    // Fits on the points, and the criteria that need no other fits. Throws the first error if no k can be fitted.
    void fit_each() {
        const Fits fits(method_, points_, fixed_, own_);
        std::vector<std::exception_ptr> failures(count());
        const auto judge = [&](Index task) {
            const auto at = static_cast<std::size_t>(task);
            failures[at] = selection::internal::recorded([&] { judge_fit(fits, at); });
        };
        const Stage stage{.name = "fits for each k", .begin = 0, .end = is_network() ? 1.0 : 0.1};
        if (is_network()) {
            for (Index task = 0; task < static_cast<Index>(count()); ++task) {
                run_.throw_if_stopped(stage.name);
                judge(task);
                run_.report({.stage = stage.name,
                             .fraction = static_cast<double>(task + 1) / static_cast<double>(count()),
                             .objective = unknown_value});
            }
        } else {
            for_each_block(static_cast<Index>(count()), run_, stage, [&](Index task, int) { judge(task); });
        }
        choice_.fits = static_cast<Index>(count()) - (ks().front() == 1 ? 1 : 0);
        keep_errors(failures);
    }

    // Fits on reference sets and halves, for the other criteria.
    void fit_others() {
        const Index n = points_.rows();
        if (is_network()) return leave_out("it needs several hundred fits, too many for a network");
        if (n < 4) return leave_out("it needs at least 4 rows");
        const std::vector<Numbers> reference = fit_references();
        std::vector<HalvingResult> halves(halvings, HalvingResult(count()));
        for_each_block(
            halvings, run_, {.name = "fits of halves of the points", .begin = 0.5, .end = 1.0}, [&](Index s, int) {
                halves[static_cast<std::size_t>(s)] =
                    halve(method_, points_, fixed_, ks(), selection::internal::part_of(run_, "selection.halves", s));
            });
        choice_.references = references;
        choice_.halvings = halvings;
        choice_.fits += (references + 2 * halvings) * choice_.fits;
        fill_curves(reference, halves);
    }

private:
    const std::vector<int>& ks() const { return choice_.clusters; }
    std::size_t count() const { return choice_.clusters.size(); }
    bool is_network() const { return method_.takes.device; }
    CriterionCurve& curve(ClusterCriterion criterion) { return choice_.curves[static_cast<std::size_t>(criterion)]; }

    void judge_fit(const Fits& fits, std::size_t at) {
        const int k = ks()[at];
        const Index n = points_.rows();
        std::unique_ptr<Model> model;
        if (k > 1) model = fits(k);
        const Labels labels = model ? model->labels() : Labels(static_cast<std::size_t>(n), 0);
        const Index found = distinct_labels(labels);
        if (found < k) throw BadData(Code::fewer_clusters, "the fit found only " + counted(found, "cluster"));
        scatter_[at] = log_scatter(points_, labels, own_);
        curve(ClusterCriterion::bic).values[at] = spherical_mixture_bic(points_, labels, own_);
        if (k == 1 || k >= n) return;
        const auto in_space = [&](PointsView z) {
            curve(ClusterCriterion::silhouette).values[at] = silhouette(z, labels, own_);
            curve(ClusterCriterion::calinski_harabasz).values[at] = calinski_harabasz(z, labels, own_);
            curve(ClusterCriterion::davies_bouldin).values[at] = davies_bouldin(z, labels, own_);
        };
        if (model->outputs().has(Output::embedding)) {
            const Matrix<double> embedded = model->transform(points_, own_);
            in_space(embedded);
        } else {
            in_space(points_);
        }
    }

    void keep_errors(const std::vector<std::exception_ptr>& failures) {
        std::exception_ptr first;
        for (std::size_t at = 0; at < count(); ++at) {
            if (!failures[at]) continue;
            choice_.errors[at] = selection::internal::message_of(failures[at]);
            if (!first) first = failures[at];
            for (auto& each : choice_.curves) each.values[at] = unknown_value;
            scatter_[at] = unknown_value;
        }
        if (first && std::all_of(scatter_.begin(), scatter_.end(), [](double w) { return std::isnan(w); }))
            std::rethrow_exception(first);
    }

    void leave_out(const std::string& why) {
        for (const auto criterion :
             {ClusterCriterion::gap, ClusterCriterion::stability, ClusterCriterion::prediction_strength})
            curve(criterion).left_out = why;
    }

    // ln W of each reference set and k.
    std::vector<Numbers> fit_references() {
        const Box box(points_, own_);
        std::vector<Numbers> out(references, Numbers(count(), unknown_value));
        for_each_block(
            references, run_, {.name = "fits of points without clusters", .begin = 0.1, .end = 0.5}, [&](Index b, int) {
                const Run part = selection::internal::part_of(run_, "selection.reference", b);
                const Fits of_set(method_, box.draw(part), fixed_, part);
                for (std::size_t at = 0; at < count(); ++at)
                    selection::internal::recorded([&] {
                        const Labels labels = ks()[at] == 1 ? Labels(static_cast<std::size_t>(points_.rows()), 0)
                                                            : of_set(ks()[at])->labels();
                        out[static_cast<std::size_t>(b)][at] = log_scatter(of_set.points(), labels, part);
                    });
            });
        return out;
    }

    void fill_curves(const std::vector<Numbers>& reference, const std::vector<HalvingResult>& halves) {
        for (const auto criterion :
             {ClusterCriterion::gap, ClusterCriterion::stability, ClusterCriterion::prediction_strength})
            curve(criterion).spreads.assign(count(), unknown_value);
        for (std::size_t at = 0; at < count(); ++at) {
            const Moments log = moments(references, [&](int b) { return reference[place(b)][at]; });
            curve(ClusterCriterion::gap).values[at] = log.mean - scatter_[at];
            curve(ClusterCriterion::gap).spreads[at] = log.deviation * std::sqrt(1.0 + 1.0 / references);
            if (std::isnan(scatter_[at])) continue;
            const Moments differ = moments(halvings, [&](int s) { return halves[place(s)].disagreement[at]; });
            const Moments chance = moments(halvings, [&](int s) { return halves[place(s)].chance[at]; });
            const Moments strength = moments(halvings, [&](int s) { return halves[place(s)].strength[at]; });
            const double error = std::sqrt(halvings - 1.0);
            curve(ClusterCriterion::stability).values[at] = differ.mean / chance.mean;
            curve(ClusterCriterion::stability).spreads[at] = differ.deviation / chance.mean / error;
            curve(ClusterCriterion::prediction_strength).values[at] = strength.mean;
            curve(ClusterCriterion::prediction_strength).spreads[at] = strength.deviation / error;
        }
    }

    const Method& method_;
    const OptionValues& fixed_;
    Points points_;
    ClusterChoice& choice_;
    const Run& run_;
    Run own_;
    Numbers scatter_;  // ln W of each k
};

void require_choice(const Problem& problem, const MethodOptions& method, const Run& run) {
    if (!takes_clusters(method.method()))
        throw BadArgument(Code::not_supported, "method " + method.method().name +
                                                   " has no option `clusters`, so there is nothing to choose");
    selection::internal::require_points_alone("the choice of the number of clusters (`clusters=auto`)", problem, run);
    for (const auto& [name, value] : method.values()) method.method().options->at(name).check(value);
}

}  // namespace

bool takes_clusters(const Method& method) {
    const Option* const clusters = method.options->find("clusters");
    return clusters != nullptr && clusters->kind == OptionKind::integer;
}

ClusterChoice choose_clusters(const Problem& problem, const MethodOptions& method, const ChooseOptions& options,
                              const Settings& settings, const Run& run) {
    Stopwatch watch;
    require_choice(problem, method, run);
    ClusterChoice out = choose_clusters(PreparedProblem::of(problem, settings, run), method, options, run);
    out.seconds = watch.seconds();
    return out;
}

ClusterChoice choose_clusters(const PreparedProblem& problem, const MethodOptions& method, const ChooseOptions& options,
                              const Run& run) {
    Stopwatch watch;
    require_choice(problem.problem, method, run);
    Points points = sampled(problem, method.method(), run);
    const Index n = points.rows();
    check_points(points, points_of_fit(), run);
    ClusterChoice choice;
    choice.points = problem.all_rows();
    if (n < choice.points) choice.sample = n;
    choice.clusters = tried(options, n);
    if (options.clusters.empty())
        choice.why_these = choice.clusters.size() == most_clusters
                               ? "1 to 30"
                               : internal::filled("1 to {}, the square root of {}", choice.clusters.back(), n);
    Choosing choosing(method.method(), method.values(), std::move(points), choice, run);
    choosing.fit_each();
    choosing.fit_others();
    for (auto& each : choice.curves) each.chosen = each.choose(choice.clusters);
    choice.recommend();
    choice.seconds = watch.seconds();
    return choice;
}

}  // namespace coterie
