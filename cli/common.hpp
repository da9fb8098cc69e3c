#pragma once
// What several subcommands share: how points and truth are read, how a Run is made, where results may go, how labels
// are scored.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/data/read.hpp"
#include "coterie/io/read_request.hpp"
#include "coterie/report/document.hpp"

namespace coterie::cli {

// The library's own words for numbers, tables and pieces of documents.
using namespace internal;

std::vector<Flag> read_flags(std::shared_ptr<ReadRequest> request);

/// How a computation runs.
struct RunRequest {
    std::int64_t seed = 0;
    std::optional<int> threads;  // automatic: all there are
    std::string memory;          // empty: what there is
    std::string device = "cpu";
    std::string checkpoint;
    bool quiet = false;
    bool json = false;

    static const OptionSet& described();
    /// In one process: refused where mpirun has started several.
    Run run() const;
    /// In as many as there are. The others than the first are silent from now on.
    Run run_in_processes() const;

private:
    Run as_told() const;
};
/// The flags among --seed, --threads, --device, --checkpoint, --quiet and --json that are named.
std::vector<Flag> run_flags(std::shared_ptr<RunRequest> request, const std::vector<std::string>& names);

/// A flag that names a file, or a column in one.
Flag text_flag(std::string name, std::string value, std::string meaning, std::string group, std::string& target,
               std::shared_ptr<void> owner, Completion completion = Completion::nothing);

/// An operand that must be given.
Operand text_operand(std::string name, std::string meaning, std::string& target, std::shared_ptr<void> owner,
                     Completion completion = Completion::file);
/// POINTS, wherever points are read.
Operand points_operand(std::string& target, std::shared_ptr<void> owner);

extern const char* const weights_column_meaning;
extern const char* const labels_out_meaning;
extern const char* const table_out_meaning;
extern const char* const report_meaning;

/// UsageError on a column of weights without their file.
void require_weights(const std::string& file, const std::string& column);
/// A weight for each of the rows; errors name the file.
std::vector<double> read_weights(const std::string& file, const std::string& column, Index rows,
                                 const std::vector<FilePart>& points);

/// Points with "did you mean" on a data set's name.
PointsFile points_from(const std::string& path, const ReadOptions& options, const Run& run);

/// What f() gives; of data that it refuses as "points: ..." or "predict: ..." the message names `source` instead.
template <class F>
auto naming_points(const std::string& source, F&& f) {
    try {
        return f();
    } catch (const BadData& error) {
        const std::string text = error.message();
        if (!text.starts_with("points: ") && !text.starts_with("predict: ")) throw;
        throw BadData(source + text.substr(text.find(':')), error.fields());
    }
}

/// From a labels file, or several for several files of points, or the truth that comes with data:NAME.
Truth read_truth(const std::string& path, const std::string& column, const Run& run,
                 const std::vector<FilePart>& points = {});

/// Output files are tried before the work starts, so that a typing mistake costs no fit.
class Outputs {
public:
    /// An empty path is no output. `extensions`: those that are accepted; empty: any.
    void add(const std::string& flag, const std::string& path, const std::vector<std::string>& extensions = {});
    /// An input that must not be written over.
    void keep(const std::string& path);
    /// BadArgument or ResourceError when an output cannot be what is asked for.
    void check(bool json) const;
    /// The folder of the first that is a file: where temporary files of the work's size go; else the current folder's
    /// empty name.
    std::string folder() const;
    /// One of them is standard output, so that the table must go elsewhere.
    bool uses_standard_output() const;

private:
    struct Output {
        std::string flag;
        std::string path;
        std::vector<std::string> extensions;
    };
    std::vector<Output> outputs_;
    std::vector<std::string> inputs_;
    int standard_inputs_ = 0;
};

/// Outputs that could not be written: they do not take the others with them.
class Failures {
public:
    /// Runs write(); false where it failed for want of room, a reader, a permission.
    template <class Write>
    bool attempt(Write&& write) {
        try {
            write();
            return true;
        } catch (const ResourceError& error) {
            texts_.push_back(error.message());
            return false;
        }
    }
    bool empty() const { return texts_.empty(); }
    /// ResourceError that tells all of them, where there are any: the last thing a command does.
    void rethrow() const;

private:
    std::vector<std::string> texts_;
};

const std::vector<std::string>& label_extensions();
const std::vector<std::string>& table_extensions();

/// Where an output goes to standard output, text goes aside.
void print_result(const std::string& text, const Outputs& outputs);

/// Positions among `known` of the names in `text`, which commas separate. BadArgument names the option and the names.
std::vector<std::size_t> positions_of(const std::string& option, const std::string& text,
                                      const std::vector<std::string>& known);

}  // namespace coterie::cli
