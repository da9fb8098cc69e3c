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

nb::dict dict_of_cell(const TuneCell& cell) {
    return dict_with({{"method", cell.method},
                      {"options", dict_of(cell.options)},
                      {"criterion", cell.criterion},
                      {"seen", scores_of(cell.seen)},
                      {"unseen", scores_of(cell.unseen)},
                      {"seconds", cell.seconds},
                      {"error", cell.error}});
}

nb::dict tuned(const std::string& method_name, const nb::dict& fixed,
               const std::vector<std::pair<std::string, nb::list>>& grid, const nb::dict& how, nb::handle points,
               const nb::dict& side, const nb::dict& preparation, const nb::dict& columns, std::uint64_t seed,
               int threads, const std::string& device, const std::optional<Labels1>& truth, nb::object notify) {
    const Method& method = find_method(method_name);
    const OptionValues values = option_values(*method.options, fixed);
    auto options = options_of<TuneOptions>(how);
    const Settings settings = settings_of(preparation, columns);
    for (const auto& [name, items] : grid) {
        const Option& option = option_on_grid(method, name);
        GridAxis axis{name, {}};
        for (const nb::handle item : items) axis.values.push_back(option_value(option, item));
        options.grid.push_back(std::move(axis));
    }
    const Problem problem = problem_of(points, side);
    const LabelSpan known = truth ? span_of(*truth) : LabelSpan();
    const TuneResult result = Host(seed, threads, device, std::move(notify)).work([&](const Run& run) {
        return tune(problem, {method, values}, options, settings, run, known);
    });
    return dict_with({{"cells", list_of(result.cells, &dict_of_cell)},
                      {"best", result.best},
                      {"best_method", result.best_method},
                      {"best_options", dict_of(result.best_options)},
                      {"choice", result.choice ? nb::cast(json_document(*result.choice)) : nb::none()},
                      {"page", page_search(options, result)}});
}

// A comparison, and the data that its page needs in addition to the rows.
struct Compared {
    Comparison found;
    Settings settings;
    std::uint64_t seed = 0;

    // truth: indices into truth_names, or none.
    std::string page(nb::handle points, const nb::dict& side, const std::optional<Labels1>& truth,
                     const std::vector<std::string>& truth_names, const std::string& source, int threads) const {
        const Problem problem = problem_of(points, side);
        const std::optional<Truth> known = truth_of(truth, truth_names);
        return Host(seed, threads).work([&](const Run& run) {
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
    }
};

// Returns (document, labels of each method, the comparison for its page).
nb::tuple compared(const std::vector<std::string>& methods, int clusters, nb::handle points, const nb::dict& side,
                   const nb::dict& preparation, const nb::dict& columns, std::uint64_t seed, int threads,
                   const std::string& device, const std::optional<Labels1>& truth) {
    const CompareOptions options{.clusters = clusters, .methods = methods};
    const Settings settings = settings_of(preparation, columns);
    const Problem problem = problem_of(points, side);
    const LabelSpan known = truth ? span_of(*truth) : LabelSpan();
    Host host(seed, threads, device);
    Comparison found =
        host.work([&](const Run& run) { return compare_methods(problem, options, settings, run, known); });
    host.run.throw_if_stopped("compare");
    const nb::list labels =
        list_of(found.methods, [](const auto& method) { return owned_array(Labels(method.labels)); });
    const std::string document = json_document(found, "X");
    return nb::make_tuple(document, labels, Compared{std::move(found), settings, seed});
}

// Returns (document, labels, confidence).
nb::tuple consensus_of(const std::vector<std::string>& methods, int clusters, int fits, nb::handle points,
                       const nb::dict& side, const nb::dict& preparation, const nb::dict& columns, std::uint64_t seed,
                       int threads, const std::string& device) {
    const ConsensusOptions options{.clusters = clusters, .fits = fits, .methods = methods};
    const Settings settings = settings_of(preparation, columns);
    const Problem problem = problem_of(points, side);
    Consensus found =
        Host(seed, threads, device).work([&](const Run& run) { return consensus(problem, options, settings, run); });
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
