// coterie describe: describes the clusters of a model in some rows.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/report/map.hpp"
#include "coterie/report/page.hpp"
#include "coterie/report/picture.hpp"
#include "model_command.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct DescribeRequest : ModelRequest {
    std::string weights;
    std::string weights_column;
    std::string compare_with;
    std::string report;
};

// The other model's clusters for the same rows. The file is read again, as the other model requires.
ModelComparison clusters_of_other(const DescribeRequest& request, const Pipeline& pipeline, const PreparedRows& rows,
                                  const Description& description, const Run& run) {
    const Pipeline other = Pipeline::load(request.compare_with);
    const PointsFile file = points_for(other, request, run);
    const PreparedRows theirs = prepared_for(other, request, file, run);
    ModelComparison out = naming_points(
        request.points, [&] { return compare_models(pipeline, rows, description.row_labels, other, theirs, run); });
    out.model = request.compare_with;
    return out;
}

int describe_rows(DescribeRequest& request) {
    require_weights(request.weights, request.weights_column);
    const OutputPaths outputs =
        check_outputs(request.running, {request.model, request.points, request.weights, request.compare_with},
                      {{"report", request.report, page_extensions}});
    Run run = request.running.run_in_processes();
    if (!request.compare_with.empty() && run.communicator().size() > 1)
        throw BadArgument(Code::not_supported,
                          filled("works in one process, but {} were started", run.communicator().size()),
                          "Start the command without mpirun", {.option = "compare_with"});
    if (!request.compare_with.empty() && request.points == "-")
        throw BadArgument(Code::conflict,
                          "each of the two models reads the rows, but standard input can be read only once",
                          "Name a file", {.option = "compare_with"});
    ProgressBar bar(run, request.running.quiet);
    Seconds seconds;
    Stopwatch watch;
    std::optional<Pipeline> loaded;
    PointsFile file;
    std::vector<double> weights;
    internal::together(run.communicator(), [&] {
        loaded = Pipeline::load(request.model);
        file = points_for(*loaded, request, run, !request.report.empty());
        if (!request.weights.empty())
            weights = read_weights(request.weights, request.weights_column, file.points.rows(), file.parts);
    });
    const Pipeline& pipeline = *loaded;
    if (!request.report.empty()) require_rows_in_memory("report", file.points, run);
    seconds.emplace_back("read", watch.restart());

    const PreparedRows rows = prepared_for(pipeline, request, file, run);
    const InterruptGuard guard(run);
    Description description = naming_points(request.points, [&] { return describe(pipeline, rows, run, weights); });
    if (run.communicator().rank() > 0) return Exit::done;  // rank 0 prints
    bar.clear();
    seconds.emplace_back("describe", watch.restart());
    AppliedResult result = description_result(pipeline, std::move(description), rows, request.points);
    if (!request.compare_with.empty())
        result.comparison = clusters_of_other(request, pipeline, rows, *result.description, run);
    result.seconds = seconds;
    WriteFailures failures;
    if (!request.report.empty()) result.written.emplace_back("report", request.report);
    complete(result, request, file, rows, run);
    if (!request.report.empty() && !failures.attempt([&] {
            std::optional<Truth> truth;
            if (file.labels) truth = Truth{*file.labels, request.points};
            write_file(request.report, html_document(result, applied_picture(pipeline, result, rows, run), option_flag,
                                                     page_map(pipeline, result, rows, truth, run, file.rows.get())));
        }))
        result.written.clear();
    return tell_applied(result, request, outputs, failures);
}

}  // namespace

Command describe_command() {
    const auto request = std::make_shared<DescribeRequest>();
    Command command = command_of(
        request, "describe", "show what sets the clusters of a model apart",
        "For each cluster, prints its size, the columns that set it apart with their means and quartiles in the units "
        "of the data file, its most typical and most doubtful rows (counted from 1), its silhouette, and the nearest "
        "cluster. Warns if all rows fall into one cluster, or if rows are far from all training data.",
        describe_rows);
    command.operands = model_operands(request);
    Flag other = text_flag("--compare-with", "OTHER_MODEL",
                           "another model of the same rows; shows which rows it puts into other clusters", "Reading",
                           request->compare_with, request, Completion::file);
    other.former = "--beside";
    command.flags = FlagList(request)
                        .reading(request->reading)
                        .weights("file with one weight per row, at least 0; a row of weight w counts as w copies",
                                 request->weights, request->weights_column)
                        .add(other)
                        .report(request->report, "write a page with all results and a map of the rows")
                        .running(request->running, {"--threads", "--memory", "--device", "--quiet", "--json"});
    command.examples = {
        {"coterie describe model.safetensors points.csv", "a table for each cluster"},
        {"coterie describe model.safetensors points.csv --json", "the same as JSON, for a program"},
        {"coterie describe new.safetensors points.csv --compare-with old.safetensors --report page.html",
         "a page that also shows which rows moved between two fits"}};
    return command;
}

}  // namespace coterie::cli
