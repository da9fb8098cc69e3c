#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "json.hpp"
#include "model_command.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct TransformRequest {
    std::string model;
    std::string points;
    std::string points_out;
    std::shared_ptr<ReadRequest> reading = std::make_shared<ReadRequest>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

int transform(const TransformRequest& request) {
    if (request.points_out.empty())
        throw UsageError("option --points-out is missing", "it names the file that the transformed points go to");
    Outputs outputs;
    for (const auto& input : {request.model, request.points}) outputs.keep(input);
    outputs.add("--points-out", request.points_out, {".csv", ".npy"});
    outputs.check(request.running->json);

    Run run = request.running->run();
    ProgressBar bar(!request.running->quiet && shows_progress());
    bar.attach(run);
    Seconds seconds;
    Stopwatch watch;
    const Pipeline pipeline = Pipeline::load(request.model);
    const Model* const model = &pipeline.model();
    if (!model->outputs().has(Output::embedding))
        throw BadArgument(request.model + ": method " + std::string(model->method()) +
                          " sees the points in their own space; there is nothing to transform");
    const PointsFile file = points_from(request.points, reading_for(pipeline, *request.reading), run);
    seconds.emplace_back("read", watch.restart());
    const PreparedRows prepared =
        naming_source(request.points, [&] { return pipeline.prepare(file.points, file.column_names, run); });
    const Matrix<double> moved =
        naming_points(request.points, [&] { return pipeline.output(Output::embedding, prepared, run); });
    bar.clear();
    seconds.emplace_back("transform", watch.restart());
    write_points(request.points_out, moved);

    const std::vector<std::string> warnings = with_flags(prepared.warnings);
    if (!request.running->quiet)
        for (const auto& warning : warnings) print_warning(warning);
    if (request.running->json) {
        Json out;
        out["schema"] = 1;
        out["method"] = std::string(model->method());
        out["model"] = request.model;
        out["points"] = request.points;
        out["n"] = file.points.rows();
        out["d"] = model->dimensions();
        out["dimensions"] = moved.cols();
        out["preprocessing"] = pipeline.preparation().text();
        out["seconds"] = json_of(seconds);
        out["threads"] = run.threads;
        out["warnings"] = warnings;
        print(document(out));
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {
        {"dimensions", std::to_string(model->dimensions()) + " to " + std::to_string(moved.cols())}};
    if (!pipeline.preparation().identity()) rows.emplace_back("points were", pipeline.preparation().text());
    rows.emplace_back("seconds",
                      "read " + seconds_text(seconds[0].second) + ", transform " + seconds_text(seconds[1].second));
    rows.emplace_back("points", request.points_out);
    print_applied(request, *model, file.points.rows(), rows, outputs);
    return Exit::done;
}

}  // namespace

Command transform_command() {
    const auto request = std::make_shared<TransformRequest>();
    Command command;
    command.name = "transform";
    command.summary = "move points into the space that a model's method sees them in";
    command.details =
        "The subspace of subspace, the deformed space of cpd, the embedding of a spectral method or of a network. The "
        "centring and scaling of the fit are applied first.";
    command.operands = model_operands(request);
    command.flags = read_flags(request->reading);
    command.flags.push_back(text_flag("--points-out", "FILE",
                                      "write the transformed points: csv, or npy as float64 (needed)", "Writing",
                                      request->points_out, request, Completion::file));
    for (auto& flag : run_flags(request->running, {"--threads", "--quiet", "--json"}))
        command.flags.push_back(std::move(flag));
    command.examples = {{"coterie transform model.safetensors new.csv --points-out embedded.npy",
                         "one row of the model's own space for each new row"}};
    command.act = [request] { return transform(*request); };
    return command;
}

}  // namespace coterie::cli
