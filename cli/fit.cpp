// coterie fit METHOD. Notes, warnings and the reason why the fit ended go to standard error, then the result goes to
// standard output. Examples are built from the inputs that a method takes, so a new method needs no line here.

#include "commands.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "fitting.hpp"

namespace coterie::cli {
namespace {

int fit(const Method& method, FitRequest& request) {
    const OutputPaths outputs = request.check();
    Run run = request.running.run_in_processes();
    ProgressBar bar(run, request.running.quiet);
    FitInputs inputs;
    internal::together(run.communicator(), [&] { inputs = read_inputs(method, request, run); });
    const std::vector<Message> notes = inputs.notes_on(method, request.options());
    print_notes(notes, request.running);
    const InterruptGuard guard(run);
    const bool first = run.communicator().rank() == 0;
    WriteFailures failures;
    OptionValues given = request.options();
    std::optional<ClusterChoice> choice;
    const auto clusters = given.find("clusters");
    // With partial labels, these set the automatic number of clusters.
    if (takes_clusters(method) && clusters != given.end() && clusters->second == OptionValue(Automatic()) &&
        request.constraints.partial_labels.empty()) {
        OptionValues fixed = given;
        fixed.erase("clusters");
        choice = naming_points(source_name(request.points), [&] {
            Stopwatch watch;
            const PreparedProblem& prepared = prepared_in(inputs, request, run);
            ClusterChoice found = choose_clusters(prepared, {method, fixed}, {}, run);
            found.seconds = watch.seconds();
            return found;
        });
        given["clusters"] = std::int64_t{choice->recommended};
    }
    FitResult result = fit_and_write(method, given, request, std::move(inputs), std::move(run), bar, failures, choice);
    result.notes = notes;
    print_warnings(result.warnings, request.running);
    const int code = tell_end(result, request);
    if (first) print_document(request.running, outputs, result);
    failures.rethrow();
    return code;
}

std::vector<Example> examples_for(const Method& method) {
    const std::string start = "coterie fit " + method.name + " ";
    const bool has_k = has_clusters(method);
    const std::string k = has_k ? " -k " : "";
    const auto has = [&](const char* option) { return method.options->find(option) != nullptr; };
    std::string few_passes;  // so that the first example ends soon
    if (has("pretrain_epochs")) few_passes += " --pretrain-epochs 10";
    if (has("pretrain_epochs") && has("max_iterations")) few_passes += " --max-iterations 300";
    if (method.takes.device && has("epochs")) few_passes += " --epochs 5";
    std::vector<Example> examples = {
        {start + "data:digits" + (has_k ? k + "10" : "") + few_passes,
         std::string("the handwritten digits that ship with coterie, scored against their truth") +
             (few_passes.empty() ? "" : "; few training passes")},
        {start + "points.csv" + (has_k ? k + "3" : "") +
             " --label-column species --scale zscore --labels-out labels.csv",
         "scale the columns to equal variance; the column species is only compared with the clusters"},
        {start + "points.npy" + (has_k ? k + "50" : "") + " --model-out model.safetensors --report report.html --json",
         "write a report and a model for coterie predict, and print one JSON document"}};
    const std::string partial = start + "points.npy" + (has_k ? k + "5" : "") + " --partial-labels known.csv";
    if (method.takes.shares != Shares::none)
        examples.push_back({partial + " --label-share other=0.95",
                            "some labels are known, and 95 % of the rows have the label other"});
    else if (method.takes.labels)
        examples.push_back({partial, "some labels are known"});
    return examples;
}

Command fit_method_command(const Method& method) {
    const auto request = std::make_shared<FitRequest>();
    Command command = method_command(method, request);
    if (takes_clusters(method)) {
        Flag& clusters = flag_named(command.flags, "--clusters");
        clusters.automatic = std::string("chosen by seven criteria") +
                             (method.takes.labels ? ", or by the partial labels if you give them" : "");
        clusters.accepted = "auto, or a whole number, at least 1";
        clusters.take = [take = clusters.take, request](const std::string& text) {
            try {
                if (text == "auto")
                    request->given["clusters"] = Automatic();
                else
                    take(text);
            } catch (const BadArgument&) {
                throw refused_option("clusters", text, "`auto`, or a whole number, at least 1");
            }
        };
    }
    append(command.flags, FlagList(request).options("Running", request->settings));
    command.examples = examples_for(method);
    command.act = [&method, request] { return fit(method, *request); };
    return command;
}

}  // namespace

Command fit_command() {
    Command command;
    command.name = "fit";
    command.summary = "find clusters in data";
    command.details =
        "Reads the data, fits the method, and prints the cluster sizes, the objective and, if the truth is known, "
        "scores. Labels, a model for predict, a picture and a report are written only if you name a file for them, "
        "each completely or not at all.";
    command.commands_are = "METHOD";
    for (const auto& method : methods()) command.commands.push_back(fit_method_command(method));
    command.refuse_command = refuse_method;
    command.examples = {
        {"coterie fit kmeans data:digits -k 10", "k-means on the handwritten digits that ship with coterie"},
        {"coterie fit kmeans --help", "the options of one method, with defaults and accepted values"}};
    return command;
}

}  // namespace coterie::cli
