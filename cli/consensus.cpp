// coterie consensus: combines fits of several methods, or of one, into one partition.

#include "coterie/selection/consensus.hpp"
#include "coterie/report/selection_document.hpp"

#include "commands.hpp"
#include "coterie/io/writer.hpp"
#include "coterie/report/result_table.hpp"
#include "fitting.hpp"
#include "program.hpp"

namespace coterie::cli {
namespace {

struct ConsensusRequest : FitRequest {
    ConsensusOptions combining;
    std::string methods;
    std::string rows_out;
    bool has_clusters = false;
};

int consensus_on(const ConsensusRequest& request) {
    require_clusters(request.has_clusters);
    ConsensusOptions options = request.combining;
    if (!request.methods.empty()) options.methods = methods_in(request.methods);
    const OutputPaths outputs = check_outputs(
        request.running, {request.points},
        {{"labels_out", request.paths.labels, label_extensions}, {"rows_out", request.rows_out, {".csv"}}});
    Run run = request.running.run();
    ProgressBar bar(run, request.running.quiet);
    const FitInputs inputs = read_inputs(find_method("kmeans"), request, run);
    const std::string source = source_name(request.points);
    const InterruptGuard guard(run);
    Consensus found = naming_points(source, [&] { return consensus(inputs.problem, options, request.settings, run); });
    bar.clear();
    found.command = command_text();
    found.date = date_text();
    print_notes(inputs.notes, request.running);
    print_warnings(inputs.warnings, request.running);
    print_warnings(found.warnings, request.running);
    WriteFailures failures;
    if (!request.paths.labels.empty())
        failures.attempt([&] {
            LabelsWriter writer(request.paths.labels, static_cast<Index>(found.labels.size()), {}, inputs.rows.get());
            writer.write(found.labels);
            writer.commit();
        });
    if (!request.rows_out.empty()) failures.attempt([&] { write_rows(request.rows_out, found); });
    print_document(request.running, outputs, found, source);
    failures.rethrow();
    return Exit::done;
}

}  // namespace

Command consensus_command() {
    const auto request = std::make_shared<ConsensusRequest>();
    Command command = command_of(
        request, "consensus", "combine many fits into one partition, with a confidence for each row",
        "Evidence accumulation (Fred and Jain 2005): each fit uses a random 80 % of the rows and labels all rows. The "
        "similarity of two rows is the share of fits that put them into the same cluster. Average linkage on this "
        "similarity is cut at k clusters. The confidence of a row, from -1 to 1, is its mean similarity to its own "
        "cluster less that to the next best one. Above 3,000 rows, fits and linkage use a random sample of 3,000 rows; "
        "each other row goes to the cluster to which it is most similar.",
        consensus_on);
    command.operands = {points_operand(request->points, request)};
    command.flags =
        FlagList(request)
            .options("Consensus", request->combining)
            .text("--methods", "LIST", "methods that the fits use in turn, separated by commas; default: kmeans",
                  "Consensus", request->methods)
            .add(table_flags(request))
            .labels_out(request->paths.labels)
            .file("--rows-out", "FILE.csv", "write the number, label and confidence of each row", "Writing",
                  request->rows_out)
            .running(request->running, {"--seed", "--threads", "--memory", "--device", "--quiet", "--json"});
    Flag& clusters = flag_named(command.flags, "--clusters");
    clusters.standard = "";
    clusters.take = [take = clusters.take, request](const std::string& text) {
        take(text);
        request->has_clusters = true;
    };
    command.examples = {{"coterie consensus data:iris -k 3 --rows-out rows.csv", "100 fits of k-means"},
                        {"coterie consensus points.csv -k 5 --methods kmeans,ward,spectral --scale zscore",
                         "fits of three methods in turn"}};
    return command;
}

}  // namespace coterie::cli
