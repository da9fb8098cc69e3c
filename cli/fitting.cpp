#include "fitting.hpp"

#include <algorithm>
#include <set>

#include "coterie/io/graph_reader.hpp"
#include "coterie/io/internal/output_file.hpp"
#include "coterie/model/model.hpp"
#include "picture.hpp"
#include "table.hpp"

namespace coterie::cli {
namespace {

// Before the fit, not after it: a truth that does not belong to these points should cost nothing.
void require_fitting_truth(const Truth& truth, Index rows, const std::string& source) {
    const auto& labels = truth.column.labels;
    require_rows(labels, "truth " + truth.source, rows, source);
    if (std::all_of(labels.begin(), labels.end(), [](auto label) { return label < 0; }))
        throw BadData("truth " + truth.source + " is blank in every row");
}

bool nothing_to_score(const Truth& truth, const Labels& partial_labels) {
    for (std::size_t i = 0; i < partial_labels.size(); ++i)
        if (truth.column.labels[i] >= 0 && partial_labels[i] < 0) return false;
    return true;
}

bool takes_affinities(const Method& method, const FitRequest& request) {
    const auto affinity = request.given->find("affinity");
    return method.takes.graph && affinity != request.given->end() &&
           affinity->second == OptionValue(std::string("precomputed"));
}

// They may come as a sparse graph.
bool may_be_graph(const Method& method, const FitRequest& request) {
    return takes_affinities(method, request) && request.reading->label_column.empty() &&
           request.reading->columns.empty();
}

// As messages name it.
std::string source_of(const FitRequest& request) { return request.points == "-" ? "standard input" : request.points; }

// Of affinities there are no points to prepare; of a graph none to draw.
void refuse_what_points_have(const FitRequest& request, bool graph) {
    const auto refuse = [&](const std::string& option) {
        throw BadArgument("option " + option + ": " + request.points +
                          (graph ? " is a graph, which has no coordinates" : " holds affinities, not coordinates"));
    };
    const OptionSet& preparing = PreparationOptions::described();
    for (const auto& option : preparing.options())
        if (option.get(request.preprocessing.get()) != option.default_value) refuse(option_flag(option.name));
    if (!graph) return;
    if (!request.picture.empty()) refuse("--picture");
    if (!request.report.empty()) refuse("--report");
}

// `own`: the labels that came with the points.
std::optional<Truth> find_truth(const FitRequest& request, std::optional<LabelColumn> own, Index rows, const Run& run) {
    std::optional<Truth> truth;
    if (request.truth == "none") return truth;
    if (!request.truth.empty()) {
        truth = read_truth(request.truth, request.truth_column, run);
    } else if (own) {
        truth = Truth{std::move(*own), request.reading->label_column.empty()
                                           ? request.points
                                           : "column " + request.reading->label_column + " of " + request.points};
    }
    if (truth) require_fitting_truth(*truth, rows, request.points);
    return truth;
}

std::string picture_subtitle(const Outcome& outcome) {
    const FitReport& report = outcome.report;
    std::string out = "n = " + count_text(report.points) + ", d = " + count_text(report.dimensions) +
                      ", k = " + count_text(report.clusters_requested);
    if (outcome.preprocessing != "none") out += ", " + outcome.preprocessing;
    if (outcome.agreement) {
        const Scores& scores = outcome.agreement->scores;
        out += "  \u00b7  ACC " + share_text(scores.acc) + ", NMI " + share_text(scores.nmi) + ", ARI " +
               share_text(scores.ari);
    } else {
        out += "  \u00b7  objective " + number_text(report.objective);
    }
    return out;
}

}  // namespace

Outputs FitRequest::check() const {
    if (!truth_column.empty() && (truth.empty() || truth == "none"))
        throw UsageError("option --truth-column needs --truth FILE",
                         "a column of the points' own file is --label-column");
    constraints->check();
    Outputs outputs;
    for (const auto& input : {points, truth, weights, initial_centroids, constraints->partial_labels})
        outputs.keep(input);
    const auto pretrained = given->find("pretrained");
    if (pretrained != given->end() && !std::get<std::string>(pretrained->second).empty())
        for (const char* option : {"pretrain_epochs", "pretrain_batch_size", "pretrain_rate"})
            if (given->contains(option))
                throw UsageError("option " + option_flag(option) + ": with --pretrained there is no pre-training",
                                 "leave one of them out");
    for (const char* option : {"pretrained", "checkpoint"})
        if (const auto found = given->find(option); found != given->end())
            outputs.keep(std::get<std::string>(found->second));
    outputs.add("--labels-out", labels_out, label_extensions());
    outputs.add("--model-out", model_out);
    outputs.add("--picture", picture, {".svg"});
    outputs.add("--report", report, {".html", ".htm"});
    outputs.check(running->json);
    return outputs;
}

OptionValues FitRequest::options() const {
    OptionValues out = *given;
    // With partial labels the labels say how many clusters there are, whatever the method's default.
    if (!constraints->partial_labels.empty()) out.emplace("clusters", std::int64_t{0});
    return out;
}

bool has_clusters(const Method& method) {
    return std::any_of(method.options->options().begin(), method.options->options().end(),
                       [](const Option& option) { return option.letter == 'k'; });
}

void refuse_method(const std::string& word) {
    std::vector<std::string> names;
    for (const auto& method : methods()) names.push_back(method.name);
    const std::string close = nearest(word, names);
    try {
        find_method(word);
    } catch (const BadArgument& error) {
        throw UsageError(error.message(), close.empty() ? "coterie methods says more" : "did you mean " + close + "?");
    }
}

std::vector<std::string> notes_on(const Method& method, const OptionValues& given) {
    if (!has_clusters(method) || given.contains("clusters")) return {};
    return {"-k is not given; the number of clusters is the default, " +
            to_text(method.options->at("clusters").default_value)};
}

Command method_command(const Method& method, std::shared_ptr<FitRequest> request, std::vector<Flag> first) {
    Command command;
    command.name = method.name;
    command.summary = method.summary;
    command.operands = {{"POINTS", points_meaning, true, Completion::points, {}, [request](const std::string& word) {
                             request->points = word;
                         }}};
    command.flags = std::move(first);
    const auto append = [&](std::vector<Flag> more) {
        for (auto& flag : more) command.flags.push_back(std::move(flag));
    };
    const auto text = [&](const char* name, const char* value, const char* meaning, const char* group,
                          std::string& target, Completion completion = Completion::file) {
        command.flags.push_back(text_flag(name, value, meaning, group, target, request, completion));
    };

    append(flags_of(*method.options, "Options of " + method.name, request->given));
    append(read_flags(request->reading));
    text("--truth", "FILE",
         "labels to score against, in any format that holds one label per row (data:NAME too); the label column or the "
         "data set's own "
         "truth serve when it is not given; none: no scores",
         "Reading", request->truth);
    text("--truth-column", "COLUMN", "the column of the --truth file, by name or number from 1", "Reading",
         request->truth_column, Completion::nothing);
    if (method.takes.weights)
        text("--weights", "FILE", "one number per row, at least 0: weight w acts as w copies of the point", "Reading",
             request->weights);
    if (method.takes.initial_centroids)
        text("--initial-centroids", "FILE", "k rows to start from, in the units of the points' file", "Reading",
             request->initial_centroids);
    append(constraint_flags(method.takes, request->constraints));
    append(flags_of(PreparationOptions::described(), "Preparing (stored in the model, and applied again by predict)",
                    std::static_pointer_cast<void>(request->preprocessing)));

    text("--labels-out", "FILE", labels_out_meaning, "Writing", request->labels_out);
    text("--model-out", "FILE", "write the model, for coterie predict and any reader of safetensors", "Writing",
         request->model_out);
    text("--report", "FILE.html", "write a report of one self-contained page", "Writing", request->report);
    text("--picture", "FILE.svg", "write a scatter of the first two principal axes, coloured by cluster", "Writing",
         request->picture);

    append(run_flags(request->running, {"--seed", "--threads"}));
    append(run_flags(request->running, {"--quiet", "--json"}));
    Flag strict;
    strict.name = "--strict";
    strict.meaning = "exit with 4 when the iteration limit came before convergence, or clusters collapsed";
    strict.group = "Running";
    strict.take = [request](const std::string& value) {
        request->strict = std::get<bool>(RunRequest::described().at("json").parse(value));
    };
    command.flags.push_back(std::move(strict));

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
    read_constraints(*request.constraints, problem);
    const bool graph_wanted = may_be_graph(method, request);
    std::optional<LabelColumn> own_truth;
    if (graph_wanted && is_graph(request.points)) {
        problem.graph = std::make_shared<SparseMatrix>(read_graph(request.points, run));
    } else {
        PointsFile file = points_from(request.points, request.reading->options(), run);
        const std::string source = source_of(request);
        if (graph_wanted && is_edge_list(file.points, request.points, source)) {
            // Numbers of points would be rounded.
            if (file.points.scalar() == ScalarType::float32)
                throw BadArgument("option --precision: " + source + " is a graph, whose lines are read in float64");
            problem.graph = std::make_shared<SparseMatrix>(formats::graph_of_edges(file.points, source));
        } else {
            problem.points = std::move(file.points);
            problem.column_names = std::move(file.column_names);
            own_truth = std::move(file.labels);
        }
    }
    if (takes_affinities(method, request)) refuse_what_points_have(request, problem.graph != nullptr);
    const Labels& partial_labels = problem.partial_labels;
    if (!partial_labels.empty())
        require_rows(partial_labels, "option --partial-labels: " + request.constraints->partial_labels, problem.rows(),
                     request.points);
    inputs.truth = find_truth(request, std::move(own_truth), problem.rows(), run);
    if (inputs.truth && !partial_labels.empty() && nothing_to_score(*inputs.truth, partial_labels)) {
        inputs.warnings.push_back("every point that truth " + inputs.truth->source +
                                  " knows has a partial label; nothing is left to score");
        inputs.truth.reset();
    }
    if (!request.weights.empty()) problem.weights = read_numbers(request.weights);
    if (!request.initial_centroids.empty()) {
        ReadOptions centroid_options;
        centroid_options.precision = request.reading->precision;
        problem.initial_centroids = read_points(request.initial_centroids, centroid_options, run).points;
    }
    inputs.seconds = watch.seconds();
    return inputs;
}

namespace {
// Where --pretrained names a model whose points were prepared in another way.
void warn_of_other_preprocessing(const OptionValues& given, const Preparation& preprocessing,
                                 std::vector<std::string>& warnings) {
    const auto found = given.find("pretrained");
    if (found == given.end() || std::get<std::string>(found->second).empty()) return;
    const std::string& path = std::get<std::string>(found->second);
    try {
        const Preparation before = Preparation::from(Archive::load(path));
        if (before.text() != preprocessing.text())
            warnings.push_back("--pretrained " + path + " was trained on points that were " + before.text() +
                               "; these are " + preprocessing.text());
    } catch (const BadData&) {  // of another program, or unsound: the fit says so
    }
}
}  // namespace

Outcome fit_and_write(const Method& method, const OptionValues& given, const FitRequest& request, FitInputs inputs,
                      Run run, ProgressBar& bar) {
    Outcome outcome;
    outcome.method = &method;
    outcome.source = request.points == "-" ? "standard input" : request.points;
    for (const auto& option : method.options->options()) outcome.options[option.name] = option.default_value;
    for (const auto& [name, value] : given) outcome.options[name] = value;
    if (!request.labels_out.empty()) outcome.written.emplace_back("labels", request.labels_out);
    if (!request.model_out.empty()) outcome.written.emplace_back("model", request.model_out);
    if (!request.picture.empty()) outcome.written.emplace_back("picture", request.picture);
    if (!request.report.empty()) outcome.written.emplace_back("report", request.report);
    outcome.seconds.emplace_back("read", inputs.seconds);
    outcome.warnings = inputs.warnings;
    const Problem& problem = inputs.problem;
    outcome.scalar = std::string(name(problem.graph ? ScalarType::float64 : problem.points.scalar()));

    run.should_stop = InterruptGuard::interrupted;
    const auto fitted = [&] {
        try {
            return Pipeline::fit(method, given, problem, *request.preprocessing, run);
        } catch (const BadData& error) {
            if (!may_be_graph(method, request)) throw;
            throw BadData(source_of(request) + ": " + error.message(),
                          error.fields());  // what is the matter is in the file's numbers
        }
    };
    Stopwatch watch;
    const Pipeline pipeline = naming_points(source_of(request), fitted);
    const Model& model = pipeline.model();
    outcome.preprocessing = pipeline.preparation().text();
    for (const auto& warning : with_flags(pipeline.warnings())) outcome.warnings.push_back(warning);
    warn_of_other_preprocessing(given, pipeline.preparation(), outcome.warnings);
    bar.clear();
    // What follows writes what was found; it must not stop because the fit was asked to.
    run.should_stop = nullptr;
    run.on_progress = nullptr;
    const double preparing = pipeline.preparation_seconds();
    if (!pipeline.preparation().identity()) outcome.seconds.emplace_back("preprocess", preparing);
    outcome.seconds.emplace_back("fit", watch.restart() - preparing);
    outcome.report = model.fit_report();
    outcome.interrupted = outcome.report.stopped == StopReason::interrupted || InterruptGuard::interrupted();
    const Labels& partial_labels = problem.partial_labels;
    if (const auto clusters = outcome.options.find("clusters"); clusters != outcome.options.end())
        clusters->second = std::int64_t{model.clusters()};
    for (const auto& stage : outcome.report.seconds)
        if (std::none_of(outcome.seconds.begin(), outcome.seconds.end(),
                         [&](const auto& each) { return each.first == stage.first; }))
            outcome.seconds.push_back(stage);
    for (const auto& warning : with_flags(outcome.report.warnings)) outcome.warnings.push_back(warning);
    outcome.labels = label_groups(model.cluster_labels(), outcome.report.sizes, partial_labels);

    const LabelColumn labels = merged_by_label(model.labels(), model.cluster_labels());
    if (inputs.truth) {
        outcome.agreement = compare(labels, request.points, *inputs.truth, partial_labels);
        outcome.truth_source = inputs.truth->source;
        if (outcome.agreement->unknown > 0)
            outcome.warnings.push_back(count_text(outcome.agreement->unknown) + " of " +
                                       count_text(outcome.report.points) +
                                       " points have no truth and are left out of the scores");
        if (!outcome.labels.empty() && !outcome.agreement->label_accuracy)
            outcome.warnings.push_back(no_name_in_common(inputs.truth->source));
        outcome.seconds.emplace_back("score", watch.restart());
    }

    if (!request.labels_out.empty()) write_labels(request.labels_out, labels.labels, labels.names);
    if (!request.model_out.empty()) pipeline.save(request.model_out);
    if (!request.picture.empty() || !request.report.empty()) {
        const std::string picture = scatter_picture(pipeline.prepared(), model.labels(), outcome.report.sizes,
                                                    {method.name + " on " + outcome.source, picture_subtitle(outcome)},
                                                    problem.column_names, run);
        outcome.seconds.emplace_back("draw", watch.restart());
        if (!request.picture.empty()) write_file(request.picture, picture);
        if (!request.report.empty()) write_file(request.report, outcome_html(outcome, picture));
    }

    return outcome;
}

void print_result(const std::string& text, const Outputs& outputs) {
    if (outputs.uses_standard_output()) {
        print_aside(text);
    } else {
        print(text);
    }
}

int tell_end(const Outcome& outcome, const FitRequest& request) {
    const std::string iterations = std::to_string(outcome.report.iterations) + " iterations";
    if (outcome.interrupted) {
        print_error("interrupted after " + iterations + "; this is what was found so far");
        return Exit::interrupted;
    }
    const StopReason stopped = outcome.report.stopped;
    if (request.strict && (stopped == StopReason::iteration_limit || stopped == StopReason::collapsed)) {
        print_error((stopped == StopReason::collapsed ? "collapsed after " : "not converged after ") + iterations +
                    " (--strict)");
        return Exit::not_converged;
    }
    return Exit::done;
}

}  // namespace coterie::cli
