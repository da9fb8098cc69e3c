// Errors that words and inputs alone can show are reported before the fit: missing options that others need, outputs
// that cannot be written, a truth of another length. Files are written last, also if the fit is interrupted.

#include "fitting.hpp"

#include <algorithm>
#include <set>

#include "coterie/base/load_rows.hpp"
#include "coterie/io/graph_reader.hpp"
#include "coterie/model/model.hpp"
#include "coterie/pipeline/column_hints.hpp"
#include "coterie/report/labels_file.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "program.hpp"

namespace coterie::cli {
namespace {

// Called before the fit, so that no time is lost if the truth belongs to other points.
void require_fitting_truth(const Truth& truth, Index rows, const std::string& source) {
    const auto& labels = truth.column.labels;
    require_rows(labels, "truth " + truth.source, rows, source);
    if (std::all_of(labels.begin(), labels.end(), [](auto label) { return label < 0; }))
        throw BadData(Code::empty, "truth " + truth.source + " is blank in every row",
                      "Use --truth none for a fit without scores");
}

bool nothing_to_score(const Truth& truth, const Labels& partial_labels) {
    for (std::size_t i = 0; i < partial_labels.size(); ++i)
        if (truth.column.labels[i] >= 0 && partial_labels[i] < 0) return false;
    return true;
}

bool takes_affinities(const Method& method, const FitRequest& request) {
    const auto affinity = request.given.find("affinity");
    return method.takes.graph && affinity != request.given.end() &&
           affinity->second == OptionValue(std::string("precomputed"));
}

// Whether the points may be a sparse graph.
bool may_be_graph(const Method& method, const FitRequest& request) {
    return takes_affinities(method, request) && request.reading.label_column.empty() && request.reading.columns.empty();
}

// Throws BadArgument for options that need coordinates. Affinities have no points to prepare, and a graph none to draw.
void refuse_what_points_have(const FitRequest& request, bool graph) {
    const auto refuse = [&](const std::string& option) {
        throw BadArgument(
            Code::conflict,
            "needs coordinates, but " + source_name(request.points) + (graph ? " is a graph" : " holds affinities"),
            "Leave this option out", {.option = option});
    };
    for (const auto& option : PreparationOptions::described().options())
        if (option.get(&request.settings.preparation) != option.default_value) refuse(option.name);
    for (const auto& option : ColumnOptions::described().options())
        if (option.get(&request.settings.columns) != option.default_value) refuse(option.name);
    if (!graph) return;
    if (!request.paths.picture.empty()) refuse("picture");
    if (!request.paths.page.empty()) refuse("report");
}

// `own`: the labels that came with the points.
std::optional<Truth> find_truth(const FitRequest& request, std::optional<LabelColumn> own, Index rows,
                                const std::vector<FilePart>& parts, const Run& run) {
    std::optional<Truth> truth;
    if (request.truth == "none") return truth;
    if (!request.truth.empty()) {
        truth = read_truth(request.truth, request.truth_column, run, parts);
    } else if (own) {
        truth = Truth{std::move(*own), request.reading.label_column.empty()
                                           ? request.points
                                           : "column " + request.reading.label_column + " of " + request.points};
    }
    if (truth) require_fitting_truth(*truth, rows, request.points);
    return truth;
}

std::vector<Flag> preparing_flags(const std::shared_ptr<FitRequest>& request) {
    const char* const heading = "Preparing (stored in the model, and applied again by predict)";
    return FlagList(request)
        .options(heading, request->settings.preparation)
        .options(heading, request->settings.columns);
}

}  // namespace

OutputPaths FitRequest::check() {
    require_truth(truth, truth_column);
    require_weights(weights, weights_column);
    constraints.check();
    std::vector<std::string> inputs = {
        points, truth, weights, initial_centroids, constraints.partial_labels, constraints.pairs, running.checkpoint};
    if (const auto found = given.find("pretrained"); found != given.end()) {
        inputs.push_back(std::get<std::string>(found->second));
        for (const char* option : {"pretrain_epochs", "pretrain_batch_size", "pretrain_rate"})
            if (!inputs.back().empty() && given.contains(option))
                throw BadArgument(Code::without_effect,
                                  "changes nothing, because with `pretrained` there is no pre-training",
                                  "Leave out one of the two", {.option = option});
    }
    OutputPaths outputs = check_outputs(running, inputs,
                                        {{"labels_out", paths.labels, label_extensions},
                                         {"table_out", paths.table, table_extensions},
                                         {"model_out", paths.model},
                                         {"picture", paths.picture, {".svg"}},
                                         {"report", paths.page, page_extensions}});
    reading.scratch_folder = outputs.folder();
    return outputs;
}

OptionValues FitRequest::options() const {
    OptionValues out = given;
    // If there are partial labels, they decide the number of clusters, whatever the method's default.
    if (!constraints.partial_labels.empty()) out.emplace("clusters", Automatic());
    return out;
}

std::vector<Flag> table_flags(const std::shared_ptr<FitRequest>& request) {
    return FlagList(request).reading(request->reading).add(preparing_flags(request));
}

std::vector<std::string> methods_in(const std::string& list) {
    const std::vector<std::string> known = names_of(methods());
    std::vector<std::string> out;
    for (const std::size_t place : positions_of("--methods", list, known)) out.push_back(known[place]);
    return out;
}

bool has_clusters(const Method& method) {
    return std::any_of(method.options->options().begin(), method.options->options().end(),
                       [](const Option& option) { return option.letter == 'k'; });
}

void refuse_method(const std::string& word) {
    find_or_suggest(word, names_of(methods()), "See coterie methods", "", find_method);
}

std::vector<Message> FitInputs::notes_on(const Method& method, const OptionValues& given) const {
    std::vector<Message> out = notes;
    if (has_clusters(method) && !given.contains("clusters"))
        out.push_back({.problem = "no number of clusters is given, so the default is used: " +
                                  to_text(method.options->at("clusters").default_value),
                       .option = "clusters"});
    return out;
}

Command method_command(const Method& method, std::shared_ptr<FitRequest> request, std::vector<Flag> first) {
    Command command;
    command.name = method.name;
    command.summary = method.summary;
    command.operands = {points_operand(request->points, request)};
    FlagList flags(request);
    flags.add(std::move(first))
        .options("Options of " + method.name, *method.options, request->given)
        .reading(request->reading)
        .truth(truth_meaning, request->truth, request->truth_column);
    if (method.takes.weights)
        flags.weights(
            "file with one weight per row, at least 0; a row of weight w counts as w copies; a name with *, ? or [ "
            "means one file for each data file",
            request->weights, request->weights_column);
    if (method.takes.initial_centroids)
        flags.file("--initial-centroids", "FILE",
                   "file with k starting centroids, one per row, in the units of the data file", "Reading",
                   request->initial_centroids);
    flags.add(constraint_flags(method.takes, {request, &request->constraints}))
        .add(preparing_flags(request))
        .labels_out(request->paths.labels)
        .table_out(request->paths.table)
        .file("--model-out", "FILE", "write the model for coterie predict; any reader of safetensors opens it",
              "Writing", request->paths.model)
        .report(request->paths.page)
        .file("--picture", "FILE.svg", "write a scatter plot of the first two principal axes, coloured by cluster",
              "Writing", request->paths.picture);
    std::vector<std::string> running = {"--seed", "--threads", "--memory", "--quiet", "--json"};
    if (method.takes.device) running.push_back("--device");
    if (method.takes.checkpoint) running.push_back("--checkpoint");
    flags.running(request->running, running);
    const auto take_strict = [request](const std::string& value) {
        request->strict = std::get<bool>(RunRequest::described().at("json").parse(value));
    };
    command.flags = flags.add(
        {.name = "--strict",
         .meaning =
             "exit with code 4 if the fit reaches its iteration limit before it converges, or if clusters collapse",
         .group = "Running",
         .take = take_strict});

    std::set<std::string> seen;
    for (const auto& flag : command.flags)
        if (!seen.insert(flag.name).second || (flag.letter && !seen.insert(std::string(1, flag.letter)).second))
            throw InternalError("method " + method.name + " describes an option " + flag.name +
                                " that every method has already");

    return command;
}

FitInputs read_inputs(const Method& method, const FitRequest& request, const Run& run) {
    Stopwatch watch;
    FitInputs inputs;
    Problem& problem = inputs.problem;
    const bool graph_wanted = may_be_graph(method, request);
    std::optional<LabelColumn> own_truth;
    std::vector<FilePart> parts;
    if (graph_wanted && is_graph(request.points)) {
        problem.graph = std::make_shared<SparseMatrix>(read_graph(request.points, run));
    } else {
        ReadOptions options = request.reading.options();
        request.settings.columns.read_by(options);
        options.keep_rows = !request.paths.table.empty() || !request.paths.page.empty();
        options.numeric_names = options.advises = !takes_affinities(method, request);  // affinities are never missing
        PointsFile file = points_from(request.points, options, run);
        const std::string source = source_name(request.points);
        if (file.reading) inputs.notes.push_back(*file.reading);
        inputs.warnings = std::move(file.notes);
        inputs.rows = std::move(file.rows);
        parts = file.parts;
        if (graph_wanted && is_edge_list(file.points, request.points, source)) {
            // With float32, the numbers would be rounded.
            if (file.points.scalar() == ScalarType::float32)
                throw BadArgument(Code::conflict, source + " is a graph, whose numbers are read as float64",
                                  "Leave this option out", {.option = "precision"});
            problem.graph = std::make_shared<SparseMatrix>(formats::graph_of_edges(file.points, source));
        } else {
            problem.points = std::move(file.points);
            problem.column_names = std::move(file.column_names);
            problem.column_kinds = std::move(file.kinds);
            problem.categories = std::move(file.categories);
            own_truth = std::move(file.labels);
        }
    }
    // Data sets of the catalogue are already checked; affinities have no columns.
    if (!problem.graph && !request.points.starts_with("data:") && !takes_affinities(method, request))
        for (auto& hint : column_hints(problem, request.settings.preparation))
            inputs.warnings.push_back(std::move(hint));
    read_constraints(request.constraints, parts, problem, run);
    if (!request.paths.table.empty()) require_one_process_for_table(run);
    if (run.communicator().size() > 1 && is_in_parts(request.paths.labels) && inputs.rows &&
        inputs.rows->id_column() >= 0)
        throw BadArgument(Code::conflict, "ids cannot be written if each process writes its own file of labels",
                          "Name one file of labels for all processes", {.option = "id_column"});
    if (!request.paths.table.empty() && problem.graph)
        throw BadArgument(Code::conflict, source_name(request.points) + " is a graph, which has no rows to write",
                          "Use --labels-out", {.option = "table_out"});
    if (!problem.graph)
        for (const auto& [option, path] : {std::pair("picture", request.paths.picture), {"report", request.paths.page}})
            if (!path.empty()) require_rows_in_memory(option, problem.points, run);
    if (takes_affinities(method, request)) refuse_what_points_have(request, problem.graph != nullptr);
    const Labels& partial_labels = problem.partial_labels;
    if (!partial_labels.empty())
        require_rows(partial_labels, "--partial-labels " + request.constraints.partial_labels, problem.rows(),
                     request.points);
    inputs.truth = find_truth(request, std::move(own_truth), problem.rows(), parts, run);
    if (inputs.truth && !partial_labels.empty() && nothing_to_score(*inputs.truth, partial_labels)) {
        inputs.warnings.push_back({.code = Code::without_effect,
                                   .problem = "every row with a label in truth " + inputs.truth->source +
                                              " also has a partial label, so there is nothing to score",
                                   .remedy = "Use a truth with labels for other rows"});
        inputs.truth.reset();
    }
    if (!request.weights.empty())
        problem.weights = read_weights(request.weights, request.weights_column, problem.rows(), parts);
    if (!request.initial_centroids.empty()) {
        ReadOptions centroid_options;
        centroid_options.precision = request.reading.precision;
        centroid_options.advises = false;
        problem.initial_centroids = load(read_points(request.initial_centroids, centroid_options, run).points,
                                         "--initial-centroids " + request.initial_centroids, run);
    }
    inputs.seconds = watch.seconds();
    return inputs;
}

const PreparedProblem& prepared_in(FitInputs& inputs, const FitRequest& request, const Run& run) {
    if (!inputs.prepared)
        inputs.prepared = naming_points(source_name(request.points), [&] {
            return std::make_shared<const PreparedProblem>(PreparedProblem::of(inputs.problem, request.settings, run));
        });
    return *inputs.prepared;
}

FitResult fit_and_write(const Method& method, const OptionValues& given, const FitRequest& request, FitInputs inputs,
                        Run run, ProgressBar& bar, WriteFailures& failures, const std::optional<ClusterChoice>& choice,
                        const std::string& search) {
    const std::string source = source_name(request.points);
    const auto fitted = [&] {
        try {
            const MethodOptions options(method, given);
            return inputs.prepared ? Pipeline::fit(*inputs.prepared, options, request.settings, run)
                                   : Pipeline::fit(inputs.problem, options, request.settings, run);
        } catch (BadData& error) {
            if (may_be_graph(method, request) && error.fields().file.empty())  // the error is in the values of the file
                error.amend([&](Message& message) { message.file = source; });
            throw;
        }
    };
    const Pipeline pipeline = naming_points(source, fitted);
    const bool interrupted = InterruptGuard::interrupted();
    bar.clear();
    // The rest writes the results. It must run even when the fit was asked to stop.
    run.should_stop = nullptr;
    run.on_progress = nullptr;
    std::optional<Description> description;  // before any file is written, because it may run out of memory
    if (!inputs.problem.graph && !takes_affinities(method, request)) {
        const PreparedRows rows_of_fit = pipeline.fitted_rows();
        if (request.paths.page.empty())
            description.emplace().clusters = profile(pipeline, rows_of_fit, run, inputs.problem.weights);
        else
            description = describe(pipeline, rows_of_fit, run, inputs.problem.weights, &pipeline.labels_of_prepared());
    }
    const bool needed = inputs.truth || request.paths.draws();
    const FitLabels labels = write_fit_labels(pipeline, request.paths.labels, needed, inputs.rows.get(), run, failures);
    if (run.communicator().rank() > 0) {  // rank 0 prints and writes
        FitResult result;
        result.report = pipeline.fit_report();
        result.interrupted = interrupted || result.report.stopped == StopReason::interrupted;
        return result;
    }
    FitResult result = fit_result(pipeline, labels.all, method, given, inputs.problem, source, inputs.truth);
    result.description = std::move(description);
    result.choice = choice;
    if (choice) result.seconds.emplace(result.seconds.begin(), "choose k", choice->seconds);
    result.interrupted = result.interrupted || interrupted;
    result.seconds.emplace(result.seconds.begin(), "read", inputs.seconds);
    result.warnings.insert(result.warnings.begin(), inputs.warnings.begin(), inputs.warnings.end());
    result.command = command_text();
    result.date = date_text();
    if (labels.written) result.written.emplace_back("labels", request.paths.labels);
    write_fit_files(request.paths, pipeline, {inputs.problem, inputs.truth, inputs.rows.get(), option_flag, search},
                    run, result, failures);
    return result;
}

int tell_end(const FitResult& result, const FitRequest& request) {
    const std::string iterations = std::to_string(result.report.iterations) + " iterations";
    if (result.interrupted) {
        const std::string& checkpoint = request.running.checkpoint;
        print_error("interrupted after " + iterations + "; the result is what was found so far" +
                    (checkpoint.empty() ? "" : ". The same command continues from " + checkpoint));
        return Exit::interrupted;
    }
    const StopReason stopped = result.report.stopped;
    if (request.strict && (stopped == StopReason::iteration_limit || stopped == StopReason::collapsed)) {
        print_error((stopped == StopReason::collapsed ? "collapsed after " : "not converged after ") + iterations +
                    " (--strict)");
        return Exit::not_converged;
    }
    return Exit::done;
}

}  // namespace coterie::cli
