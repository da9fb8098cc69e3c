// Fits every cell of the grid separately, or through the method's Fits if fits of one problem share work. Judges all
// cells by one criterion. A cell that cannot be fitted records why and is never chosen. Of equal cells, the first in
// the order of the grid is best.

#include "coterie/selection/tune.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>

#include "coterie/base/checks.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/load_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/neighbors.hpp"
#include "coterie/metrics/criteria.hpp"
#include "coterie/pipeline/left_out.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "coterie/selection/internal/many_fits.hpp"

namespace coterie {
namespace {

using internal::filled;

constexpr Index silhouette_sample = 5000;
constexpr Index cut_neighbors = 10;
const std::vector<std::string> criterion_names = {
    "silhouette",     "objective", "ratio", "knncut",    "calinski-harabasz",
    "davies-bouldin", "bic",       "gap",   "stability", "prediction-strength",
    "recommended",    "acc",       "nmi",   "ari"};

constexpr const char* grid_accepted =
    "OPTION=A,B,C (values; semicolons between texts or lists), OPTION=LOW:HIGH (steps of 1), "
    "OPTION=LOW:HIGH:N (N equally spaced values), "
    "OPTION=LOW:HIGH:log (decades) or OPTION=LOW:HIGH:log2 (powers of two)";

[[noreturn]] void refuse_axis(std::string_view text, std::string why, std::string remedy, Code code) {
    throw BadArgument(code, std::move(why), std::move(remedy),
                      {.option = "grid", .value = std::string(text), .accepted = std::string(grid_accepted)});
}

[[noreturn]] void refuse_axis(std::string_view text, const std::string& why, std::string remedy) {
    refuse_axis(text, filled("'{}' is not accepted{}", text, why), std::move(remedy), Code::not_accepted);
}

[[noreturn]] void refuse_form(std::string_view text) { refuse_axis(text, "", filled("Use {}", grid_accepted)); }

[[noreturn]] void refuse_many(std::string_view text) {
    refuse_axis(text, filled("'{}' makes more than {} cells", text, most_cells), "Use fewer values",
                Code::limit_exceeded);
}

const Option& grid_option(const Method& method, std::string_view text, const std::string& name) {
    std::vector<std::string> names;
    for (const OptionSet* set : {method.options, &PreparationOptions::described()})
        for (const auto& option : set->options()) {
            if (option.name == name || (option.letter != 0 && name == std::string(1, option.letter))) return option;
            names.push_back(option.name);
        }
    refuse_axis(text, "method " + method.name + " has no option '" + name + "'",
                "Use one of its options: " + internal::listed(internal::nearest_first(std::move(names), name)),
                Code::unknown_name);
}

double number_of(const OptionValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    return std::get<double>(value);
}

OptionValue value_of(const Option& option, double number) {
    OptionValue value = number;
    if (option.kind == OptionKind::integer && number == std::floor(number) && std::abs(number) < 0x1p53)
        value = static_cast<std::int64_t>(number);
    option.check(value);
    return value;
}

// number * 10^decades, correctly rounded: 0.001 times 100 is 0.1, not the double next to it.
double shifted(double number, int decades) {
    char text[48];
    const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
    const std::string written(text, end);
    const auto at = written.find('e');
    const std::string moved = filled("{}e{}", written.substr(0, at), std::stoi(written.substr(at + 1)) + decades);
    double out = 0;
    std::from_chars(moved.data(), moved.data() + moved.size(), out);
    return out;
}

void append_range(const Option& option, std::string_view text, std::string_view item,
                  std::vector<OptionValue>& values) {
    const auto first = item.find(':');
    const auto second = item.find(':', first + 1);
    const double low = number_of(option.parse(item.substr(0, first)));
    const double high = number_of(option.parse(item.substr(first + 1, second - first - 1)));
    const std::string step(second == std::string_view::npos ? "" : item.substr(second + 1));
    const std::string of_item = filled(" of {}", item);
    if (low > high) refuse_axis(text, ", because the first number" + of_item + " is above the second", "Swap them");
    if (second == std::string_view::npos) {
        if (high - low >= static_cast<double>(most_cells)) refuse_many(text);
        if (high - low != std::floor(high - low))
            refuse_axis(text, ", because steps of 1 from the first number" + of_item + " do not end at the second",
                        "Use LOW:HIGH:N for N equally spaced values");
        for (int i = 0; i <= static_cast<int>(high - low); ++i) values.push_back(value_of(option, low + i));
    } else if (step == "log" || step == "log2") {
        const bool decades = step == "log";
        if (low <= 0)
            refuse_axis(text, ", because the first number" + of_item + " is not above 0", "Use a number above 0");
        const int steps =
            static_cast<int>(std::lround(decades ? std::log10(high) - std::log10(low) : std::log2(high / low)));
        const auto power = [&](int i) { return decades ? shifted(low, i) : std::ldexp(low, i); };
        if (std::abs(power(steps) - high) > 1e-9 * high)
            refuse_axis(text,
                        filled(", because {} from the first number{} do not end at the second",
                               decades ? "decades" : "powers of two", of_item),
                        "Change the second number");
        for (int i = 0; i <= steps; ++i) values.push_back(value_of(option, power(i)));
    } else {
        Index count = 0;
        const auto read = std::from_chars(step.data(), step.data() + step.size(), count);
        if (read.ec != std::errc() || read.ptr != step.data() + step.size() || count < 2 || low == high)
            refuse_form(text);
        if (count > most_cells) refuse_many(text);
        for (Index i = 0; i < count; ++i) {
            const double number =
                i + 1 == count ? high : low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
            values.push_back(value_of(option, number));
        }
    }
}

struct Candidate {
    const Method* method = nullptr;
    OptionValues own;  // the values that distinguish the cell
    OptionValues all;  // the values with which the cell is fitted
    PreparationOptions preparation;
};

std::vector<Candidate> grid_cells(const Method& method, const OptionValues& fixed, const TuneOptions& options,
                                  const PreparationOptions& preparation) {
    const std::vector<GridAxis>& grid = options.grid;
    const OptionSet& preparing = PreparationOptions::described();
    if (grid.empty())
        throw BadArgument(Code::missing_argument, "there is no grid", filled("Use {}", grid_accepted),
                          {.option = "grid", .accepted = std::string(grid_accepted)});
    Index count = 1;
    for (std::size_t a = 0; a < grid.size(); ++a) {
        const Option& option = option_on_grid(method, grid[a].option);
        if (grid[a].values.empty())
            throw BadArgument(Code::empty, "`" + option.name + "` has no values", "Give at least one value",
                              {.option = "grid"});
        for (const auto& value : grid[a].values) {
            // A real option also accepts an integer: 3 for 3.0.
            const bool whole = option.kind == OptionKind::real && std::holds_alternative<std::int64_t>(value);
            option.check(whole ? OptionValue(number_of(value)) : value);
        }
        const bool prepares = preparing.find(option.name) != nullptr;
        if (prepares && !needs_truth(options.select))
            throw BadArgument(Code::conflict,
                              filled("{} cannot compare values of `{}`, because it is measured on the prepared rows",
                                     name(options.select), option.name),
                              "Use `select=acc`, nmi or ari, which need a truth",
                              {.option = "grid", .value = option.name, .accepted = "acc, nmi or ari as `select`"});
        if (fixed.contains(option.name) ||
            (prepares && preparing.values(&preparation).at(option.name) != option.default_value))
            throw BadArgument(Code::conflict, "this option is given, and it is also on the grid", "Remove one of them",
                              {.option = option.name});
        for (std::size_t b = 0; b < a; ++b)
            if (grid[b].option == option.name)
                throw BadArgument(Code::duplicate, "`" + option.name + "` is on the grid twice", "Remove one of them",
                                  {.option = "grid"});
        const auto values = static_cast<Index>(grid[a].values.size());
        if (values > most_cells / count)
            throw BadArgument(Code::limit_exceeded, filled("the grid has more than {} cells", most_cells),
                              "Use fewer values",
                              {.option = "grid", .accepted = filled("at most {} cells", most_cells)});
        count *= values;
    }
    for (const auto& [name, value] : fixed) method.options->at(name);
    std::vector<Candidate> cells(static_cast<std::size_t>(count), Candidate{&method, {}, fixed, preparation});
    for (Index at = 0; at < count; ++at) {
        Candidate& cell = cells[static_cast<std::size_t>(at)];
        Index rest = at;
        for (std::size_t a = grid.size(); a-- > 0;) {
            const auto values = static_cast<Index>(grid[a].values.size());
            cell.own[grid[a].option] = grid[a].values[static_cast<std::size_t>(rest % values)];
            rest /= values;
        }
        for (const auto& [name, value] : cell.own)
            if (preparing.find(name) != nullptr)
                preparing.assign(&cell.preparation, {{name, value}});
            else
                cell.all[name] = value;
    }
    return cells;
}

// Plain k-means for each number of clusters and each preparation among the cells. If `restarts` is set for the method,
// it also applies to k-means.
std::vector<Candidate> kmeans_cells(const Method& method, const OptionValues& fixed, const TuneOptions& options,
                                    const std::vector<Candidate>& grid) {
    const Method& kmeans = find_method("kmeans");
    const bool comparable = options.select == Criterion::knncut || needs_truth(options.select);
    if (!comparable)
        throw BadArgument(Code::conflict, filled("{} cannot compare methods", name(options.select)),
                          "Use `select=knncut`, acc, nmi or ari", {.option = "with_kmeans"});
    const Option* clusters = method.options->find("clusters");
    if (method.name == kmeans.name || !clusters || clusters->kind != OptionKind::integer)
        throw BadArgument(Code::conflict,
                          clusters ? "the method is k-means already"
                                   : "method " + method.name + " has no option `clusters`, which k-means needs",
                          "Leave this option out", {.option = "with_kmeans"});
    std::vector<Candidate> cells;
    for (const Candidate& other : grid) {
        Candidate cell{&kmeans, {}, {{"clusters", clusters->default_value}}, other.preparation};
        if (const auto given = other.all.find("clusters"); given != other.all.end())
            cell.all["clusters"] = given->second;
        cell.own = cell.all;
        for (const auto& [name, value] : other.own)
            if (PreparationOptions::described().find(name) != nullptr) cell.own[name] = value;
        if (const auto restarts = fixed.find("restarts"); restarts != fixed.end()) cell.all.insert(*restarts);
        if (std::ranges::find(cells, cell.own, &Candidate::own) == cells.end()) cells.push_back(std::move(cell));
    }
    return cells;
}

// Cells of one method on points with the same preparation. They are fitted together.
struct Batch {
    const Method* method = nullptr;
    OptionValues preparation;
    std::vector<std::size_t> cells;
};

// Puts cells of the same preparation next to each other. k-means comes after the grid's method.
std::vector<Batch> batches_of(const std::vector<Candidate>& candidates) {
    std::vector<Batch> batches;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const OptionValues preparation = PreparationOptions::described().values(&candidates[i].preparation);
        auto found = std::ranges::find_if(
            batches, [&](const Batch& b) { return b.method == candidates[i].method && b.preparation == preparation; });
        if (found == batches.end()) found = batches.insert(found, Batch{candidates[i].method, preparation, {}});
        found->cells.push_back(i);
    }
    std::ranges::stable_sort(batches, {}, &Batch::preparation);
    return batches;
}

// The rows that the fits of one fold see, and those that they do not see.
struct Fold {
    Problem seen;
    Points unseen;
    Labels seen_truth;  // also -1 if the label was given to the fit
    Labels unseen_truth;
    Neighbors neighbors;  // of the seen points, if the criterion needs them
};

std::unique_ptr<Fold> make_fold(const Problem& problem, LabelSpan truth, const std::vector<Index>& seen,
                                const std::vector<Index>& unseen, Criterion select, const Settings& settings,
                                const Run& run) {
    auto fold = std::make_unique<Fold>();
    if (unseen.empty()) {
        fold->seen = problem;
    } else {
        require_memory(problem.points.bytes(), "the two parts of a fold");
        fold->seen = problem.subset(seen);
        fold->unseen = rows_of(problem.points, unseen);
    }
    fold->seen_truth = internal::entries_of(truth, seen);
    fold->unseen_truth = internal::entries_of(truth, unseen);
    if (!fold->seen_truth.empty())
        for (std::size_t i = 0; i < fold->seen.partial_labels.size(); ++i)
            if (fold->seen.partial_labels[i] >= 0) fold->seen_truth[i] = -1;

    // Warnings are ignored: the final fit on all points gives them.
    PreparedProblem prepared = PreparedProblem::of(fold->seen, settings, run);
    fold->seen = std::move(prepared.problem);
    if (!unseen.empty()) {
        std::vector<Message> ignored;
        fold->unseen = prepared.coding.apply(fold->unseen, problem.categories, problem.column_names, run, ignored);
        fold->unseen = prepared.preparation.apply(fold->unseen, run);
    }
    if (select == Criterion::knncut) {
        if (fold->seen.rows() < 2)
            throw BadData(Code::too_few_rows, "knncut needs at least 2 rows", "", {.option = "points"});
        const Points points = load(fold->seen.points, "knncut needs all rows in memory, which", run);
        fold->neighbors = nearest_neighbors(points, std::min(cut_neighbors, fold->seen.rows() - 1), run);
    }
    return fold;
}

struct CellFit {
    std::unique_ptr<Model> model;
    std::exception_ptr failure;  // set if there is no model
    double seconds = 0.0;
};

// The order in which cells share the most work: cells with equal values of expensive options are neighbours.
std::vector<std::size_t> sharing_order(const Method& method, std::span<const OptionValues* const> cells) {
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto less = [&](std::size_t a, std::size_t b) {
        for (const auto& name : method.shared_options) {
            const auto of_a = cells[a]->find(name);
            const auto of_b = cells[b]->find(name);
            // Every cell has the same option names.
            if (of_a == cells[a]->end() || of_a->second == of_b->second) continue;
            return of_a->second < of_b->second;
        }
        return false;
    };
    std::ranges::stable_sort(order, less);
    return order;
}

// Fits the cells of one method on one fold, in the order in which they share the most work. Calls begin(cell) before a
// fit and take(cell, fit) after it; take returns whether to continue.
void fit_cells(const Method& method, const Problem& problem, std::span<const OptionValues* const> cells, const Run& run,
               FunctionRef<void(std::size_t)> begin, FunctionRef<bool(std::size_t, CellFit)> take) {
    const Method::Fitter fitter = method.fitter(problem, run);
    for (const std::size_t cell : sharing_order(method, cells)) {
        begin(cell);
        CellFit fit;
        Stopwatch watch;
        fit.failure = selection::internal::recorded([&] { fit.model = fitter(*cells[cell]); });
        fit.seconds = watch.seconds();
        if (!take(cell, std::move(fit))) return;
    }
}

// Scores count the clusters of one label as one.
std::optional<Scores> scores_of(Labels clusters, const ClusterLabels& of_clusters, const Labels& truth) {
    if (truth.empty()) return {};
    const auto numbers = of_clusters.numbers();
    Labels labels, classes;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        if (truth[i] < 0) continue;
        labels.push_back(numbers.empty() ? clusters[i] : numbers.at(internal::at(clusters[i])));
        classes.push_back(truth[i]);
    }
    if (labels.empty()) return {};
    return score(labels, classes);
}

double criterion_of(Criterion criterion, const Model& model, const Fold& fold, const std::optional<Scores>& seen,
                    const Run& run) {
    const auto in_own_space = [&](auto measure) {
        if (!model.outputs().has(Output::embedding)) return measure(fold.seen.points.view());
        const Matrix<double> transformed = model.transform(fold.seen.points, run);
        return measure(PointsView(transformed));
    };
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    switch (criterion) {
        case Criterion::silhouette:
            return in_own_space([&](PointsView z) {
                return silhouette(z, model.labels(), run, z.rows() > silhouette_sample ? silhouette_sample : 0);
            });
        case Criterion::objective: return model.fit_report().objective;
        case Criterion::ratio: return in_own_space([&](PointsView z) { return scatter_ratio(z, model.labels(), run); });
        case Criterion::knncut: return normalized_cut(fold.neighbors, model.labels());
        case Criterion::calinski_harabasz:
            return in_own_space([&](PointsView z) { return calinski_harabasz(z, model.labels(), run); });
        case Criterion::davies_bouldin:
            return in_own_space([&](PointsView z) { return davies_bouldin(z, model.labels(), run); });
        case Criterion::bic: return spherical_mixture_bic(fold.seen.points, model.labels(), run);
        case Criterion::gap:
        case Criterion::stability:
        case Criterion::prediction_strength:
        case Criterion::recommended: break;
        case Criterion::acc: return seen ? seen->acc : unknown;
        case Criterion::nmi: return seen ? seen->nmi : unknown;
        case Criterion::ari: return seen ? seen->ari : unknown;
    }
    throw InternalError(filled("criterion {} is not of one fit", name(criterion)));
}

constexpr double Scores::*score_members[] = {&Scores::acc,    &Scores::nmi,         &Scores::ari,
                                             &Scores::purity, &Scores::homogeneity, &Scores::completeness};

// Mean of the added scores.
struct MeanScores {
    Scores sum;
    int count = 0;

    void add(const std::optional<Scores>& scores) {
        if (!scores) return;
        for (const auto member : score_members) sum.*member += (*scores).*member;
        ++count;
    }
    std::optional<Scores> mean() const {
        if (count == 0) return {};
        Scores out = sum;
        for (const auto member : score_members) out.*member /= count;
        return out;
    }
};

// One cell over all folds.
struct Tally {
    double criterion = 0.0;
    MeanScores seen, unseen;
    double seconds = 0.0;
    std::exception_ptr failure;
    int folds = 0;

    void add(const Tally& other) {
        criterion += other.criterion;
        seen.add(other.seen.mean());
        unseen.add(other.unseen.mean());
        seconds += other.seconds;
        failure = other.failure;
        ++folds;
    }
};

Tally measure(CellFit fit, const Fold& fold, Criterion criterion, const Run& run) {
    Tally out;
    out.seconds = fit.seconds;
    out.failure = fit.failure;
    if (out.failure) return out;
    out.failure = selection::internal::recorded([&] {
        const auto seen = scores_of(fit.model->labels(), fit.model->cluster_labels(), fold.seen_truth);
        out.seen.add(seen);
        if (fold.unseen.rows() > 0) {
            const Labels predicted = fit.model->predict(fold.unseen, run);
            out.unseen.add(scores_of(predicted, fit.model->cluster_labels(), fold.unseen_truth));
        }
        out.criterion = criterion_of(criterion, *fit.model, fold, seen, run);
    });
    return out;
}

BadData no_finite_criterion(const std::string& criterion, std::size_t cells, const std::string& why = {}) {
    return BadData(Code::not_finite,
                   criterion + " is not a number in any of " + counted(cells, "cell") + (why.empty() ? "" : ": " + why),
                   "", {.option = "select", .value = criterion});
}

// A grid of only the number of clusters, with a criterion that compares these numbers.
TuneResult tune_clusters(const Problem& problem, const MethodOptions& fixed, const TuneOptions& options,
                         const Settings& settings, const Run& run) {
    const std::string criterion(name(options.select));
    const auto refuse = [&](const std::string& why, const std::string& remedy) {
        throw BadArgument(Code::conflict, criterion + why, remedy, {.option = "select", .value = criterion});
    };
    if (options.grid.size() != 1 || options.grid.front().option != "clusters")
        refuse(" compares only numbers of clusters", "Put `clusters` on the grid and nothing else");
    if (options.folds != 0)
        refuse(" cannot be combined with `folds`, because it halves the rows itself", "Leave one out");
    if (options.with_kmeans) refuse(" cannot compare methods", "Leave `with_kmeans` out");
    ChooseOptions choosing;
    for (const auto& value : options.grid.front().values)
        choosing.clusters.push_back(static_cast<int>(number_of(value)));
    TuneResult result;
    result.choice = choose_clusters(problem, fixed, choosing, settings, run);
    const ClusterChoice& choice = *result.choice;
    int chosen = choice.recommended;
    const auto curve =
        std::ranges::find(choice.curves, criterion, [](const CriterionCurve& each) { return name(each.criterion); });
    const bool by_curve = curve != choice.curves.end();  // not for the recommendation
    if (by_curve) {
        if (!curve->chosen) throw no_finite_criterion(criterion, choice.clusters.size(), curve->left_out);
        chosen = *curve->chosen;
    }
    for (std::size_t at = 0; at < choice.clusters.size(); ++at) {
        const int k = choice.clusters[at];
        TuneCell cell;
        cell.method = fixed.method().name;
        cell.options["clusters"] = std::int64_t{k};
        cell.error = choice.errors[at];
        if (by_curve)
            cell.criterion = curve->values[at];
        else if (cell.error.empty())
            cell.criterion = static_cast<double>(std::ranges::count(choice.curves, k, &CriterionCurve::chosen));
        if (k == chosen) result.best = at;
        result.cells.push_back(std::move(cell));
    }
    result.best_method = fixed.method().name;
    result.best_options = fixed.values();
    result.best_options["clusters"] = std::int64_t{chosen};
    result.best_preparation = settings.preparation;
    result.cells_asked = static_cast<Index>(result.cells.size());
    return result;
}

}  // namespace

std::string_view name(Criterion criterion) { return criterion_names.at(static_cast<std::size_t>(criterion)); }

bool needs_truth(Criterion criterion) {
    return criterion == Criterion::acc || criterion == Criterion::nmi || criterion == Criterion::ari;
}

bool compares_clusters_alone(Criterion criterion) {
    return criterion >= Criterion::gap && criterion <= Criterion::recommended;
}

bool larger_is_better(Criterion criterion) {
    switch (criterion) {
        case Criterion::silhouette:
        case Criterion::calinski_harabasz:
        case Criterion::gap:
        case Criterion::prediction_strength:
        case Criterion::recommended: return true;
        default: return needs_truth(criterion);
    }
}

GridAxis read_grid_axis(const Method& method, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) refuse_form(text);
    std::string name(text.substr(0, equals));
    std::replace(name.begin(), name.end(), '-', '_');
    const Option& option = grid_option(method, text, name);
    const bool number = option.kind == OptionKind::integer || option.kind == OptionKind::real;
    GridAxis axis{option.name, {}};
    const bool commas =
        option.kind == OptionKind::text || option.kind == OptionKind::integers || option.kind == OptionKind::reals;
    const char between = commas ? ';' : ',';  // items that contain commas are separated by semicolons
    const std::string_view items = text.substr(equals + 1);
    for (std::size_t begin = 0; begin <= items.size();) {
        const std::size_t end = std::min(items.find(between, begin), items.size());
        const std::string_view item = items.substr(begin, end - begin);
        if (item.empty()) refuse_axis(text, ", because a value is empty", filled("Use {}", grid_accepted));
        if (number && item.find(':') != std::string_view::npos) {
            append_range(option, text, item, axis.values);
        } else {
            axis.values.push_back(option.parse(item));
        }
        begin = end + 1;
    }
    return axis;
}

const Option& option_on_grid(const Method& method, std::string_view name) {
    const Option* option = PreparationOptions::described().find(name);
    return option != nullptr ? *option : method.options->at(name);
}

const OptionSet& TuneOptions::described() {
    static const OptionSet set =
        OptionSetFor<TuneOptions>()
            .integer("folds", &TuneOptions::folds, at_least(0),
                     "number of random parts of the rows; each part is left out of the fit once and scored; 0: every "
                     "cell is fitted on all rows")
            .choice("select", &TuneOptions::select, criterion_names,
                    "criterion for the best cell: the largest silhouette, calinski-harabasz, acc, nmi or ari; the "
                    "smallest objective (not for options that change it, such as k), ratio, knncut, davies-bouldin or "
                    "bic; or, "
                    "for `clusters` alone, the choice of gap, stability, prediction-strength or recommended")
            .flag("with_kmeans", &TuneOptions::with_kmeans,
                  "also fit plain k-means with the same numbers of clusters; if it is best, it is the result; needs "
                  "`select=knncut`, acc, nmi or ari");
    return set;
}

std::vector<std::vector<Index>> split_folds(Index rows, int folds, const Run& run) {
    if (folds < 2 || folds > rows)
        throw refused_option("folds", std::int64_t{folds},
                             filled("a whole number from 2 to the number of rows ({}), or 0 for no folds", rows));
    std::vector<Index> order(internal::at(rows));
    std::iota(order.begin(), order.end(), Index{0});
    RandomStream random = run.random("tune.folds");
    shuffle(order, random);
    std::vector<std::vector<Index>> parts;
    for (int f = 0; f < folds; ++f) {
        parts.emplace_back(order.begin() + rows * f / folds, order.begin() + rows * (f + 1) / folds);
        std::sort(parts.back().begin(), parts.back().end());
    }
    return parts;
}

namespace {

void require_tuning(const Problem& problem, const TuneOptions& options, const Settings& settings, LabelSpan truth,
                    const Run& run) {
    if (problem.graph)
        throw BadArgument(Code::not_supported, "tune needs rows, not affinities", "", {.option = "graph"});
    check_settings(settings);
    const bool words = std::ranges::any_of(problem.categories, [](const auto& column) { return !column.empty(); });
    if (words && settings.columns.categorical == Categorical::refuse)
        throw BadArgument(Code::wrong_type, "there are columns of words, and tune needs numbers",
                          "Use `categorical=one-hot` to convert them", {.option = "points"});
    const Index n = problem.rows();
    if (!truth.empty()) selection::internal::require_truth_per_row(n, truth);
    if (needs_truth(options.select) && truth.empty())
        throw BadArgument(Code::missing_argument, filled("{} needs a truth", name(options.select)),
                          "Give one, or use silhouette, objective, ratio or knncut",
                          {.option = "select",
                           .value = std::string(name(options.select)),
                           .accepted = "silhouette, objective, ratio or knncut"});
    if (!problem.weights.empty()) check_weights(problem.weights, n);
    check_partial_labels(problem.partial_labels, n);
    require_values(problem.points, problem.column_kinds, problem.categories, problem.column_names, settings.columns,
                   "points", run);
    if (settings.columns.missing == Missing::refuse) check_points(problem.points, points_of_fit(), run);
}

// The numbers of the rows that are not among `some`, which ascend.
std::vector<Index> all_but(Index rows, const std::vector<Index>& some) {
    std::vector<Index> out(internal::at(rows));
    std::iota(out.begin(), out.end(), Index{0});
    internal::erase_rows(out, some);
    return out;
}

// The fits of all cells on all folds.
class Tuning {
public:
    Tuning(const Problem& problem, const TuneOptions& options, const Settings& settings,
           std::vector<Candidate> candidates, LabelSpan truth, const Run& run)
        : problem_(problem),
          options_(options),
          settings_(settings),
          candidates_(std::move(candidates)),
          batches_(batches_of(candidates_)),
          truth_(truth),
          run_(run),
          tallies_(candidates_.size()) {}

    TuneResult result() {
        // Without folds: one fold without unseen rows.
        std::vector<std::vector<Index>> unseen_rows(1);
        if (options_.folds != 0) unseen_rows = split_folds(problem_.rows(), options_.folds, run_);
        result_.cells_asked = static_cast<Index>(candidates_.size());
        for (std::size_t f = 0; f < unseen_rows.size() && !result_.interrupted; ++f) {
            const std::vector<std::optional<Tally>> of_fold = fit_fold(f, unseen_rows);
            if (result_.interrupted && f > 0) break;
            for (std::size_t cell = 0; cell < candidates_.size(); ++cell)
                if (of_fold[cell]) tallies_[cell].add(*of_fold[cell]);
            if (!result_.interrupted) ++result_.folds_done;
        }
        add_cells();
        return std::move(result_);
    }

private:
    std::vector<std::optional<Tally>> fit_fold(std::size_t f, const std::vector<std::vector<Index>>& unseen_rows) {
        const std::vector<Index> seen_rows = all_but(problem_.rows(), unseen_rows[f]);
        const Run cell_run = reporting(f, unseen_rows.size());
        std::vector<std::optional<Tally>> of_fold(candidates_.size());
        try {
            std::unique_ptr<Fold> fold;
            std::exception_ptr failure;
            for (std::size_t b = 0; b < batches_.size() && !result_.interrupted; ++b) {
                if (b == 0 || batches_[b].preparation != batches_[b - 1].preparation) {
                    fold.reset();
                    failure = selection::internal::recorded([&] {
                        Settings own = settings_;
                        own.preparation = candidates_[batches_[b].cells.front()].preparation;
                        fold = make_fold(problem_, truth_, seen_rows, unseen_rows[f], options_.select, own, cell_run);
                    });
                }
                fit_batch(batches_[b], fold.get(), failure, of_fold, cell_run);
            }
        } catch (const Cancelled&) {
            result_.interrupted = true;
        }
        return of_fold;
    }

    void fit_batch(const Batch& batch, const Fold* fold, const std::exception_ptr& failure,
                   std::vector<std::optional<Tally>>& of_fold, const Run& cell_run) {
        // Cells that have failed before are skipped.
        std::vector<const OptionValues*> values;
        std::vector<std::size_t> cells;
        for (const std::size_t cell : batch.cells) {
            if (tallies_[cell].failure) continue;
            values.push_back(&candidates_[cell].all);
            cells.push_back(cell);
            if (failure) of_fold[cell].emplace().failure = failure;
        }
        if (values.empty() || failure) return;
        const auto announce = [&](std::size_t cell) { cell_at_work_ = cells[cell]; };
        const auto take = [&](std::size_t cell, CellFit fit) {
            // An interrupted fit gives no result for its cell.
            if (run_.stop_requested() || (fit.model && fit.model->fit_report().stopped == StopReason::interrupted)) {
                result_.interrupted = true;
                return false;
            }
            of_fold[cells[cell]] = measure(std::move(fit), *fold, options_.select, cell_run);
            return true;
        };
        fit_cells(*candidates_[cells.front()].method, fold->seen, values, cell_run, announce, take);
    }

    // The method's own stages are reported under their cell.
    Run reporting(std::size_t fold, std::size_t folds) {
        Run out = run_;
        cell_at_work_ = 0;
        if (!run_.on_progress) return out;
        out.on_progress = [this, fold, folds](const Progress& progress) {
            std::string stage = folds > 1 ? filled("fold {} of {}, ", fold + 1, folds) : std::string();
            stage += filled("cell {} of {}, {}", cell_at_work_ + 1, candidates_.size(), progress.stage);
            Progress said = progress;
            said.stage = stage;
            run_.on_progress(said);
        };
        return out;
    }

    void add_cells() {
        std::exception_ptr first_failure;
        bool found = false;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            const Tally& tally = tallies_[i];
            if (tally.folds == 0) continue;  // interrupted before this cell
            TuneCell cell;
            cell.method = candidates_[i].method->name;
            cell.options = candidates_[i].own;
            cell.seconds = tally.seconds;
            if (tally.failure) {
                cell.error = selection::internal::message_of(tally.failure);
                if (!first_failure) first_failure = tally.failure;
            } else {
                cell.criterion = tally.criterion / tally.folds;
                cell.seen = tally.seen.mean();
                cell.unseen = tally.unseen.mean();
                found = take_best(cell, candidates_[i], found);
            }
            result_.cells.push_back(std::move(cell));
        }
        if (result_.cells.empty()) throw Cancelled(Code::cancelled, "interrupted before the first cell was fitted");
        if (!found && first_failure) std::rethrow_exception(first_failure);
        if (!found) throw no_finite_criterion(std::string(name(options_.select)), result_.cells.size());
    }

    // Makes the cell the best one if it is better. `found`: whether there was a best cell. Returns whether there is one
    // now.
    bool take_best(const TuneCell& cell, const Candidate& candidate, bool found) {
        if (std::isnan(cell.criterion)) return found;
        const double best = found ? result_.cells[result_.best].criterion : 0.0;
        if (found && !(larger_is_better(options_.select) ? cell.criterion > best : cell.criterion < best)) return true;
        result_.best = result_.cells.size();
        result_.best_method = cell.method;
        result_.best_options = candidate.all;
        result_.best_preparation = candidate.preparation;
        return true;
    }

    const Problem& problem_;
    const TuneOptions& options_;
    const Settings& settings_;
    std::vector<Candidate> candidates_;
    std::vector<Batch> batches_;
    LabelSpan truth_;
    const Run& run_;
    std::vector<Tally> tallies_;
    std::size_t cell_at_work_ = 0;
    TuneResult result_;
};

}  // namespace

TuneResult tune(const Problem& problem, const MethodOptions& fixed, const TuneOptions& options,
                const Settings& settings, const Run& run, LabelSpan truth) {
    check_options(options);
    if (!run.checkpoint.empty())
        throw BadArgument(Code::conflict, "one file cannot hold the states of many fits", "Use it with a single fit",
                          {.option = "checkpoint"});
    std::vector<Candidate> candidates = grid_cells(fixed.method(), fixed.values(), options, settings.preparation);
    if (options.with_kmeans)
        for (auto& cell : kmeans_cells(fixed.method(), fixed.values(), options, candidates))
            candidates.push_back(std::move(cell));
    require_tuning(problem, options, settings, truth, run);
    if (compares_clusters_alone(options.select)) return tune_clusters(problem, fixed, options, settings, run);
    if (settings.columns.missing == Missing::drop)
        if (const std::vector<Index> left_out = rows_with_missing(problem.points, run); !left_out.empty()) {
            if (static_cast<Index>(left_out.size()) == problem.rows()) throw internal::no_row_is_complete();
            const std::vector<Index> kept = all_but(problem.rows(), left_out);
            Problem rest = problem.subset(kept);
            rest.sizes = problem.sizes;
            Settings of_rest = settings;
            of_rest.columns.missing = Missing::refuse;
            return tune(rest, fixed, options, of_rest, run, internal::entries_of(truth, kept));
        }
    return Tuning(problem, options, settings, std::move(candidates), truth, run).result();
}

}  // namespace coterie
