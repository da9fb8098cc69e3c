// Errors use the terms of the command: they name flags. For a misspelt name, they suggest the nearest known one.

#include "common.hpp"

#include <algorithm>

#include "coterie/base/checks.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/data/catalogue.hpp"

namespace coterie::cli {
namespace {

bool is_data_name(const std::string& path) { return path.starts_with("data:"); }

}  // namespace

std::string source_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<double> read_weights(const std::string& file, const std::string& column, Index rows,
                                 const std::vector<FilePart>& points) {
    std::vector<double> out = read_numbers(file, column, points);
    naming_file<BadArgument>(file, [&] { check_weights(out, rows); });
    return out;
}

void require_given(bool given, const char* option, const std::string& problem, const std::string& remedy) {
    if (!given) throw BadArgument(Code::missing_argument, problem, remedy, {.option = option});
}

void require_weights(const std::string& file, const std::string& column) {
    require_given(column.empty() || !file.empty(), "weights_column", "needs --weights FILE",
                  "Name the file. If it is the data file, also use `exclude`, so that the weights are not clustered");
}

void require_truth(const std::string& file, const std::string& column) {
    require_given(column.empty() || (!file.empty() && file != "none"), "truth_column", "needs --truth FILE",
                  "Use `label_column` if the truth is a column of the data file");
}

void require_rows_in_memory(const std::string& option, const Points& points, const Run& run) {
    const bool sparse = as_sparse(points) != nullptr;
    if (points.resident() && run.communicator().size() == 1) return;
    const bool processes = points.resident() && !sparse;
    throw BadArgument(Code::not_supported,
                      filled("needs all rows in memory, but they are {}", processes ? "split between several processes"
                                                                          : sparse  ? "sparse"
                                                                                    : "read in blocks"),
                      processes ? "Start the command without mpirun"
                      : sparse  ? ""
                                : "Raise `memory` if the machine has more",
                      {.option = option});
}

void require_one_process_for_table(const Run& run) {
    if (run.communicator().size() > 1)
        throw BadArgument(
            Code::not_supported,
            filled("only one process can write this table, but {} were started", run.communicator().size()),
            "Use --labels-out, which works in several processes", {.option = "table_out"});
}

void require_clusters(bool given) {
    require_given(given, "clusters", "the number of clusters is missing",
                  "Use -k K; coterie fit kmeans POINTS -k auto suggests a number");
}

PointsFile points_from(const std::string& path, const ReadOptions& options, const Run& run) {
    if (is_data_name(path)) {
        const std::string name = path.substr(5);
        find_or_suggest(name, names_of(catalogue()), "See coterie data list", "data:", find_data);
    }
    return read_points(path, options, run);
}

Truth read_truth(const std::string& path, const std::string& column, const Run& run,
                 const std::vector<FilePart>& points) {
    if (!is_data_name(path)) return {read_labels(path, column, true, points), path};
    PointsFile file = points_from(path, {}, run);
    if (!file.labels)
        throw BadData(Code::empty, "the data set has no true labels", "Name a file of labels", {.file = path});
    return {std::move(*file.labels), path};
}

OutputPaths check_outputs(const RunRequest& running, const std::vector<std::string>& inputs,
                          std::vector<OutputPath> outputs) {
    return OutputPaths(inputs, std::move(outputs), running.json ? "json" : "");
}

void print_result(const std::string& text, const OutputPaths& outputs) {
    outputs.use_standard_output() ? print_aside(text) : print(text);
}

void print_notes(const std::vector<Message>& notes, const RunRequest& running) {
    if (!running.quiet) std::for_each(notes.begin(), notes.end(), print_note);
}

void print_warnings(const std::vector<Message>& warnings, const RunRequest& running) {
    if (!running.quiet) std::for_each(warnings.begin(), warnings.end(), print_warning);
}

std::vector<std::size_t> positions_of(const std::string& flag, const std::string& text,
                                      const std::vector<std::string>& known) {
    std::vector<std::size_t> out;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string name = text.substr(begin, end - begin);
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
            throw BadArgument(Code::unknown_name, "'" + name + "' is not accepted",
                              suggestion(name, known, "Use some of " + join(known)),
                              {.option = option_of_flag(flag), .value = name, .accepted = join(known)});
        out.push_back(static_cast<std::size_t>(found - known.begin()));
        begin = end + 1;
    }
    return out;
}

}  // namespace coterie::cli
