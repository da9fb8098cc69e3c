#pragma once
// A fit from the words of the command line to the files it leaves: what fit does once, and tune does with the options
// it has found.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "common.hpp"
#include "constraints.hpp"
#include "coterie/report/document.hpp"
#include "terminal.hpp"

namespace coterie::cli {

struct FitRequest {
    std::string points;
    std::shared_ptr<OptionValues> given = std::make_shared<OptionValues>();
    std::shared_ptr<ReadRequest> reading = std::make_shared<ReadRequest>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
    std::shared_ptr<ConstraintRequest> constraints = std::make_shared<ConstraintRequest>();
    std::shared_ptr<FitOptions> fitting = std::make_shared<FitOptions>();
    std::shared_ptr<PreparationOptions> preprocessing = std::make_shared<PreparationOptions>();
    std::shared_ptr<ColumnOptions> columns = std::make_shared<ColumnOptions>();
    std::string truth;
    std::string truth_column;
    std::string weights;
    std::string weights_column;
    std::string initial_centroids;
    std::string labels_out;
    std::string table_out;
    std::string model_out;
    std::string report;
    std::string picture;
    bool strict = false;

    /// UsageError or ResourceError before any work is done: options that need others, outputs that cannot be written.
    Outputs check() const;
    /// `given`, and with partial labels as many clusters as these have where nothing is said.
    OptionValues options() const;
};

/// What is learned from the points of a fit stands under this.
inline constexpr const char* preparing_heading = "Preparing (stored in the model, and applied again by predict)";

/// A subcommand named after the method: POINTS, and every flag of a fit that it takes. `first`: flags that come before
/// the method's own.
Command method_command(const Method& method, std::shared_ptr<FitRequest> request, std::vector<Flag> first = {});
/// Flags of what reads a table and prepares it, whichever methods come after.
std::vector<Flag> table_flags(const std::shared_ptr<FitRequest>& request);
/// A command whose subcommands are the methods refuses others with this.
void refuse_method(const std::string& word);
bool has_clusters(const Method& method);
/// What was left to a default that decides what is found: how many clusters there are. `given`: the options that are
/// not left to their defaults.
std::vector<std::string> notes_on(const Method& method, const OptionValues& given);

/// All that a fit reads.
struct FitInputs {
    Problem problem;
    std::optional<Truth> truth;
    std::vector<std::string> notes;  // how the points were read
    std::vector<std::string> warnings;
    std::shared_ptr<const TableRows> rows = {};
    double seconds = 0;
};
/// BadData when parts do not belong together.
FitInputs read_inputs(const Method& method, const FitRequest& request, const Run& run);

/// Whether the command has to find the number of clusters: auto is asked for, and no partial labels say it.
bool chooses_clusters(const Method& method, const OptionValues& given, const FitRequest& request);
/// What the criteria say, for the points as the fit will see them.
ClusterChoice choose_for(const Method& method, const OptionValues& given, const FitRequest& request,
                         const FitInputs& inputs, Run run);

/// Prepares the points, fits, scores, and writes the files that were asked for, those that fail apart: they are told by
/// `failures` and not among what is written. `given`: the options that are not left
/// at their defaults. `search`: page_search() of what chose them, for the page. The caller's InterruptGuard must live.
FitResult fit_and_write(const Method& method, const OptionValues& given, const FitRequest& request, FitInputs inputs,
                        Run run, ProgressBar& bar, Failures& failures, const std::optional<ClusterChoice>& choice = {},
                        const std::string& search = {});
/// Says on standard error what ended the fit before it converged; the exit code.
int tell_end(const FitResult& result, const FitRequest& request);

}  // namespace coterie::cli
