// coterie describe: what the clusters of a model are in some rows. What is told is made by the library
// (coterie/pipeline/description.hpp); the rest is as in predict, with which it shares model_command.hpp.

#include "commands.hpp"
#include "common.hpp"
#include "model_command.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct DescribeRequest : ModelRequest {
    std::string weights;
    std::string weights_column;
};

int describe_rows(const DescribeRequest& request) {
    require_weights(request.weights, request.weights_column);
    Outputs outputs;
    outputs.check(request.running->json);
    Run run = request.running->run_in_processes();
    ProgressBar bar(run, request.running->quiet);
    Seconds seconds;
    Stopwatch watch;
    const Pipeline pipeline = Pipeline::load(request.model);
    const PointsFile file = points_for(pipeline, request, run);
    std::vector<double> weights;
    if (!request.weights.empty()) weights = read_numbers(request.weights, request.weights_column, file.parts);
    seconds.emplace_back("read", watch.restart());

    const PreparedRows rows = prepared_for(pipeline, request, file, run);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    Description description = naming_points(request.points, [&] { return describe(pipeline, rows, run, weights); });
    if (run.communicator().rank() > 0) return Exit::done;  // the first process tells
    bar.clear();
    seconds.emplace_back("describe", watch.restart());
    AppliedResult result = description_result(pipeline, std::move(description), file.points.rows(), request.points);
    result.seconds = seconds;
    tell_applied(result, request, file, rows, run, outputs);
    return Exit::done;
}

}  // namespace

Command describe_command() {
    const auto request = std::make_shared<DescribeRequest>();
    Command command;
    command.name = "describe";
    command.summary = "tell what sets the clusters of a model apart in points";
    command.details =
        "Per cluster: how large it is, the columns that set it apart with their means and quartiles in the units of "
        "the "
        "points' file, its most typical and most doubtful rows (counted from 1), its silhouette, and the cluster "
        "nearest to it. Warns when all points fall into one cluster, and of points far from all that the model was "
        "fitted on.";
    command.operands = model_operands(request);
    command.flags = read_flags(request->reading);
    command.flags.push_back(text_flag("--weights", "FILE",
                                      "one number per row, at least 0: weight w acts as w copies of the point",
                                      "Reading", request->weights, request, Completion::file));
    command.flags.push_back(text_flag("--weights-column", "COLUMN", weights_column_meaning, "Reading",
                                      request->weights_column, request));
    append(command.flags, run_flags(request->running, {"--threads", "--memory", "--device", "--quiet", "--json"}));
    command.examples = {{"coterie describe model.safetensors points.csv", "a table for each cluster"},
                        {"coterie describe model.safetensors points.csv --json", "the same for a program"}};
    command.act = [request] { return describe_rows(*request); };
    return command;
}

}  // namespace coterie::cli
