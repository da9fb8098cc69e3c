#pragma once
// Shared by the subcommands that apply a saved model to points.

#include "common.hpp"
#include "program.hpp"

namespace coterie::cli {

struct ModelRequest {
    std::string model;
    std::string points;
    ReadRequest reading;
    RunRequest running;
};

/// MODEL and POINTS.
inline std::vector<Operand> model_operands(const std::shared_ptr<ModelRequest>& request) {
    return {text_operand("MODEL", "a file written by coterie fit --model-out", request->model, request),
            points_operand(request->points, request)};
}

/// Reads the model's columns by name, unless --columns selects others.
inline PointsFile points_for(const Pipeline& pipeline, const ModelRequest& request, const Run& run,
                             bool keep_rows = false) {
    ReadOptions options = request.reading.options();
    pipeline.read_by(options);
    options.keep_rows = keep_rows;
    return points_from(request.points, options, run);
}

/// Prepares the points as the model takes them. The message of an error begins with their source.
inline PreparedRows prepared_for(const Pipeline& pipeline, const ModelRequest& request, const PointsFile& file,
                                 const Run& run) {
    return naming_file<BadData>(request.points,
                                [&] { return pipeline.prepare(file.points, file.column_names, run, file.categories); });
}

/// Adds to the result what only the command knows.
inline void complete(AppliedResult& result, const ModelRequest& request, const PointsFile& file,
                     const PreparedRows& rows, const Run& run) {
    result.model = request.model;
    result.threads = run.threads;
    result.command = command_text();
    result.date = date_text();
    if (file.reading) result.notes.push_back(*file.reading);
    result.warnings.insert(result.warnings.begin(), rows.warnings.begin(), rows.warnings.end());
    result.warnings.insert(result.warnings.begin(), file.notes.begin(), file.notes.end());
}

/// Prints the result, then throws the error of outputs that could not be written. If an output uses standard output,
/// text goes to standard error. Returns Exit::done.
inline int tell_applied(const AppliedResult& result, const ModelRequest& request, const OutputPaths& outputs,
                        const WriteFailures& failures = {}) {
    print_notes(result.notes, request.running);
    print_warnings(result.warnings, request.running);
    print_document(request.running, outputs, result);
    failures.rethrow();
    return Exit::done;
}

}  // namespace coterie::cli
