// Searches over options (coterie/selection/tune.hpp).

#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "core.hpp"

#include "coterie/base/text.hpp"
#include "coterie/report/map.hpp"
#include "coterie/report/page.hpp"
#include "coterie/report/selection_document.hpp"
#include "coterie/selection/compare_methods.hpp"
#include "coterie/selection/consensus.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie::python {
namespace {

nb::object scores_of(const std::optional<Scores>& scores) { return scores ? nb::object(dict_of(*scores)) : nb::none(); }

nb::dict dict_of_cell(const TuneCell& cell, bool larger) {
    nb::dict out;
    out["method"] = cell.method;
    out["options"] = dict_of(cell.options);
    out["criterion"] = cell.criterion;
    out["larger_is_better"] = larger;
    out["seen"] = scores_of(cell.seen);
    out["unseen"] = scores_of(cell.unseen);
    out["seconds"] = cell.seconds;
    out["error"] = cell.error;
    return out;
}

nb::dict tuned(const std::string& method_name, const nb::dict& fixed,
               const std::vector<std::pair<std::string, nb::list>>& grid, const nb::dict& how, nb::handle points,
               const nb::dict& side, const nb::dict& preparation, const nb::dict& columns, std::uint64_t seed,
               int threads, const std::string& device, const std::optional<Labels1>& truth, nb::object notify) {
    const Method& method = find_method(method_name);
    const OptionValues values = option_values(*method.options, fixed);
    TuneOptions options;
    TuneOptions::described().assign(&options, option_values(TuneOptions::described(), how));
    const Settings settings = settings_of(preparation, columns);
    for (const auto& [name, items] : grid) {
        const Option& option = option_on_grid(method, name);
        GridAxis axis{name, {}};
        for (const nb::handle item : items) axis.values.push_back(option_value(option, item));
        options.grid.push_back(std::move(axis));
    }
    const Problem problem = problem_of(points, side);
    Host host(std::move(notify));
    Run run(seed, threads);
    run.device = device;
    host.attach(run);
    const LabelSpan known = truth ? span_of(*truth) : LabelSpan();
    TuneResult result = host.work([&] { return tune(problem, {method, values}, options, settings, run, known); });
    nb::dict out;
    nb::list cells;
    for (const TuneCell& cell : result.cells) cells.append(dict_of_cell(cell, larger_is_better(options.select)));
    out["cells"] = cells;
    out["best"] = result.best;
    out["best_method"] = result.best_method;
    out["best_options"] = dict_of(result.best_options);
    out["interrupted"] = result.interrupted;
    out["choice"] = result.choice ? nb::object(nb::str(json_document(*result.choice).c_str())) : nb::none();
    const std::string search = page_search(options, result);
    out["page"] = nb::str(search.data(), search.size());
    return out;
}

// A comparison, and the data that its page needs in addition to the rows.
struct Compared {
    Comparison found;
    Settings settings;
    std::uint64_t seed = 0;

    // truth: indices into truth_names, or none.
    nb::str page(nb::handle points, const nb::dict& side, const std::optional<Labels1>& truth,
                 const std::vector<std::string>& truth_names, const std::string& source, int threads) const {
        const Problem problem = problem_of(points, side);
        Host host;
        Run run(seed, threads);
        host.attach(run);
        std::optional<Truth> known;
        if (truth) known = Truth{{Labels(truth->data(), truth->data() + truth->size()), truth_names}, "y_true"};
        const std::string text = host.work([&] {
            const Index compared = found.points + found.rows_left_out;
            if (problem.rows() != compared)
                throw BadArgument(
                    Code::wrong_shape,
                    counted(problem.rows(), "row") + ", but the comparison was of " + std::to_string(compared),
                    "Pass the rows of the comparison", {.option = "points"});
            const ComparisonDrawings drawn =
                comparison_drawings(found, PreparedProblem::of(problem, settings, run), source, known, run);
            return coterie::html_document(found, source, drawn.picture, drawn.map);
        });
        return nb::str(text.data(), text.size());
    }
};

// Returns (document, labels of each method, the comparison for its page).
nb::tuple compared(const std::vector<std::string>& methods, int clusters, nb::handle points, const nb::dict& side,
                   const nb::dict& preparation, const nb::dict& columns, std::uint64_t seed, int threads,
                   const std::string& device, const std::optional<Labels1>& truth) {
    CompareOptions options{.clusters = clusters, .methods = methods};
    const Settings settings = settings_of(preparation, columns);
    const Problem problem = problem_of(points, side);
    Host host;
    Run run(seed, threads);
    run.device = device;
    host.attach(run);
    const LabelSpan known = truth ? span_of(*truth) : LabelSpan();
    Comparison found = host.work([&] { return compare_methods(problem, options, settings, run, known); });
    run.throw_if_stopped("compare");
    nb::list labels;
    for (const auto& method : found.methods) labels.append(owned_array(Labels(method.labels)));
    const std::string document = json_document(found, "X");
    return nb::make_tuple(document, labels, Compared{std::move(found), settings, seed});
}

// Returns (document, labels, confidence).
nb::tuple consensus_of(const std::vector<std::string>& methods, int clusters, int fits, nb::handle points,
                       const nb::dict& side, const nb::dict& preparation, const nb::dict& columns, std::uint64_t seed,
                       int threads, const std::string& device) {
    ConsensusOptions options{.clusters = clusters, .fits = fits, .methods = methods};
    const Settings settings = settings_of(preparation, columns);
    const Problem problem = problem_of(points, side);
    Host host;
    Run run(seed, threads);
    run.device = device;
    host.attach(run);
    Consensus found = host.work([&] { return consensus(problem, options, settings, run); });
    const std::string document = json_document(found, "X");
    return nb::make_tuple(document, owned_array(std::move(found.labels)), owned_array(std::move(found.confidence)));
}

}  // namespace

void add_tuning(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Compared>(module, "Compared")
        .def("page", &Compared::page, "points"_a.none(), "side"_a, "truth"_a.none(), "truth_names"_a, "source"_a,
             "threads"_a);
    module.def("tune", &tuned, "method"_a, "fixed"_a, "grid"_a, "how"_a, "points"_a.none(), "side"_a, "preparation"_a,
               "columns"_a, "seed"_a, "threads"_a, "device"_a, "truth"_a.none(), "notify"_a.none());
    module.def("compare", &compared, "methods"_a, "clusters"_a, "points"_a.none(), "side"_a, "preparation"_a,
               "columns"_a, "seed"_a, "threads"_a, "device"_a, "truth"_a.none());
    module.def("consensus", &consensus_of, "methods"_a, "clusters"_a, "fits"_a, "points"_a.none(), "side"_a,
               "preparation"_a, "columns"_a, "seed"_a, "threads"_a, "device"_a);
}

}  // namespace coterie::python
