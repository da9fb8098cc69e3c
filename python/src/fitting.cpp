// Fits, and fitted pipelines (coterie/pipeline/pipeline.hpp). Python's values are read before the interpreter's lock is
// released.

#include <exception>
#include <optional>
#include <tuple>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "core.hpp"
#include "processes.hpp"

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/local_rows.hpp"
#include "coterie/base/text.hpp"
#include "coterie/methods.hpp"
#include "coterie/model/fit_report.hpp"
#include "coterie/pipeline/column_hints.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/report/document.hpp"
#include "coterie/report/map.hpp"
#include "coterie/report/page.hpp"
#include "coterie/report/picture.hpp"
#include "coterie/report/selection_document.hpp"
#include "coterie/selection/choose_clusters.hpp"

namespace coterie::python {
namespace {

nb::dict dict_of_report(const FitReport& report) {
    nb::dict seconds, details;
    for (const auto& [stage, value] : report.seconds) seconds[nb::cast(stage)] = value;
    for (const auto& [key, detail] : report.details)
        details[nb::cast(key)] = std::visit([](const auto& value) -> nb::object { return nb::cast(value); }, detail);
    return dict_with({{"points", report.points},
                      {"dimensions", report.dimensions},
                      {"clusters_requested", report.clusters_requested},
                      {"clusters_found", report.clusters_found},
                      {"sizes", report.sizes},
                      {"objective", report.objective},
                      {"objective_per_iteration", report.objective_per_iteration},
                      {"iterations", report.iterations},
                      {"stopped", std::string(name(report.stopped))},
                      {"empty_clusters_repaired", report.empty_clusters_repaired},
                      {"seconds", seconds},
                      {"seed", report.seed},
                      {"threads", report.threads},
                      {"details", details}});
}

nb::object array_of(const Archive::Tensor& tensor) {
    const std::vector<std::size_t> shape(tensor.shape.begin(), tensor.shape.end());
    const auto as = [&]<class Scalar>(Scalar) {
        std::vector<Scalar> values(tensor.bytes.size() / sizeof(Scalar));
        std::copy(tensor.bytes.begin(), tensor.bytes.end(), reinterpret_cast<std::byte*>(values.data()));
        return owned_array(std::move(values), shape);
    };
    switch (tensor.type) {
        case Archive::ElementType::float32: return as(float());
        case Archive::ElementType::float64: return as(double());
        case Archive::ElementType::int32: return as(std::int32_t());
        case Archive::ElementType::int64: return as(std::int64_t());
        case Archive::ElementType::uint8: return as(std::uint8_t());
    }
    throw InternalError("archive: unknown element type");
}

// Rows of the caller before their preparation, from a tuple of points, names of columns and categories.
struct GivenRows {
    explicit GivenRows(const nb::tuple& given)
        : points(points_of(given[0])),
          names(nb::cast<std::vector<std::string>>(given[1])),
          categories(nb::cast<Words>(given[2])) {}
    Points points;
    std::vector<std::string> names;
    Words categories;
};

class Fitted {
public:
    explicit Fitted(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}
    Fitted(const Archive& archive, const std::string& source)
        : pipeline_(Pipeline::from(archive, source)), facts_(archive.texts()) {}

    const Pipeline& pipeline() const { return pipeline_; }
    const Model& model() const { return pipeline_.model(); }

    nb::tuple predict(const nb::tuple& given, int threads, const std::string& device) const {
        const GivenRows rows(given);
        Host host(0, threads, device);
        auto [labels, warnings] = host.work([&](const Run& run) {
            const PreparedRows prepared = prepare(rows, run);
            return std::pair(pipeline_.predict(prepared, run), prepared.warnings);
        });
        host.run.throw_if_stopped("predict");
        return nb::make_tuple(owned_array(std::move(labels)), warnings);
    }

    nb::tuple output(const std::string& which, const nb::tuple& given, int threads, const std::string& device) const {
        const GivenRows rows(given);
        auto [matrix, warnings] = Host(0, threads, device).work([&](const Run& run) {
            const PreparedRows prepared = prepare(rows, run);
            return std::pair(pipeline_.output(output_named(which), prepared, run), prepared.warnings);
        });
        return nb::make_tuple(owned_array(std::move(matrix)), warnings);
    }

    // The rows after preparation.
    nb::object prepared(const nb::tuple& given, int threads) const {
        const GivenRows rows(given);
        const Points ready = Host(0, threads).work([&](const Run& run) { return prepare(rows, run).points; });
        return array_of_points(ready.view());
    }

    std::vector<std::string> outputs() const {
        std::vector<std::string> out;
        for (int i = 0; i < output_count; ++i)
            if (pipeline_.has(static_cast<Output>(i))) out.emplace_back(name(static_cast<Output>(i)));
        return out;
    }

    nb::dict options() const { return dict_of(model().option_values()); }

    nb::list parts() const {
        return list_of(pipeline_.part_descriptions(),
                       [](const PartDescription& part) { return nb::make_tuple(part.name, part.shape, part.meaning); });
    }

    nb::object part(const std::string& name) const {
        const Archive archive = pipeline_.archive();
        const auto found = archive.tensors().find(name);
        if (found == archive.tensors().end()) throw nb::key_error(name.c_str());
        return array_of(found->second);
    }

    // The texts in the model's file or, after a fit, the texts that the file would have.
    std::map<std::string, std::string> facts() const { return facts_.empty() ? pipeline_.archive().texts() : facts_; }

    // The JSON document of `coterie describe`, and the warnings.
    nb::tuple describe(const nb::tuple& given, const std::optional<Numbers>& weights, int threads,
                       const std::string& device, const nb::object& other_model) const {
        const std::optional<Other> other = other_of(other_model);
        const GivenRows rows(given);
        const std::vector<double> numbers = weights ? vector_of(*weights) : std::vector<double>();
        Host host(0, threads, device);
        auto [document, warnings] = host.work([&](const Run& run) {
            const PreparedRows prepared = prepare(rows, run);
            AppliedResult result =
                description_result(pipeline_, coterie::describe(pipeline_, prepared, run, numbers), prepared, "X");
            add_comparison(result, other, prepared, run);
            std::vector<Message> said = prepared.warnings;
            said.insert(said.end(), result.warnings.begin(), result.warnings.end());
            return std::pair(json_document(result), said);
        });
        host.run.throw_if_stopped("describe");
        return nb::make_tuple(document, warnings);
    }

    // The page about the fit, whose rows these are. For a loaded model: about its clusters in these rows. truth:
    // indices into truth_names, or none.
    std::string page(const nb::tuple& given, const std::optional<Labels1>& truth,
                     const std::vector<std::string>& truth_names, const std::string& source, int threads,
                     const nb::object& other_model, const std::string& search) const {
        const std::optional<Other> other = other_of(other_model);
        const GivenRows rows(given);
        const Problem problem{.points = rows.points};
        const std::optional<Truth> known = truth_of(truth, truth_names);
        return Host(0, threads).work([&](const Run& run) {
            const PreparedRows prepared = prepare(rows, run);
            if (!prepared.points.resident())
                throw BadArgument(Code::not_supported,
                                  std::string("the page's picture needs rows in memory, but these are ") +
                                      (as_sparse(problem.points) != nullptr ? "sparse" : "read in blocks"),
                                  "", {.option = "points"});
            if (model().fit_report().points == 0) {
                AppliedResult result =
                    description_result(pipeline_, coterie::describe(pipeline_, prepared, run), prepared, source);
                result.model = "a loaded model";
                if (known) {
                    const Labels labels = pipeline_.predict(prepared, run);
                    result.agreement = compare(merged_by_label(labels, model().cluster_labels()), source, *known);
                    result.truth_source = known->source;
                }
                add_comparison(result, other, prepared, run);
                return coterie::html_document(result, applied_picture(pipeline_, result, prepared, run), {},
                                              page_map(pipeline_, result, prepared, known, run), search);
            }
            const Labels& labels = pipeline_.labels_of_prepared();
            if (prepared.points.rows() != static_cast<Index>(labels.size()))
                throw BadArgument(Code::wrong_shape,
                                  counted(prepared.points.rows(), "row") + ", but the model was fitted on " +
                                      std::to_string(labels.size()),
                                  "Pass the rows of the fit", {.option = "points"});
            FitResult result = fit_result(pipeline_, pipeline_.labels(), find_method(model().method()),
                                          model().option_values(), problem, source, known);
            const std::string picture = scatter_picture(prepared.points, labels, result.sizes, {result.title(), ""},
                                                        pipeline_.prepared_names(), run);
            result.description = coterie::describe(pipeline_, prepared, run, {}, &labels);
            add_comparison(result, other, prepared, run);
            return coterie::html_document(result, picture, {}, page_map(pipeline_, result, prepared, known, run),
                                          search);
        });
    }

    nb::tuple cluster_labels() const {
        const ClusterLabels& labels = model().cluster_labels();
        return nb::make_tuple(labels.names, labels.label_of);
    }

private:
    // Another model, and the same rows converted for it.
    struct Other {
        const Fitted* fitted;
        GivenRows rows;
    };
    static std::optional<Other> other_of(const nb::object& other_model) {
        if (other_model.is_none()) return std::nullopt;
        return Other{nb::cast<const Fitted*>(other_model[0]), GivenRows(nb::cast<nb::tuple>(other_model[1]))};
    }
    PreparedRows prepare(const GivenRows& rows, const Run& run) const {
        return pipeline_.prepare(rows.points, rows.names, run, rows.categories);
    }
    void add_comparison(ClusteringResult& result, const std::optional<Other>& other, const PreparedRows& prepared,
                        const Run& run) const {
        if (!other) return;
        const Fitted& theirs = *other->fitted;
        result.comparison = compare_models(pipeline_, prepared, result.description->row_labels, theirs.pipeline_,
                                           theirs.prepare(other->rows, run), run);
        result.comparison->model = "the other model";
    }
    static Output output_named(const std::string& which) {
        for (int i = 0; i < output_count; ++i)
            if (name(static_cast<Output>(i)) == which) return static_cast<Output>(i);
        throw BadArgument(Code::unknown_name, "there is no output '" + which + "'", "", {.value = which});
    }

    Pipeline pipeline_;
    std::map<std::string, std::string> facts_;
};

// Returns (model, labels, report, warnings, document of the choice of k or ""). `choose`: whether the criteria choose
// the number of clusters.
nb::tuple fit(const std::string& method_name, const nb::dict& options, nb::handle points, const nb::dict& side,
              const nb::dict& preparation, const nb::dict& columns, const nb::dict& fit_options, std::uint64_t seed,
              int threads, const std::string& device, const std::string& checkpoint, nb::object notify,
              const nb::object& communicator, const std::optional<std::vector<std::pair<Index, Index>>>& places,
              bool choose) {
    const Method& method = find_method(method_name);
    OptionValues values;
    Settings settings;
    Problem problem;
    std::exception_ptr bad_input;  // thrown in `agree`, so that all processes stop
    try {
        values = option_values(*method.options, options);
        settings = settings_of(preparation, columns, fit_options);
        problem = problem_of(points, side);
    } catch (...) {
        bad_input = std::current_exception();
    }
    Host host(seed, threads, device, std::move(notify));
    host.run.checkpoint = checkpoint;
    if (!communicator.is_none()) host.run.set_communicator(communicator_of(communicator));
    auto [fitted, found, choice] = host.work([&](const Run& run) {
        internal::agree(run.communicator(), bad_input);
        std::shared_ptr<const internal::LocalRows> shared;
        if (places) {
            std::vector<internal::Range> ranges;
            for (const auto& [begin, end] : *places) ranges.push_back({begin, end});
            shared = std::make_shared<const internal::LocalRows>(problem.points, run.communicator(), ranges);
            problem.points = Points(shared);
        }
        const auto fit_it = [&](auto&& given) { return Pipeline::fit(given, {method, values}, settings, run); };
        std::string document;
        std::optional<Pipeline> out;
        if (choose) {
            Stopwatch watch;
            Run choosing = run;
            choosing.checkpoint.clear();  // only the fit uses it
            const PreparedProblem prepared = PreparedProblem::of(problem, settings, run);
            ClusterChoice chosen = choose_clusters(prepared, {method, values}, {}, choosing);
            chosen.seconds = watch.seconds();
            values["clusters"] = std::int64_t{chosen.recommended};
            document = json_document(chosen);
            out = fit_it(prepared);
        } else {
            out = fit_it(problem);
        }
        out->release_prepared();  // they borrow or copy Python's arrays
        Labels labels = shared ? shared->to_holders(out->labels()) : out->labels();
        return std::tuple(std::move(*out), std::move(labels), std::move(document));
    });
    nb::object labels = owned_array(std::move(found));
    nb::dict report = dict_of_report(fitted.fit_report());
    report["preparation_seconds"] = fitted.preparation_seconds();
    report["fit_seconds"] = fitted.fit_seconds();
    // Hints need the rows of all parts, but each process has only its own.
    std::vector<Message> warnings =
        problem.column_names.empty() || places ? std::vector<Message>() : column_hints(problem, settings.preparation);
    warnings.insert(warnings.end(), fitted.warnings().begin(), fitted.warnings().end());
    warnings.insert(warnings.end(), fitted.fit_report().warnings.begin(), fitted.fit_report().warnings.end());
    return nb::make_tuple(Fitted(std::move(fitted)), labels, report, warnings, choice);
}

}  // namespace

Problem problem_of(nb::handle points, const nb::dict& side) {
    Problem problem;
    const auto given = [&](const char* key) { return nb::object(side[key]); };
    const auto has = [&](const char* key) { return side.contains(key) && !given(key).is_none(); };
    if (!points.is_none()) problem.points = points_of(points);
    if (has("graph")) {
        const auto [rows, starts, columns, values] =
            nb::cast<std::tuple<std::int64_t, Indices, Indices, Numbers>>(given("graph"));
        problem.graph =
            std::make_shared<SparseMatrix>(rows, rows, vector_of(starts), vector_of(columns), vector_of(values));
    }
    if (has("column_names")) problem.column_names = nb::cast<std::vector<std::string>>(given("column_names"));
    if (has("kinds"))
        for (const int kind : nb::cast<std::vector<int>>(given("kinds")))
            problem.column_kinds.push_back(static_cast<ColumnKind>(kind));
    if (has("categories")) problem.categories = nb::cast<Words>(given("categories"));
    if (has("weights")) problem.weights = vector_of(nb::cast<Numbers>(given("weights")));
    if (has("initial_centroids")) problem.initial_centroids = points_of(given("initial_centroids"));
    if (has("labels")) {
        problem.partial_labels = vector_of(nb::cast<Labels1>(given("labels")));
        problem.label_names = nb::cast<std::vector<std::string>>(given("label_names"));
    }
    if (has("clusters_per_label"))
        for (const auto& [label, clusters] :
             nb::cast<std::vector<std::pair<std::string, int>>>(given("clusters_per_label")))
            problem.clusters_per_label.push_back({label, clusters});
    if (has("label_shares"))
        for (const auto& [label, low, high] :
             nb::cast<std::vector<std::tuple<std::string, double, double>>>(given("label_shares")))
            problem.label_shares.push_back({label, low, high});
    if (has("sizes")) {
        const auto [low, high] =
            nb::cast<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>>(given("sizes"));
        problem.sizes.emplace();
        if (low) problem.sizes->low = *low;
        if (high) problem.sizes->high = *high;
    }
    for (const auto& [key, pairs] :
         {std::pair("must_links", &problem.must_links), {"cannot_links", &problem.cannot_links}})
        if (has(key))
            for (const auto& [first, second] : nb::cast<std::vector<std::pair<std::int64_t, std::int64_t>>>(given(key)))
                pairs->push_back({first, second});
    return problem;
}

void add_fitting(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Fitted>(module, "Fitted", "A fitted method with the preparation of its rows, as saved and loaded.")
        .def_prop_ro("method", [](const Fitted& f) { return std::string(f.model().method()); })
        .def_prop_ro("clusters", [](const Fitted& f) { return f.model().clusters(); })
        .def_prop_ro("columns", [](const Fitted& f) { return f.pipeline().columns(); })
        .def_prop_ro("kinds", [](const Fitted& f) { return numbers_of(f.pipeline().coding().kinds()); })
        .def_prop_ro("column_names", [](const Fitted& f) { return f.pipeline().column_names(); })
        .def_prop_ro("preparation",
                     [](const Fitted& f) {
                         const PreparationOptions& options = f.pipeline().preparation().options();
                         OptionValues values = PreparationOptions::described().values(&options);
                         values.merge(ColumnOptions::described().values(&f.pipeline().coding().options()));
                         return dict_of(values);
                     })
        .def_prop_ro("facts", &Fitted::facts)
        .def_prop_ro("options", &Fitted::options)
        .def_prop_ro("outputs", &Fitted::outputs)
        .def_prop_ro("parts", &Fitted::parts)
        .def_prop_ro("cluster_labels", &Fitted::cluster_labels)
        .def("part", &Fitted::part)
        .def("predict", &Fitted::predict)
        .def("prepared", &Fitted::prepared)
        .def("describe", &Fitted::describe, "rows"_a, "weights"_a.none(), "threads"_a, "device"_a,
             "compare_with"_a.none())
        .def("page", &Fitted::page, "rows"_a, "truth"_a.none(), "truth_names"_a, "source"_a, "threads"_a,
             "compare_with"_a.none(), "search"_a)
        .def("output", &Fitted::output)
        .def("save",
             [](const Fitted& f, const std::string& path) {
                 const nb::gil_scoped_release released;
                 f.pipeline().save(path);
             })
        .def("to_bytes", [](const Fitted& f) { return bytes_of(f.pipeline().archive().to_bytes()); });
    module.def("fit", &fit, "method"_a, "options"_a, "points"_a.none(), "side"_a, "preparation"_a, "columns"_a,
               "fit_options"_a, "seed"_a, "threads"_a, "device"_a, "checkpoint"_a, "notify"_a.none(),
               "communicator"_a.none() = nb::none(), "places"_a.none() = nb::none(), "choose"_a = false);
    module.def("load", [](const std::string& path) {
        const nb::gil_scoped_release released;
        return Fitted(Archive::load(path), path);
    });
    module.def("from_bytes", [](const nb::bytes& bytes, const std::string& source) {
        return Fitted(Archive::from_bytes(span_of(bytes), source), source);
    });
}

}  // namespace coterie::python
