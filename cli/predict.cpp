// coterie predict: labels and any other outputs of the model for new rows. Which outputs it has is checked before
// points are read, and all of them are computed before the first file is written. What is asked for is a list over
// Output, from which flags, columns' names and messages follow.

#include <algorithm>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/internal/together.hpp"
#include "model_command.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct PredictRequest : ModelRequest {
    std::string truth;
    std::string truth_column;
    std::string labels_out;
    std::vector<std::pair<Output, std::string>> outputs = {
        {Output::embedding, {}}, {Output::memberships, {}}, {Output::label_scores, {}}, {Output::distances, {}}};
};

// What one column of an output is called: the labels, the clusters, or, of an embedding, the dimensions.
std::vector<std::string> column_names(const Model& model, Output output, Index columns) {
    if (output == Output::label_scores) return model.cluster_labels().names;
    std::vector<std::string> names;
    for (Index j = 0; j < columns; ++j)
        names.push_back((output == Output::embedding ? "dimension-" : "cluster-") + std::to_string(j));
    return names;
}

std::string flag_of(Output output) {
    return output == Output::label_scores ? "--scores-out" : "--" + std::string(name(output)) + "-out";
}

// --scores-out gives the best there is: scores of labels, or of a model without labels the memberships.
Output wanted_of(const Model& model, Output output) {
    const OutputSet has = model.outputs();
    if (output == Output::label_scores && !has.has(output) && has.has(Output::memberships)) return Output::memberships;
    return output;
}

void require_outputs(const PredictRequest& request, const Model& model) {
    std::string there;
    for (int o = 0; o < output_count; ++o)
        if (model.outputs().has(static_cast<Output>(o)))
            there += (there.empty() ? "" : ", ") + flag_of(static_cast<Output>(o));
    for (const auto& [output, path] : request.outputs)
        if (!path.empty() && !model.outputs().has(wanted_of(model, output)))
            throw BadArgument("option " + flag_of(output) + ": " + request.model + ", a model of " +
                              std::string(model.method()) + ", has no " +
                              (output == Output::label_scores ? "scores" : std::string(name(output))) +
                              (there.empty() ? "" : "; it takes " + there));
}

int predict(const PredictRequest& request) {
    if (!request.truth_column.empty() && (request.truth.empty() || request.truth == "none"))
        throw UsageError("option --truth-column needs --truth FILE",
                         "a column of the points' own file is --label-column");
    Outputs outputs;
    for (const auto& input : {request.model, request.points, request.truth}) outputs.keep(input);
    outputs.add("--labels-out", request.labels_out, label_extensions());
    for (const auto& [output, path] : request.outputs) outputs.add(flag_of(output), path, {".csv", ".npy"});
    outputs.check(request.running->json);

    Run run = request.running->run_in_processes();
    ProgressBar bar(run, request.running->quiet);
    Seconds seconds;
    Stopwatch watch;
    const Pipeline pipeline = Pipeline::load(request.model);
    const Model& model = pipeline.model();
    require_outputs(request, model);
    PointsFile file = points_for(pipeline, request, run);
    std::optional<Truth> truth;
    if (request.truth != "none") {
        if (!request.truth.empty()) {
            truth = read_truth(request.truth, request.truth_column, run);
        } else if (file.labels) {
            truth = Truth{std::move(*file.labels), request.points};
        }
    }
    seconds.emplace_back("read", watch.restart());

    const PreparedRows rows = prepared_for(pipeline, request, file, run);
    for (const auto& [output, path] : request.outputs)
        if (!path.empty() && run.communicator().size() > 1)
            throw BadArgument("option " + flag_of(output) + ": several processes give labels only");
    const Labels clusters = internal::gather_at_first(
        run.communicator(), naming_points(request.points, [&] { return pipeline.predict(rows, run); }));
    if (run.communicator().rank() > 0) return Exit::done;  // the first process tells and writes
    std::vector<Matrix<double>> found;
    for (const auto& [output, path] : request.outputs)
        found.push_back(path.empty() ? Matrix<double>() : pipeline.output(wanted_of(model, output), rows, run));
    bar.clear();
    seconds.emplace_back("predict", watch.restart());

    AppliedResult result = predict_result(pipeline, clusters, request.points, truth);
    result.seconds = seconds;
    if (!request.labels_out.empty()) {
        write_labels(request.labels_out, result.labels.labels, result.labels.names);
        result.written.emplace_back("labels", request.labels_out);
    }
    for (std::size_t o = 0; o < request.outputs.size(); ++o) {
        const auto& [output, path] = request.outputs[o];
        if (path.empty()) continue;
        write_points(path, found[o], column_names(model, wanted_of(model, output), found[o].cols()));
        result.written.emplace_back(name(wanted_of(model, output)), path);
    }
    tell_applied(result, request, file, rows, run, outputs);
    return Exit::done;
}

}  // namespace

Command predict_command() {
    const auto request = std::make_shared<PredictRequest>();
    Command command;
    command.name = "predict";
    command.summary = "label points with a model that coterie fit has written";
    command.details =
        "The centring and scaling of the fit are applied to the new points first. Points with a known truth are scored "
        "as well.";
    command.operands = model_operands(request);
    command.flags = read_flags(request->reading);
    command.flags.push_back(text_flag("--truth", "FILE", "labels to score against; none: no scores", "Reading",
                                      request->truth, request, Completion::file));
    command.flags.push_back(text_flag("--truth-column", "COLUMN",
                                      "the column of the --truth file, by name or number from 1", "Reading",
                                      request->truth_column, request));
    command.flags.push_back(text_flag("--labels-out", "FILE", labels_out_meaning, "Writing", request->labels_out,
                                      request, Completion::file));
    for (auto& [output, path] : request->outputs)
        command.flags.push_back(
            text_flag(flag_of(output), "FILE",
                      "write, a row per point, " + std::string(meaning(output)) +
                          (output == Output::label_scores ? "; of models without labels their memberships" : "") +
                          ": csv under the columns' names, npy as float64",
                      "Writing", path, request, Completion::file));
    append(command.flags, run_flags(request->running, {"--threads", "--memory", "--device", "--quiet", "--json"}));
    command.examples = {
        {"coterie predict model.safetensors new.csv --labels-out labels.csv", "one label for each new row"},
        {"coterie predict model.safetensors - --labels-out - < new.csv", "from standard input to standard output"}};
    command.act = [request] { return predict(*request); };
    return command;
}

}  // namespace coterie::cli
