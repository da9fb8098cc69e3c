// Searches over options (coterie/selection/tune.hpp).

#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "core.hpp"

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
               const nb::dict& side, const nb::dict& preparation, std::uint64_t seed, int threads,
               const std::string& device, const std::optional<Labels1>& truth, nb::object notify) {
    const Method& method = find_method(method_name);
    const OptionValues values = option_values(*method.options, fixed);
    TuneOptions options;
    TuneOptions::described().assign(&options, option_values(TuneOptions::described(), how));
    PreparationOptions::described().assign(&options.preparation,
                                           option_values(PreparationOptions::described(), preparation));
    for (const auto& [name, items] : grid) {
        const Option& option = method.options->at(name);
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
    const TuneResult result = host.work([&] { return tune(method, problem, values, options, run, known); });
    nb::dict out;
    nb::list cells;
    for (const TuneCell& cell : result.cells) cells.append(dict_of_cell(cell, larger_is_better(options.select)));
    out["cells"] = cells;
    out["best"] = result.best;
    out["best_method"] = result.best_method;
    out["best_options"] = dict_of(result.best_options);
    out["interrupted"] = result.interrupted;
    return out;
}

}  // namespace

void add_tuning(nb::module_& module) {
    using namespace nb::literals;
    module.def("tune", &tuned, "method"_a, "fixed"_a, "grid"_a, "how"_a, "points"_a.none(), "side"_a, "preparation"_a,
               "seed"_a, "threads"_a, "device"_a, "truth"_a.none(), "notify"_a.none());
}

}  // namespace coterie::python
