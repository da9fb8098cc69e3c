// Functions that subcommands share. Outputs are checked in two passes: first all checks that touch no file, then
// whether each file can be opened, which leaves nothing behind. Paths are compared by the file they refer to, so a link
// to an input, or another spelling of its path, is not overwritten.

#include "common.hpp"

#include <algorithm>
#include <filesystem>

#include "coterie/base/checks.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/row_files.hpp"

namespace coterie::cli {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

std::string extension_of(const std::string& path) { return lower(std::filesystem::path(path).extension().string()); }

bool is_data_name(const std::string& path) { return path.rfind("data:", 0) == 0; }

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (std::filesystem::equivalent(a, b, error)) return true;
    // Made absolute first, because a path that does not exist yet would stay relative.
    const auto whole = [&](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    };
    return whole(a) == whole(b);
}

}  // namespace

std::string source_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<double> read_weights(const std::string& file, const std::string& column, Index rows,
                                 const std::vector<FilePart>& points) {
    std::vector<double> out = read_numbers(file, column, points);
    try {
        check_weights(out, rows);
    } catch (BadArgument& error) {
        error.amend([&](Message& message) { message.file = source_name(file); });
        throw;
    }
    return out;
}

void require_weights(const std::string& file, const std::string& column) {
    if (!column.empty() && file.empty())
        throw BadArgument(Code::missing_argument, "needs --weights FILE",
                          "Name the file, which may be the data file itself; then `exclude` keeps the "
                          "weights out of the clustering",
                          {.option = "weights_column"});
}

void require_truth(const std::string& file, const std::string& column) {
    if (!column.empty() && (file.empty() || file == "none"))
        throw BadArgument(Code::missing_argument, "needs --truth FILE",
                          "Use `label_column` if the truth is a column of the data file", {.option = "truth_column"});
}

void require_rows_in_memory(const std::string& option, const Points& points, const Run& run) {
    const bool sparse = as_sparse(points) != nullptr;
    if (points.resident() && run.communicator().size() == 1) return;
    const bool processes = points.resident() && !sparse;
    throw BadArgument(
        Code::not_supported,
        std::string("needs all rows in memory, but they are ") + (processes ? "split between several processes"
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
            "only one process can write this table, but " + std::to_string(run.communicator().size()) + " were started",
            "Use --labels-out, which works in several processes", {.option = "table_out"});
}

BadArgument missing_clusters() {
    return BadArgument(Code::missing_argument, "the number of clusters is missing",
                       "Use -k K; coterie fit kmeans POINTS -k auto suggests a number", {.option = "clusters"});
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
    Truth truth;
    truth.source = path;
    if (is_data_name(path)) {
        auto file = points_from(path, {}, run);
        if (!file.labels)
            throw BadData(Code::empty, "the data set has no true labels", "Name a file of labels", {.file = path});
        truth.column = std::move(*file.labels);
        return truth;
    }
    truth.column = read_labels(path, column, true, points);
    return truth;
}

void Outputs::add(const std::string& flag, const std::string& path, const std::vector<std::string>& extensions) {
    if (!path.empty()) outputs_.push_back({flag, path, extensions});
}

void Outputs::keep(const std::string& path) {
    if (path == "-" && ++standard_inputs_ > 1)
        throw BadArgument(Code::conflict, "standard input (-) can be read only once, but two inputs name it",
                          "Name a file for one of them");
    if (path.empty() || path == "-" || is_data_name(path)) return;
    try {
        for (auto& file : files_of(path)) inputs_.push_back(std::move(file));
    } catch (const BadData&) {  // no file matches; the reader reports it
    }
    // "file.npz:key" refers to the file before the colon, unless a file has the whole name.
    std::error_code error;
    const auto colon = path.rfind(':');
    if (colon != std::string::npos && !std::filesystem::exists(path, error)) inputs_.push_back(path.substr(0, colon));
}

bool Outputs::uses_standard_output() const {
    return std::any_of(outputs_.begin(), outputs_.end(), [](const Output& output) { return output.path == "-"; });
}

std::string Outputs::folder() const {
    for (const auto& output : outputs_)
        if (output.path != "-") return std::filesystem::path(output.path).parent_path().string();
    return {};
}

void Outputs::check(bool json) const {
    const auto refuse = [](const Output& output, Code code, std::string problem, std::string remedy) {
        throw BadArgument(code, std::move(problem), std::move(remedy),
                          {.option = option_of_flag(output.flag), .value = output.path});
    };
    const Output* standard = nullptr;
    for (const auto& output : outputs_) {
        if (output.path == "-") {
            if (json || standard)
                refuse(output, Code::conflict,
                       "writes to standard output (-), and so does " + (json ? std::string("--json") : standard->flag),
                       json ? "Name a file" : "Name a file for one of them");
            standard = &output;
            continue;
        }
        if (!output.extensions.empty()) {
            const auto extension = extension_of(output.path);
            if (std::find(output.extensions.begin(), output.extensions.end(), extension) == output.extensions.end()) {
                std::vector<std::string> accepted;
                for (const auto& each : output.extensions) accepted.push_back(each.empty() ? "no extension" : each);
                refuse(output, Code::unsupported_format, "the extension of " + output.path + " is not accepted",
                       (accepted.size() > 1 ? "Use one of " : "Use ") + join(accepted) +
                           "; the extension sets the format");
            }
        }
        for (const auto& input : inputs_)
            if (same_file(input, output.path))
                refuse(output, Code::conflict, output.path + " is an input, and would be overwritten",
                       "Name another file");
        for (const auto& other : outputs_)
            if (&other != &output && other.path != "-" && same_file(other.path, output.path))
                refuse(output, Code::conflict, "names the same file as " + other.flag + ", " + output.path,
                       "Name two files");
    }
    for (const auto& output : outputs_) {
        if (output.path == "-") continue;
        std::error_code error;
        const auto folder = std::filesystem::path(output.path).parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder, error))
            throw ResourceError(Code::not_found, "there is no folder " + folder.string(), "Create it first",
                                {.option = option_of_flag(output.flag), .value = output.path});
        try {
            const OutputFile attempt(output.path);
        } catch (ResourceError& refused) {
            refused.amend([&](Message& message) { message.option = option_of_flag(output.flag); });
            throw;
        }
    }
}

void print_result(const std::string& text, const Outputs& outputs) {
    if (outputs.uses_standard_output()) {
        print_aside(text);
    } else {
        print(text);
    }
}

void print_notes(const std::vector<Message>& notes, const RunRequest& running) {
    if (!running.quiet) std::for_each(notes.begin(), notes.end(), print_note);
}

void print_warnings(const std::vector<Message>& warnings, const RunRequest& running) {
    if (!running.quiet) std::for_each(warnings.begin(), warnings.end(), print_warning);
}

const std::vector<std::string>& label_extensions() {
    static const std::vector<std::string> extensions = {".csv", ".txt", ".tsv", ".npy", ""};
    return extensions;
}

const std::vector<std::string>& table_extensions() {
    static const std::vector<std::string> extensions = {".csv", ".arrow", ".feather", ".arrows"};
    return extensions;
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
