// coterie compare: reads points and truth as for a fit of k-means, which accepts every table.

#include "coterie/report/selection_document.hpp"
#include "coterie/selection/compare_methods.hpp"

#include "commands.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/report/map.hpp"
#include "coterie/report/page.hpp"
#include "fitting.hpp"
#include "program.hpp"

namespace coterie::cli {
namespace {

struct CompareRequest : FitRequest {
    int clusters = 0;
    std::string methods;
};

int compare_on(CompareRequest& request) {
    require_clusters(request.clusters != 0);
    CompareOptions options{.clusters = request.clusters};
    if (!request.methods.empty()) options.methods = methods_in(request.methods);
    const OutputPaths outputs = request.check();
    Run run = request.running.run();
    ProgressBar bar(run, request.running.quiet);
    FitInputs inputs = read_inputs(find_method("kmeans"), request, run);
    const std::string source = source_name(request.points);
    const InterruptGuard guard(run);
    const Labels truth = inputs.truth ? inputs.truth->column.labels : Labels();
    Comparison found =
        naming_points(source, [&] { return compare_methods(prepared_in(inputs, request, run), options, run, truth); });
    bar.clear();
    found.command = command_text();
    found.date = date_text();
    inputs.warnings.insert(inputs.warnings.end(), found.warnings.begin(), found.warnings.end());
    found.warnings = inputs.warnings;
    print_notes(inputs.notes, request.running);
    print_warnings(inputs.warnings, request.running);
    print_warnings(warnings_of_methods(found), request.running);
    WriteFailures failures;
    const bool none = std::all_of(found.methods.begin(), found.methods.end(),
                                  [](const ComparedMethod& method) { return !method.error.empty(); });
    if (!request.paths.page.empty() && !none) {
        // The results are drawn even after an interrupt.
        run.should_stop = nullptr;
        run.on_progress = nullptr;
        const ComparisonDrawings drawn =
            comparison_drawings(found, *inputs.prepared, source, inputs.truth, run, inputs.rows.get());
        found.written.emplace_back("report", request.paths.page);
        if (!failures.attempt(
                [&] { write_file(request.paths.page, html_document(found, source, drawn.picture, drawn.map)); }))
            found.written.clear();
    }
    print_document(request.running, outputs, found, source);
    failures.rethrow();
    if (!found.interrupted && none)
        throw BadData(Code::not_supported, "no method could be fitted. The error of " + found.methods.front().method +
                                               " is: " + found.methods.front().error);
    if (!found.interrupted) return Exit::done;
    print_error("interrupted; the result has the methods that were finished");
    return Exit::interrupted;
}

}  // namespace

Command compare_command() {
    const auto request = std::make_shared<CompareRequest>();
    Command command = command_of(
        request, "compare", "run several methods on the same rows and compare the results",
        "Fits each method with k clusters and otherwise its defaults. The first table shows, for each method, the "
        "number of clusters, three criteria on the prepared rows, scores if the truth is known, and seconds. The "
        "second table shows how far the methods agree (ARI). Without --methods, compares the methods that are fast "
        "enough for this many rows, and lists the skipped ones with the reason. A method that fails shows an error in "
        "its line.",
        compare_on);
    command.operands = {points_operand(request->points, request)};
    const auto take_clusters = [request](const std::string& text) {
        const Option& option = find_method("ward").options->at("clusters");
        request->clusters = static_cast<int>(std::get<std::int64_t>(option.parse(text)));
    };
    command.flags =
        FlagList(request)
            .add({.name = "--clusters",
                  .letter = 'k',
                  .value = "K",
                  .meaning = "number of clusters k",
                  .accepted = "a whole number, at least 1",
                  .group = "Comparing",
                  .take = take_clusters})
            .text("--methods", "LIST", "methods to compare, separated by commas; coterie methods lists the names",
                  "Comparing", request->methods)
            .add(table_flags(request))
            .truth(truth_meaning, request->truth, request->truth_column)
            .report(request->paths.page)
            .running(request->running, {"--seed", "--threads", "--memory", "--device", "--quiet", "--json"});
    command.examples = {{"coterie compare data:iris -k 3", "the default methods for this many rows"},
                        {"coterie compare points.csv -k 10 --methods kmeans,ward,spectral --scale zscore --json",
                         "three methods, as one JSON document"},
                        {"coterie compare points.csv -k 5 --report page.html",
                         "a page with the tables, and a map coloured by the clusters of each method"}};
    return command;
}

}  // namespace coterie::cli
