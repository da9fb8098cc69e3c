// Flags that several subcommands have. Each is described once, so that its help is the same everywhere.

#include "flags.hpp"

#include <algorithm>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/processes.hpp"
#include "coterie/base/text.hpp"
#include "coterie/base/text_format.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace coterie::cli {

using namespace internal;

const char* const truth_meaning =
    "labels to score against: a file with one label per row in any format, data:NAME, or none for no scores; default: "
    "the --label-column, or the truth of the data set";

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

Run RunRequest::run() const {
    if (started_processes() > 1)
        throw BadArgument(Code::not_supported,
                          filled("this command works in one process, but {} were started", started_processes()),
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
    if (!memory.empty()) {
        const double bytes = bytes_from_text(memory);
        if (!(bytes >= 1 << 20) || !(bytes < 1e18))
            throw refused_option("memory", memory, "a size from 1M on, such as 500M, 2G or 1.5G");
        limit_memory(static_cast<std::uint64_t>(bytes));
    }
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

Flag text_flag(const std::string& name, const std::string& value, const std::string& meaning, const std::string& group,
               std::string& target, std::shared_ptr<void> owner, Completion completion) {
    return {.name = name,
            .value = value,
            .meaning = meaning,
            .completion = completion,
            .group = group,
            .take = [&target, owner](const std::string& text) { target = text; }};
}

Operand text_operand(const std::string& name, const std::string& meaning, std::string& target,
                     std::shared_ptr<void> owner, Completion completion) {
    return {
        .name = name, .meaning = meaning, .completion = completion, .take = [&target, owner](const std::string& text) {
            target = text;
        }};
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

FlagList& FlagList::add(std::vector<Flag> more) {
    append(flags_, std::move(more));
    return *this;
}

FlagList& FlagList::reading(ReadRequest& request) {
    std::vector<Flag> flags = FlagList(owner_).options("Reading", request);
    for (const char* column : {"--label-column", "--id-column"}) flag_named(flags, column).value = "COLUMN";
    for (const char* list : {"--columns", "--exclude"}) flag_named(flags, list).value = "LIST";
    return add(std::move(flags));
}

FlagList& FlagList::truth(const char* meaning, std::string& file, std::string& column) {
    return this->file("--truth", "FILE", meaning, "Reading", file)
        .text("--truth-column", "COLUMN", "column of the --truth file: its name, or its number counted from 1",
              "Reading", column);
}

FlagList& FlagList::weights(const char* meaning, std::string& file, std::string& column) {
    return this->file("--weights", "FILE", meaning, "Reading", file)
        .text("--weights-column", "COLUMN", "column of the --weights file: its name, or its number counted from 1",
              "Reading", column);
}

FlagList& FlagList::labels_out(std::string& target) {
    return file("--labels-out", "FILE",
                "write one label per row: csv, txt or tsv with the header label, or npy (int32); - writes to standard "
                "output; with partial labels, text contains label names, npy label numbers; in npy, clusters without a "
                "label have higher numbers",
                "Writing", target);
}

FlagList& FlagList::table_out(std::string& target) {
    return file(
        "--table-out", "FILE",
        "write all columns of the data file plus label and, if the model has them, confidence (largest membership), "
        "distance (to the row's centroid) and outlier_score: .csv, .arrow or .feather (file), .arrows (stream); - "
        "writes csv to standard output",
        "Writing", target);
}

FlagList& FlagList::report(std::string& target, const char* meaning) {
    return file("--report", "FILE.html", meaning, "Writing", target);
}

FlagList& FlagList::running(RunRequest& request, const std::vector<std::string>& names) {
    return add(run_flags(std::shared_ptr<RunRequest>(owner_, &request), names));
}

}  // namespace coterie::cli
