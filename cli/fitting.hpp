#pragma once
// A fit, from the command line to its output files. fit does this once; tune does it with the options that it chose.

#include "command_line.hpp"
#include "common.hpp"
#include "constraints.hpp"
#include "coterie/report/document.hpp"
#include "coterie/report/fit_files.hpp"
#include "terminal.hpp"

namespace coterie::cli {

struct FitRequest {
    std::string points;
    OptionValues given;
    ReadRequest reading;
    RunRequest running;
    ConstraintRequest constraints;
    Settings settings;
    std::string truth;
    std::string truth_column;
    std::string weights;
    std::string weights_column;
    std::string initial_centroids;
    FitPaths paths;
    bool strict = false;

    /// Checks, before any work, for options that need others, and for outputs that cannot be written. Throws
    /// BadArgument or ResourceError. Large temporary files go to the folder of the outputs.
    OutputPaths check();
    /// `given`; with partial labels and without a given number of clusters, also the automatic number (by the labels).
    OptionValues options() const;
};

/// A subcommand named after the method: POINTS, and all fit flags that the method takes. `first`: flags before the
/// method's own.
Command method_command(const Method& method, std::shared_ptr<FitRequest> request, std::vector<Flag> first = {});
/// Flags for reading and preparing a table, for any method.
std::vector<Flag> table_flags(const std::shared_ptr<FitRequest>& request);
/// The names in a list of methods, separated by commas. Throws BadArgument that names --methods.
std::vector<std::string> methods_in(const std::string& list);
/// Throws the error for a word that is not a method, in a command whose subcommands are the methods.
void refuse_method(const std::string& word);
bool has_clusters(const Method& method);

/// All inputs of a fit.
struct FitInputs {
    Problem problem;
    std::optional<Truth> truth;
    std::vector<Message> notes;  // about how the points were read
    std::vector<Message> warnings;
    std::shared_ptr<const TableRows> rows = {};
    double seconds = 0;
    std::shared_ptr<const PreparedProblem> prepared = {};  // set when the problem was prepared before the fit

    /// `notes`, and a note if the number of clusters is a default, because it decides the result. `given`: the options
    /// that were set.
    std::vector<Message> notes_on(const Method& method, const OptionValues& given) const;
};
/// Throws BadData when the inputs do not belong together.
FitInputs read_inputs(const Method& method, const FitRequest& request, const Run& run);

/// Returns the prepared problem. Prepares it at the first call.
const PreparedProblem& prepared_in(FitInputs& inputs, const FitRequest& request, const Run& run);

/// Prepares the points, fits, scores, and writes the requested files. Files that cannot be written are listed in
/// `failures`. `given`: the options that were set. `search`: page_search() of the search that chose them, for the page.
/// The caller's InterruptGuard must exist during the call.
FitResult fit_and_write(const Method& method, const OptionValues& given, const FitRequest& request, FitInputs inputs,
                        Run run, ProgressBar& bar, WriteFailures& failures,
                        const std::optional<ClusterChoice>& choice = {}, const std::string& search = {});
/// Prints to standard error why the fit ended before it converged. Returns the exit code.
int tell_end(const FitResult& result, const FitRequest& request);

}  // namespace coterie::cli
