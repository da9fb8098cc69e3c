#pragma once
// Shared by several subcommands: reading points and truth, checking outputs, printing results.

#include "coterie/base/text_format.hpp"
#include "coterie/data/read.hpp"
#include "coterie/io/write_failures.hpp"
#include "coterie/report/document.hpp"
#include "coterie/report/output_paths.hpp"
#include "flags.hpp"
#include "terminal.hpp"

namespace coterie::cli {

// The library's internal functions for numbers, tables and parts of documents.
using namespace internal;

/// How messages name an input: "standard input" for -, otherwise the path.
std::string source_name(const std::string& path);

/// Throws BadArgument about `option` unless `given`.
void require_given(bool given, const char* option, const std::string& problem, const std::string& remedy);
/// Throws BadArgument if a column of weights is named, but no file of weights.
void require_weights(const std::string& file, const std::string& column);
/// Throws BadArgument if a column of the truth is named, but no file of the truth.
void require_truth(const std::string& file, const std::string& column);
/// Throws BadArgument unless all rows are in the memory of one process. `option`: its output needs that.
void require_rows_in_memory(const std::string& option, const Points& points, const Run& run);
/// Throws BadArgument if there are several processes, because only one process can write --table-out.
void require_one_process_for_table(const Run& run);
/// Throws BadArgument unless -k is `given`.
void require_clusters(bool given);
/// One weight per row. Errors name the file.
std::vector<double> read_weights(const std::string& file, const std::string& column, Index rows,
                                 const std::vector<FilePart>& points);

/// Reads points. If the name of a data set is misspelt, suggests a name.
PointsFile points_from(const std::string& path, const ReadOptions& options, const Run& run);

/// Returns f(). If it throws E, names the file `path` in the error.
template <class E, class F>
decltype(auto) naming_file(const std::string& path, F&& f) {
    try {
        return f();
    } catch (E& error) {
        error.amend([&](Message& message) { message.file = source_name(path); });
        throw;
    }
}

/// Returns f(). If it throws an error about `points` without a file, adds the file `path` to the error.
template <class F>
auto naming_points(const std::string& path, F&& f) {
    try {
        return f();
    } catch (Error& error) {
        if (error.fields().option == "points" && error.fields().file.empty())
            error.amend([&](Message& message) { message.file = source_name(path); });
        throw;
    }
}

/// Reads a labels file, one labels file for each file of points, or the truth of data:NAME.
Truth read_truth(const std::string& path, const std::string& column, const Run& run,
                 const std::vector<FilePart>& points = {});

/// Checks the files that a command reads and writes, before the work starts.
OutputPaths check_outputs(const RunRequest& running, const std::vector<std::string>& inputs,
                          std::vector<OutputPath> outputs);

// The extensions of files that commands write.
inline const std::vector<std::string> label_extensions = {".csv", ".txt", ".tsv", ".npy", ""};
inline const std::vector<std::string> table_extensions = {".csv", ".arrow", ".feather", ".arrows"};
inline const std::vector<std::string> page_extensions = {".html", ".htm"};

/// Prints text to standard output or, if an output uses standard output, to standard error.
void print_result(const std::string& text, const OutputPaths& outputs);
/// Prints a result: with --json its JSON document, otherwise its text document. `result`: the arguments of
/// json_document and text_document. Returns Exit::done.
template <class... Result>
int print_document(const RunRequest& running, const OutputPaths& outputs, const Result&... result) {
    if (running.json)
        print(json_document(result...));
    else
        print_result(text_document(result...), outputs);
    return Exit::done;
}
/// Prints the notes, unless --quiet is given.
void print_notes(const std::vector<Message>& notes, const RunRequest& running);
void print_warnings(const std::vector<Message>& warnings, const RunRequest& running);

/// For each of the comma-separated names in `text`, its position in `known`. Throws BadArgument that names the flag.
std::vector<std::size_t> positions_of(const std::string& flag, const std::string& text,
                                      const std::vector<std::string>& known);

}  // namespace coterie::cli
