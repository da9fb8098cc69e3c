// coterie transform: a model that maps rows into no space is reported before points are read.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/writer.hpp"
#include "model_command.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct TransformRequest : ModelRequest {
    std::string points_out;
};

int transform(TransformRequest& request) {
    require_given(!request.points_out.empty(), "points_out", "the output file is missing",
                  "Use --points-out FILE to name the file for the transformed rows");
    const OutputPaths outputs = check_outputs(request.running, {request.model, request.points},
                                              {{"points_out", request.points_out, {".csv", ".npy"}}});
    request.reading.scratch_folder = outputs.folder();

    Run run = request.running.run();
    ProgressBar bar(run, request.running.quiet);
    Seconds seconds;
    Stopwatch watch;
    const Pipeline pipeline = Pipeline::load(request.model);
    const Model& model = pipeline.model();
    if (!model.outputs().has(Output::embedding))
        throw BadArgument(Code::not_supported,
                          filled("a model of {} does not map rows into another space, so there is nothing to transform",
                                 model.method()),
                          "", {.file = source_name(request.model)});
    const PointsFile file = points_for(pipeline, request, run);
    seconds.emplace_back("read", watch.restart());
    const PreparedRows rows = prepared_for(pipeline, request, file, run);
    const Index dimensions = model.output_columns(Output::embedding);
    const InterruptGuard guard(run);
    PointsWriter writer(request.points_out, rows.own_rows(run), dimensions, ScalarType::float64);
    naming_points(request.points, [&] {
        pipeline.apply(rows, {.labels = false, .outputs = {Output::embedding}}, run,
                       [&](const RowResults& results) { writer.write(results.outputs.front()); });
    });
    writer.commit();
    bar.clear();
    seconds.emplace_back("transform", watch.restart());

    AppliedResult result = transform_result(pipeline, rows, dimensions, request.points);
    result.seconds = seconds;
    result.written.emplace_back("points", request.points_out);
    complete(result, request, file, rows, run);
    return tell_applied(result, request, outputs);
}

}  // namespace

Command transform_command() {
    const auto request = std::make_shared<TransformRequest>();
    Command command = command_of(
        request, "transform", "map rows into the space of a model",
        "The space is, for example, the subspace of the method subspace, the deformed space of cpd, or the embedding "
        "of a spectral method or network. Applies the centring and scaling of the fit first.",
        transform);
    command.operands = model_operands(request);
    command.flags =
        FlagList(request)
            .reading(request->reading)
            .file("--points-out", "FILE", "write the transformed rows: csv, or npy with float64 numbers (required)",
                  "Writing", request->points_out)
            .running(request->running, {"--threads", "--memory", "--device", "--quiet", "--json"});
    command.examples = {{"coterie transform model.safetensors new.csv --points-out embedded.npy",
                         "the coordinates of each new row in the space of the model"}};
    return command;
}

}  // namespace coterie::cli
