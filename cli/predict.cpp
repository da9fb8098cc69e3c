// coterie predict: checks the requested outputs before it reads points. Flags and messages follow from a list over
// Output.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/pipeline/description.hpp"
#include "coterie/report/labels_file.hpp"
#include "coterie/report/predicted_files.hpp"
#include "model_command.hpp"

namespace coterie::cli {
namespace {

struct PredictRequest : ModelRequest {
    std::string truth;
    std::string truth_column;
    PredictedPaths paths = {.outputs = {{Output::embedding, {}},
                                        {Output::memberships, {}},
                                        {Output::label_scores, {}},
                                        {Output::distances, {}},
                                        {Output::outlier_score, {}}}};
};

// The option that names the file of an output.
std::string option_of(Output output) {
    if (output == Output::label_scores) return "scores_out";
    if (output == Output::outlier_score) return "outlier_scores_out";
    return std::string(name(output)) + "_out";
}

std::string flag_of(Output output) { return option_flag(option_of(output)); }

void require_outputs(const PredictRequest& request, const Pipeline& pipeline) {
    std::string there;
    for (int o = 0; o < output_count; ++o)
        if (pipeline.has(static_cast<Output>(o)))
            there += (there.empty() ? "" : ", ") + flag_of(static_cast<Output>(o));
    for (const auto& [output, path] : request.paths.outputs)
        if (!path.empty() && !pipeline.has(available_output(pipeline, output)))
            throw BadArgument(Code::not_supported,
                              filled("{}, a model of {}, has no {}", request.model, pipeline.model().method(),
                                     output == Output::label_scores ? "scores" : std::string(name(output))),
                              there.empty() ? "" : "This model accepts " + there,
                              {.option = option_of(output), .accepted = there});
}

// Called when the number of processes is known: several processes cannot write to one file.
void require_parts(const PredictRequest& request, const Run& run) {
    for (const auto& [output, path] : request.paths.outputs)
        if (!path.empty() && run.communicator().size() > 1 && !is_in_parts(path))
            throw BadArgument(Code::not_supported, "several processes cannot write to one file, " + path,
                              "Name a file for each of them, such as part-{rank}.npy",
                              {.option = option_of(output), .value = path});
    if (!request.paths.table.empty()) require_one_process_for_table(run);
}

int predict(PredictRequest& request) {
    require_truth(request.truth, request.truth_column);
    std::vector<OutputPath> written = {{"labels_out", request.paths.labels, label_extensions},
                                       {"table_out", request.paths.table, table_extensions}};
    for (const auto& [output, path] : request.paths.outputs)
        written.push_back({option_of(output), path, {".csv", ".npy"}});
    const OutputPaths outputs =
        check_outputs(request.running, {request.model, request.points, request.truth}, std::move(written));
    request.reading.scratch_folder = outputs.folder();

    Run run = request.running.run_in_processes();
    ProgressBar bar(run, request.running.quiet);
    Seconds seconds;
    Stopwatch watch;
    std::optional<Pipeline> loaded;
    PointsFile file;
    std::optional<Truth> truth;
    internal::together(run.communicator(), [&] {
        loaded = Pipeline::load(request.model);
        require_outputs(request, *loaded);
        file = points_for(*loaded, request, run, !request.paths.table.empty());
        if (request.truth == "none") return;
        if (!request.truth.empty()) {
            truth = read_truth(request.truth, request.truth_column, run, file.parts);
        } else if (file.labels) {
            truth = Truth{std::move(*file.labels), request.points};
        }
    });
    const Pipeline& pipeline = *loaded;
    seconds.emplace_back("read", watch.restart());

    const PreparedRows rows = prepared_for(pipeline, request, file, run);
    const InterruptGuard guard(run);
    WriteFailures failures;
    require_parts(request, run);
    const Predicted predicted = naming_points(request.points, [&] {
        return predict_to_files(pipeline, rows, file, request.paths, truth.has_value(), run, failures);
    });
    // Rows that are read in blocks are not read again for a warning. describe also gives this warning.
    std::optional<Message> far;
    if (rows.points.resident()) far = far_rows_warning(pipeline, rows, run);
    if (run.communicator().rank() > 0) {  // rank 0 prints
        failures.rethrow();
        return Exit::done;
    }
    bar.clear();
    seconds.emplace_back("predict", watch.restart());

    AppliedResult result = predict_result(pipeline, predicted.sizes, predicted.labels, request.points, truth,
                                          predicted.noise, rows.left_out);
    result.seconds = seconds;
    result.written = predicted.written;
    complete(result, request, file, rows, run);
    if (far) result.warnings.push_back(std::move(*far));
    return tell_applied(result, request, outputs, failures);
}

}  // namespace

Command predict_command() {
    const auto request = std::make_shared<PredictRequest>();
    Command command = command_of(
        request, "predict", "label new rows with a saved model",
        "Applies the centring and scaling of the fit to the new rows, then labels them. If the truth is known, also "
        "prints scores.",
        predict);
    command.operands = model_operands(request);
    FlagList flags(request);
    flags.reading(request->reading)
        .truth("labels to score against; none: no scores", request->truth, request->truth_column)
        .labels_out(request->paths.labels)
        .table_out(request->paths.table);
    for (auto& [output, path] : request->paths.outputs)
        flags.file(
            flag_of(output), "FILE",
            filled("write {}{}; one line per row: csv with column names, or npy with float64 numbers", meaning(output),
                   output == Output::label_scores ? " (for models without labels: the memberships)" : ""),
            "Writing", path);
    command.flags = flags.running(request->running, {"--threads", "--memory", "--device", "--quiet", "--json"});
    command.examples = {
        {"coterie predict model.safetensors new.csv --labels-out labels.csv", "one label for each new row"},
        {"coterie predict model.safetensors - --labels-out - < new.csv", "from standard input to standard output"}};
    return command;
}

}  // namespace coterie::cli
