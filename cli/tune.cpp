// coterie tune. If the final fit fails or is interrupted, the cells of the search are printed first, and then the
// failure is reported.

#include "coterie/report/tune_document.hpp"

#include <exception>

#include "commands.hpp"
#include "coterie/base/text.hpp"
#include "coterie/report/page.hpp"
#include "fitting.hpp"
#include "program.hpp"

namespace coterie::cli {
namespace {

struct TuneRequest : FitRequest {
    TuneOptions tuning;
};

FitResult fit_best_cell(const FitRequest& request, const TunedFit& tuned, FitInputs inputs, const Run& run,
                        ProgressBar& bar, WriteFailures& failures) {
    FitRequest best = request;
    best.settings.preparation = tuned.found.best_preparation;
    return fit_and_write(find_method(tuned.found.best_method), tuned.found.best_options, best, std::move(inputs), run,
                         bar, failures, {}, request.paths.page.empty() ? "" : page_search(tuned.asked, tuned.found));
}

std::string interruption_text(const TunedFit& tuned) {
    return filled(
        "interrupted after {} of {} cells{}; the best cell was not fitted on all rows, and no file was written",
        count_text(static_cast<long long>(tuned.found.cells.size())), count_text(tuned.found.cells_asked),
        tuned.asked.folds > 0 ? filled(" and {} of {} folds", tuned.found.folds_done, tuned.asked.folds) : "");
}

int tune_method(const Method& method, TuneRequest& request) {
    require_given(!request.tuning.grid.empty(), "grid", "the options to tune are missing",
                  "Use --grid OPTION=VALUES once for each of them, for example --grid " +
                      (has_clusters(method) ? "clusters" : method.options->options().front().name) + "=2:10");
    const OutputPaths outputs = request.check();
    TunedFit tuned;
    tuned.method = &method;
    tuned.asked = request.tuning;
    tuned.source = source_name(request.points);
    tuned.seed = request.running.seed;
    tuned.command = command_text();
    tuned.date = date_text();
    OptionValues fixed = request.options();
    OptionValues said = fixed;  // options set here or on the grid
    for (const auto& axis : tuned.asked.grid) {
        if (!request.given.contains(axis.option)) fixed.erase(axis.option);
        said[axis.option] = {};
    }

    Run run = request.running.run();
    tuned.threads = run.threads;
    ProgressBar bar(run, request.running.quiet);
    FitInputs inputs = read_inputs(method, request, run);
    const std::vector<Message> notes = inputs.notes_on(method, said);
    if (inputs.problem.graph)
        throw BadArgument(Code::not_supported, "tune does not accept a graph", "Use coterie fit",
                          {.file = source_name(request.points)});
    if (request.settings.columns.missing == Missing::drop)
        tuned.rows_left_out = static_cast<Index>(rows_with_missing(inputs.problem.points, run).size());
    tuned.points = inputs.problem.rows() - tuned.rows_left_out;
    tuned.seconds.emplace_back("read", inputs.seconds);
    print_notes(notes, request.running);

    const InterruptGuard guard(run);
    Stopwatch watch;
    const Labels truth = inputs.truth ? inputs.truth->column.labels : Labels();
    tuned.found = tune(inputs.problem, {method, fixed}, tuned.asked, request.settings, run, truth);
    tuned.seconds.emplace_back("tune", watch.restart());
    std::exception_ptr failure;
    WriteFailures failures;
    try {
        if (!tuned.found.interrupted) tuned.fit = fit_best_cell(request, tuned, std::move(inputs), run, bar, failures);
    } catch (const Cancelled&) {
        tuned.found.interrupted = true;
    } catch (const Error&) {
        failure = std::current_exception();
    }
    bar.clear();

    int code = Exit::interrupted;
    if (tuned.fit) {
        tuned.fit->notes = notes;
        print_warnings(tuned.fit->warnings, request.running);
        code = tell_end(*tuned.fit, request);
    } else if (!failure) {
        print_error(interruption_text(tuned));
    }
    print_document(request.running, outputs, tuned);
    if (failure) std::rethrow_exception(failure);
    failures.rethrow();
    return code;
}

Command tune_method_command(const Method& method) {
    const auto request = std::make_shared<TuneRequest>();
    std::vector<Flag> flags = {
        {.name = "--grid",
         .value = "OPTION=VALUES",
         .meaning =
             "values to try for an option of the method, or for scale or center: a list A,B,C, or a range that "
             "includes both ends: LOW:HIGH in steps of 1, LOW:HIGH:N for N equally spaced values, LOW:HIGH:log in "
             "decades, LOW:HIGH:log2 in powers of two; with several --grid, all combinations are tried",
         .group = "Tuning",
         .repeats = true,
         .take = [&method, request](const std::string& text) {
             request->tuning.grid.push_back(read_grid_axis(method, text));
         }}};
    append(flags, FlagList(request).options("Tuning", request->tuning));
    flag_named(flags, "--select").value = "CRITERION";
    flag_named(flags, "--folds").value = "F";

    Command command = method_command(method, request, std::move(flags));
    const std::string start = "coterie tune " + method.name + " ";
    if (has_clusters(method))
        command.examples = {{start + "data:iris --grid clusters=2:8 --labels-out labels.csv",
                             "the number of clusters with the largest silhouette, and its labels"},
                            {start + "points.csv --grid clusters=2:8 --folds 5 --truth truth.csv --json",
                             "scores on rows that the fits have not seen, as one JSON document"}};
    command.act = [&method, request] { return tune_method(method, *request); };
    return command;
}

}  // namespace

Command tune_command() {
    Command command;
    command.name = "tune";
    command.summary = "choose a method's options: try a grid of values, keep the best";
    command.details =
        "Fits the method once for each cell of the grid (with --folds, on parts of the rows) and ranks the cells by a "
        "criterion. Then fits the best cell on all rows, as coterie fit does; the labels, model and report that are "
        "written come from this fit. A cell that the method does not accept is reported and never chosen.";
    command.commands_are = "METHOD";
    for (const auto& method : methods()) command.commands.push_back(tune_method_command(method));
    command.refuse_command = refuse_method;
    command.examples = {
        {"coterie tune kmeans data:iris --grid clusters=2:8", "the number of clusters with the largest silhouette"},
        {"coterie tune soft-kmeans data:iris -k 3 --grid temperature=0.01:10:log --select ratio",
         "the temperature with the least scatter within clusters"}};
    return command;
}

}  // namespace coterie::cli
