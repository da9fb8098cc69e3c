#pragma once
// What the subcommands share that apply a saved model to points.

#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "common.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace coterie::cli {

struct ModelRequest {
    std::string model;
    std::string points;
    std::shared_ptr<ReadRequest> reading = std::make_shared<ReadRequest>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

/// MODEL and POINTS.
inline std::vector<Operand> model_operands(const std::shared_ptr<ModelRequest>& request) {
    return {text_operand("MODEL", "a file written by coterie fit --model-out", request->model, request),
            points_operand(request->points, request)};
}

/// The model's columns by name, unless --columns says which.
inline PointsFile points_for(const Pipeline& pipeline, const ModelRequest& request, const Run& run,
                             bool keep_rows = false) {
    ReadOptions options = request.reading->options();
    pipeline.read_by(options);
    options.keep_rows = keep_rows;
    return points_from(request.points, options, run);
}

/// As the model takes them; of points that it refuses the message begins with their source.
inline PreparedRows prepared_for(const Pipeline& pipeline, const ModelRequest& request, const PointsFile& file,
                                 const Run& run) {
    try {
        return pipeline.prepare(file.points, file.column_names, run, file.categories);
    } catch (const BadData& error) {
        throw BadData((request.points == "-" ? "standard input" : request.points) + ": " + error.message(),
                      error.fields());
    }
}

/// Completes what came of the points with what the command knows of them.
inline void complete(AppliedResult& result, const ModelRequest& request, const PointsFile& file,
                     const PreparedRows& rows, const Run& run) {
    result.model = request.model;
    result.threads = run.threads;
    result.command = command_text();
    result.date = date_text();
    if (!file.reading.empty()) result.notes.push_back(file.reading);
    std::vector<std::string> warnings = with_flags(file.notes);
    for (const auto& warning : with_flags(rows.warnings)) warnings.push_back(warning);
    result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
}

/// Prints it. Where an output is standard output, text goes aside.
inline void tell_applied(const AppliedResult& result, const ModelRequest& request, const Outputs& outputs) {
    if (!request.running->quiet)
        for (const auto& note : result.notes) print_note(note);
    if (!request.running->quiet)
        for (const auto& warning : result.warnings) print_warning(warning);
    if (request.running->json)
        print(json_document(result));
    else
        print_result(text_document(result), outputs);
}

}  // namespace coterie::cli
