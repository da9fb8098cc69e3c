#include <algorithm>
#include <cmath>
#include <set>

#include "commands.hpp"
#include "common.hpp"
#include "constraints.hpp"
#include "coterie/io/model.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/preprocess.hpp"
#include "coterie/methods.hpp"
#include "outcome.hpp"
#include "picture.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct FitRequest {
    std::string points;
    std::shared_ptr<OptionValues> given = std::make_shared<OptionValues>();
    std::shared_ptr<ReadRequest> reading = std::make_shared<ReadRequest>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
    std::shared_ptr<ConstraintRequest> constraints = std::make_shared<ConstraintRequest>();
    std::shared_ptr<PreprocessingOptions> preprocessing = std::make_shared<PreprocessingOptions>();
    std::string truth;
    std::string truth_column;
    std::string weights;
    std::string initial_centroids;
    std::string labels_out;
    std::string model_out;
    std::string report;
    std::string picture;
    bool strict = false;
};

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

std::optional<Truth> find_truth(const FitRequest& request, PointsFile& file, const Run& run) {
    std::optional<Truth> truth;
    if (request.truth == "none") return truth;
    if (!request.truth.empty()) {
        truth = read_truth(request.truth, request.truth_column, run);
    } else if (file.labels) {
        truth =
            Truth{std::move(*file.labels), request.reading->label_column.empty()
                                               ? request.points
                                               : "column " + request.reading->label_column + " of " + request.points};
    }
    if (truth) require_fitting_truth(*truth, file.points.rows(), request.points);
    return truth;
}

std::string zero_rows_warning(Index zero_rows) {
    return count_text(zero_rows) + (zero_rows == 1 ? " row is" : " rows are") +
           " 0 throughout and cannot be scaled to norm 1; left as " + (zero_rows == 1 ? "it is" : "they are");
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

int fit(const Method& method, const FitRequest& request) {
    const bool quiet = request.running->quiet;
    const bool json = request.running->json;
    if (!request.truth_column.empty() && (request.truth.empty() || request.truth == "none"))
        throw UsageError("option --truth-column needs --truth FILE",
                         "a column of the points' own file is --label-column");
    request.constraints->check();

    Outputs outputs;
    for (const auto& input : {request.points, request.truth, request.weights, request.initial_centroids,
                              request.constraints->partial_labels})
        outputs.keep(input);
    outputs.add("--labels-out", request.labels_out, label_extensions());
    outputs.add("--model-out", request.model_out);
    outputs.add("--picture", request.picture, {".svg"});
    outputs.add("--report", request.report, {".html", ".htm"});
    outputs.check(json);

    Outcome outcome;
    outcome.method = &method;
    outcome.source = request.points == "-" ? "standard input" : request.points;
    for (const auto& option : method.options->options()) outcome.options[option.name] = option.default_value;
    OptionValues given = *request.given;
    // With partial labels the labels say how many clusters there are, whatever the method's default.
    if (!request.constraints->partial_labels.empty() && !given.contains("clusters"))
        given["clusters"] = std::int64_t{0};
    for (const auto& [name, value] : given) outcome.options[name] = value;
    if (!request.labels_out.empty()) outcome.written.emplace_back("labels", request.labels_out);
    if (!request.model_out.empty()) outcome.written.emplace_back("model", request.model_out);
    if (!request.picture.empty()) outcome.written.emplace_back("picture", request.picture);
    if (!request.report.empty()) outcome.written.emplace_back("report", request.report);

    Run run = request.running->run();
    ProgressBar bar(!quiet && shows_progress());
    bar.attach(run);

    Stopwatch watch;
    Constraints constraints = read_constraints(*request.constraints);
    PointsFile file = read_points_file(request.points, request.reading->options(), run);
    const Labels& partial_labels = constraints.partial_labels.labels;
    if (!partial_labels.empty())
        require_rows(partial_labels, "option --partial-labels: " + request.constraints->partial_labels,
                     file.points.rows(), request.points);
    auto truth = find_truth(request, file, run);
    if (truth && !partial_labels.empty() && nothing_to_score(*truth, partial_labels)) {
        outcome.warnings.push_back("every point that truth " + truth->source +
                                   " knows has a partial label; nothing is left to score");
        truth.reset();
    }
    std::vector<double> weights;
    if (!request.weights.empty()) weights = read_numbers(request.weights);
    Points initial_centroids;
    if (!request.initial_centroids.empty()) {
        ReadOptions centroid_options;
        centroid_options.precision = request.reading->precision;
        initial_centroids = read_points(request.initial_centroids, centroid_options, run).points;
    }
    outcome.seconds.emplace_back("read", watch.restart());
    outcome.scalar = std::string(name(file.points.scalar()));

    const auto preprocessing = Preprocessing::fit(file.points, *request.preprocessing, run, weights);
    outcome.preprocessing = preprocessing.text();
    for (const auto& warning : preprocessing.warnings()) outcome.warnings.push_back(warning);
    if (!preprocessing.identity()) {
        Index zero_rows = 0;
        file.points = preprocessing.apply(file.points, run, &zero_rows);
        if (zero_rows > 0) outcome.warnings.push_back(zero_rows_warning(zero_rows));
        if (initial_centroids.rows() > 0) initial_centroids = preprocessing.apply(initial_centroids, run);
        outcome.seconds.emplace_back("preprocess", watch.restart());
    }

    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    SideInformation side;
    side.weights = weights;
    side.initial_centroids = initial_centroids;
    side.partial_labels = partial_labels;
    side.label_names = constraints.partial_labels.names;
    side.clusters_per_label = std::move(constraints.clusters_per_label);
    side.group_shares = std::move(constraints.group_shares);
    side.sizes = constraints.sizes;
    const auto model = method.fit(file.points, given, run, side);
    bar.clear();
    // What follows writes what was found; it must not stop because the fit was asked to.
    run.should_stop = nullptr;
    run.on_progress = nullptr;
    outcome.seconds.emplace_back("fit", watch.restart());
    outcome.report = model->fit_report();
    if (const auto clusters = outcome.options.find("clusters"); clusters != outcome.options.end())
        clusters->second = std::int64_t{model->clusters()};
    for (const auto& stage : outcome.report.seconds)
        if (std::none_of(outcome.seconds.begin(), outcome.seconds.end(),
                         [&](const auto& each) { return each.first == stage.first; }))
            outcome.seconds.push_back(stage);
    outcome.warnings.insert(outcome.warnings.end(), outcome.report.warnings.begin(), outcome.report.warnings.end());
    outcome.labels = label_groups(model->cluster_labels(), outcome.report.sizes, partial_labels);

    const LabelColumn labels = merged_by_label(model->labels(), model->cluster_labels());
    if (truth) {
        outcome.agreement = compare(labels, request.points, *truth, partial_labels);
        outcome.truth_source = truth->source;
        if (outcome.agreement->unknown > 0)
            outcome.warnings.push_back(count_text(outcome.agreement->unknown) + " of " +
                                       count_text(outcome.report.points) +
                                       " points have no truth and are left out of the scores");
        if (!outcome.labels.empty() && !outcome.agreement->label_accuracy)
            outcome.warnings.push_back(no_name_in_common(truth->source));
        outcome.seconds.emplace_back("score", watch.restart());
    }

    if (!request.labels_out.empty()) write_labels(request.labels_out, labels.labels, labels.names);
    if (!request.model_out.empty()) {
        Archive archive{method.name};
        model->store(archive);
        preprocessing.store(archive);
        archive.save(request.model_out);
    }
    if (!request.picture.empty() || !request.report.empty()) {
        const std::string picture =
            scatter_picture(file.points, model->labels(), outcome.report.sizes,
                            {method.name + " on " + outcome.source, picture_subtitle(outcome)}, file.column_names, run);
        outcome.seconds.emplace_back("draw", watch.restart());
        if (!request.picture.empty()) write_file(request.picture, picture);
        if (!request.report.empty()) write_file(request.report, outcome_html(outcome, picture));
    }

    const bool stopped = outcome.report.stopped == StopReason::interrupted || InterruptGuard::interrupted();
    if (!quiet)
        for (const auto& warning : outcome.warnings) print_warning(warning);
    if (stopped)
        print_error("interrupted after " + std::to_string(outcome.report.iterations) +
                    " iterations; this is what was found so far");
    if (json) {
        print(outcome_json(outcome));
    } else if (outputs.uses_standard_output()) {
        print_aside(outcome_text(outcome));
    } else {
        print(outcome_text(outcome));
    }
    if (stopped) return Exit::interrupted;
    if (request.strict && outcome.report.stopped == StopReason::iteration_limit) {
        print_error("not converged after " + std::to_string(outcome.report.iterations) + " iterations (--strict)");
        return Exit::not_converged;
    }
    return Exit::done;
}

Flag device_flag(const std::string& method) {
    Flag flag;
    flag.name = "--device";
    flag.value = "cpu|cuda";
    flag.meaning = "where to compute";
    flag.standard = "cpu";
    flag.choices = {"cpu", "cuda"};
    flag.completion = Completion::choices;
    flag.group = "Running";
    flag.take = [method](const std::string& value) {
        if (value == "cpu") return;
        throw BadArgument("option --device: " + value + " is not accepted; method " + method + " computes on cpu");
    };
    return flag;
}

std::vector<Example> examples_for(const Method& method) {
    const std::string start = "coterie fit " + method.name + " ";
    const bool has_k = std::any_of(method.options->options().begin(), method.options->options().end(),
                                   [](const Option& option) { return option.letter == 'k'; });
    const std::string k = has_k ? " -k " : "";
    std::vector<Example> examples = {
        {start + "data:digits" + (has_k ? k + "10" : ""),
         "the handwritten digits that ship with coterie, scored against their truth"},
        {start + "points.csv" + (has_k ? k + "3" : "") +
             " --label-column species --scale zscore --labels-out labels.csv",
         "columns to equal variance; the column species is truth, not a coordinate"},
        {start + "points.npy" + (has_k ? k + "50" : "") + " --model-out model.safetensors --report report.html --json",
         "a model for coterie predict, a report to look at, and one JSON document"}};
    if (method.honours.partial_labels)
        examples.push_back(
            {start + "points.npy" + (has_k ? k + "5" : "") + " --partial-labels known.csv --group-share other=0.95",
             "some labels are known, and that 95 of 100 points are of the label other"});
    return examples;
}

Command fit_method_command(const Method& method) {
    const auto request = std::make_shared<FitRequest>();
    Command command;
    command.name = method.name;
    command.summary = method.summary;
    command.operands = {{"POINTS", points_meaning, true, Completion::points, {}, [request](const std::string& word) {
                             request->points = word;
                         }}};
    command.flags = flags_of(*method.options, "Options of " + method.name, request->given);
    const auto append = [&](std::vector<Flag> more) {
        for (auto& flag : more) command.flags.push_back(std::move(flag));
    };
    const auto text = [&](const char* name, const char* value, const char* meaning, const char* group,
                          std::string& target, Completion completion = Completion::file) {
        command.flags.push_back(text_flag(name, value, meaning, group, target, request, completion));
    };

    append(read_flags(request->reading));
    text("--truth", "FILE",
         "labels to score against, in any format that holds one label a row (data:NAME too); the label column or the "
         "data set's own "
         "truth serve when it is not given; none: no scores",
         "Reading", request->truth);
    text("--truth-column", "COLUMN", "the column of the --truth file, by name or number from 1", "Reading",
         request->truth_column, Completion::nothing);
    if (method.honours.weights)
        text("--weights", "FILE", "one number a row, at least 0: weight w acts as w copies of the point", "Reading",
             request->weights);
    if (method.honours.initial_centroids)
        text("--initial-centroids", "FILE", "k rows to start from, in the units of the points' file", "Reading",
             request->initial_centroids);
    append(constraint_flags(method.honours, request->constraints));
    append(flags_of(PreprocessingOptions::described(), "Preparing (stored in the model, and applied again by predict)",
                    std::static_pointer_cast<void>(request->preprocessing)));

    text("--labels-out", "FILE", labels_out_meaning, "Writing", request->labels_out);
    text("--model-out", "FILE", "write the model, for coterie predict and any reader of safetensors", "Writing",
         request->model_out);
    text("--report", "FILE.html", "write a report of one self-contained page", "Writing", request->report);
    text("--picture", "FILE.svg", "write a scatter of the first two principal axes, coloured by cluster", "Writing",
         request->picture);

    append(run_flags(request->running, {"--seed", "--threads"}));
    if (!method.options->find("device")) command.flags.push_back(device_flag(method.name));
    append(run_flags(request->running, {"--quiet", "--json"}));
    Flag strict;
    strict.name = "--strict";
    strict.meaning = "exit with 4 when the iteration limit came before convergence";
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

    command.examples = examples_for(method);
    command.act = [&method, request] { return fit(method, *request); };
    return command;
}

}  // namespace

Command fit_command() {
    Command command;
    command.name = "fit";
    command.summary = "find clusters in points";
    command.details =
        "Reads the points, fits the method, and prints sizes, objective and, where the truth is known, scores. Labels, "
        "a model for "
        "predict, a picture and a report are written where a file is named for them, each whole or not at all.";
    command.commands_are = "METHOD";
    for (const auto& method : methods()) command.commands.push_back(fit_method_command(method));
    command.refuse_command = [](const std::string& word) {
        std::vector<std::string> names;
        for (const auto& method : methods()) names.push_back(method.name);
        const std::string close = nearest(word, names);
        try {
            find_method(word);
        } catch (const BadArgument& error) {
            throw UsageError(error.message(),
                             close.empty() ? "coterie methods says more" : "did you mean " + close + "?");
        }
    };
    command.examples = {
        {"coterie fit kmeans data:digits -k 10", "k-means on the handwritten digits that ship with coterie"},
        {"coterie fit kmeans --help", "the options of one method, with defaults and accepted values"}};
    return command;
}

}  // namespace coterie::cli
