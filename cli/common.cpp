// Functions that subcommands share. Outputs are checked in two passes: first all checks that touch no file, then
// whether each file can be opened, which leaves nothing behind. Paths are compared by the file they refer to, so a link
// to an input, or another spelling of its path, is not overwritten.

#include "common.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <unordered_map>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/parallel/processes.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/row_files.hpp"
#include "coterie/methods.hpp"
#include "coterie/report/result_text.hpp"
#include "program.hpp"

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

const char* const weights_column_meaning = "column of the --weights file: its name, or its number counted from 1";
const char* const labels_out_meaning =
    "write one label per row: csv, txt or tsv with the header label, or npy (int32); - writes to standard output; with "
    "partial labels, text has the labels' names, npy their numbers and then the free clusters";
const char* const table_out_meaning =
    "write all columns of the data file plus label and, if the model has them, confidence (largest membership), "
    "distance (to the row's centroid) and outlier_score: .csv, .arrow or .feather (file), .arrows (stream); - writes "
    "csv to standard output";

const char* const report_meaning = "write a report as one self-contained HTML page";

std::vector<Flag> read_flags(std::shared_ptr<ReadRequest> request) {
    auto flags = flags_of(ReadRequest::described(), "Reading", std::static_pointer_cast<void>(request));
    flag_named(flags, "--label-column").value = "COLUMN";
    flag_named(flags, "--id-column").value = "COLUMN";
    for (const char* list : {"--columns", "--exclude"}) flag_named(flags, list).value = "LIST";
    return flags;
}

const OptionSet& RunRequest::described() {
    static const OptionSet set =
        OptionSetFor<RunRequest>()
            .integer("seed", &RunRequest::seed, between(0, 9007199254740992.0),
                     "seed of the random numbers; the same seed gives the same result")
            .integer("threads", &RunRequest::threads, between(1, 1024),
                     "number of threads; it does not change the result", "all available threads")
            .text("memory", &RunRequest::memory,
                  "memory limit, such as 500M or 2G; data files that take more than half of it are read in blocks")
            .text("device", &RunRequest::device, "device for neural networks: cpu, or cuda if LibTorch supports it")
            .text("checkpoint", &RunRequest::checkpoint,
                  "file that stores the state of the fit, about every five seconds and when the fit is stopped; the "
                  "same command continues from it")
            .flag("quiet", &RunRequest::quiet, "no progress bar, notes or warnings on standard error")
            .flag("json", &RunRequest::json, "print one JSON document instead of a table");
    return set;
}

namespace {
// "2G" in bytes. Units are powers of 1024.
std::uint64_t bytes_of(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(end, text.data() + text.size());
    const std::vector<std::string> units = {"K", "M", "G", "T"};
    double bytes = number;
    const auto found = std::find(units.begin(), units.end(), unit.substr(0, 1));
    if (found != units.end() && (unit.size() == 1 || unit.substr(1) == "iB" || unit.substr(1) == "B"))
        for (auto each = units.begin(); each <= found; ++each) bytes *= 1024;
    else if (!unit.empty())
        bytes = 0;
    if (error != std::errc() || !(bytes >= 1 << 20) || !(bytes < 1e18))
        throw refused_option("memory", text, "a size from 1M on, such as 500M, 2G or 1.5G");
    return static_cast<std::uint64_t>(bytes);
}
}  // namespace

Run RunRequest::run() const {
    if (started_processes() > 1)
        throw BadArgument(
            Code::not_supported,
            "this command works in one process, but " + std::to_string(started_processes()) + " were started",
            "Start it without mpirun; fit, predict and describe work in several processes");
    return as_told();
}

Run RunRequest::run_in_processes() const {
    Run run = as_told();
    if (started_processes() == 1) return run;
    run.set_communicator(join_started_processes());
    if (run.communicator().rank() > 0) stay_silent();
    return run;
}

Run RunRequest::as_told() const {
    if (!memory.empty()) limit_memory(bytes_of(memory));
    Run run(static_cast<std::uint64_t>(seed), threads.value_or(0));
    run.device = device;
    run.checkpoint = checkpoint;
    return run;
}

std::vector<Flag> run_flags(std::shared_ptr<RunRequest> request, const std::vector<std::string>& names) {
    auto flags = flags_of(RunRequest::described(), "Running", std::static_pointer_cast<void>(request));
    std::erase_if(flags,
                  [&](const Flag& flag) { return std::find(names.begin(), names.end(), flag.name) == names.end(); });
    return flags;
}

Flag text_flag(std::string name, std::string value, std::string meaning, std::string group, std::string& target,
               std::shared_ptr<void> owner, Completion completion) {
    Flag flag;
    flag.name = std::move(name);
    flag.value = std::move(value);
    flag.meaning = std::move(meaning);
    flag.group = std::move(group);
    flag.completion = completion;
    flag.take = [&target, owner = std::move(owner)](const std::string& text) { target = text; };
    return flag;
}

Operand text_operand(std::string name, std::string meaning, std::string& target, std::shared_ptr<void> owner,
                     Completion completion) {
    return {std::move(name),
            std::move(meaning),
            true,
            completion,
            {},
            [&target, owner = std::move(owner)](const std::string& text) { target = text; }};
}

Operand points_operand(std::string& target, std::shared_ptr<void> owner) {
    return text_operand(
        "POINTS",
        "the rows to read: a file, data:NAME for a data set of the catalogue, or - for text or Arrow on standard "
        "input; the extension sets the format: csv, tsv, txt, arrow, feather, npy, npz, idx, svm, h5, mat, "
        "safetensors; text, idx and svm may be gzipped; file.npz:KEY, file.h5:/DATASET and file.mat:NAME select an "
        "array in the file; a name with *, ? or [ reads all matching files as one",
        target, std::move(owner), Completion::points);
}

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
        std::vector<std::string> names;
        for (const auto& entry : catalogue()) names.push_back(entry.name);
        find_or_suggest(name, names, "See coterie data list", "data:", find_data);
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
