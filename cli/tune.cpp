// coterie tune: turns words into a grid, and prints the result as tables and JSON. The search is in coterie/selection,
// the final fit in fitting.cpp. The cells of a long search are printed even where the final fit fails or is
// interrupted. Only then the failure is reported.

#include "coterie/selection/tune.hpp"
#include "coterie/report/selection_document.hpp"
#include "coterie/selection/choose_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/page.hpp"
#include "coterie/report/result_text.hpp"
#include "coterie/report/search_tables.hpp"
#include "fitting.hpp"
#include "program.hpp"

namespace coterie::cli {
namespace {

constexpr std::size_t most_shown = 20;

struct TuneRequest {
    std::shared_ptr<FitRequest> fit = std::make_shared<FitRequest>();
    std::shared_ptr<TuneOptions> tuning = std::make_shared<TuneOptions>();
};

// The search: its request and its results.
struct Tuned {
    const Method* method = nullptr;
    TuneOptions asked;
    TuneResult found;
    std::string source;
    Index points = 0;
    Index rows_left_out = 0;
    Seconds seconds;
    std::optional<FitResult> fit;  // none after an interrupt
    RunRequest running;
    int threads = 0;
    Origin origin;

    const TuneCell& best() const { return found.cells[found.best]; }
};

std::string tuned_text(const Tuned& tuned) {
    const auto& cells = tuned.found.cells;
    const std::string criterion(name(tuned.asked.select));
    std::string out = "tune " + tuned.method->name + " on " + tuned.source + ": " + count_text(tuned.points) +
                      (tuned.points == 1 ? " point, " : " points, ") + count_text(tuned.found.cells_asked) +
                      (tuned.found.cells_asked == 1 ? " cell, " : " cells, ") +
                      (tuned.asked.folds > 0 ? std::to_string(tuned.asked.folds) + " folds, " : "") + "by " +
                      criterion_text(tuned.asked.select) + "\n";
    if (tuned.found.choice) {
        out += text_document(*tuned.found.choice);
    } else {
        const TextTable shown =
            cells_table(tuned.asked, tuned.found, cells_to_show(tuned.asked, tuned.found, most_shown));
        out += table(shown.header, shown.rows, shown.right);
    }
    std::vector<std::pair<std::string, std::string>> rows;
    rows.emplace_back("chosen (*)", (tuned.found.best_method == tuned.method->name
                                         ? ""
                                         : "plain " + tuned.found.best_method + ", better than every cell of " +
                                               tuned.method->name + ": ") +
                                        options_text(tuned.best().options));
    if (needs_truth(tuned.asked.select))
        rows.emplace_back("oracle", criterion + " compares with the truth, so this is the best possible choice");
    if (cells.size() > most_shown && !tuned.found.choice)
        rows.emplace_back("shown", "the best " + std::to_string(most_shown) + " of " +
                                       count_text(static_cast<long long>(cells.size())) + " cells; --json has all");
    const auto refused =
        std::count_if(cells.begin(), cells.end(), [](const auto& cell) { return !cell.error.empty(); });
    if (refused > 0) {
        const auto first =
            std::find_if(cells.begin(), cells.end(), [](const auto& cell) { return !cell.error.empty(); });
        rows.emplace_back("refused", count_text(refused) + (refused == 1 ? " cell; " : " cells; the first, ") +
                                         options_text(first->options) + ": " + first->error);
    }
    out += facts(rows);
    if (tuned.fit) out += "\n" + text_document(*tuned.fit);
    return out;
}

Json tuned_json(const Tuned& tuned) {
    const TuneResult& found = tuned.found;
    // For the method that won: k-means has other options than the grid's method.
    const auto options_of = [](const std::string& method, const OptionValues& values) {
        Json out = json_of(*find_method(method).options, values);
        out.update(json_of(PreparationOptions::described(), values));
        return out;
    };
    const auto scores = [](const std::optional<Scores>& of) { return of ? json_of(*of) : Json(nullptr); };
    Json out;
    out["schema"] = json_schema;
    out["method"] = tuned.method->name;
    out["points"] = tuned.source;
    out["n"] = tuned.points;
    out["rows_left_out"] = tuned.rows_left_out;
    out["select"] = std::string(name(tuned.asked.select));
    out["larger_is_better"] = larger_is_better(tuned.asked.select);
    out["oracle"] = needs_truth(tuned.asked.select);
    out["folds"] = tuned.asked.folds;
    out["grid"] = Json::object();
    for (const auto& axis : tuned.asked.grid) {
        out["grid"][axis.option] = Json::array();
        for (const auto& value : axis.values) out["grid"][axis.option].push_back(json_of(value));
    }
    out["cells"] = Json::array();
    for (const auto& cell : found.cells)
        out["cells"].push_back({{"method", cell.method},
                                {"options", options_of(cell.method, cell.options)},
                                {"criterion", std::isfinite(cell.criterion) ? Json(cell.criterion) : Json(nullptr)},
                                {"seen", scores(cell.seen)},
                                {"unseen", scores(cell.unseen)},
                                {"seconds", cell.seconds},
                                {"error", cell.error.empty() ? Json(nullptr) : Json(cell.error)}});
    if (found.choice) out["choice"] = json_of(*found.choice);
    out["cells_asked"] = found.cells_asked;
    out["best"] = found.best;
    out["best_method"] = found.best_method;
    out["best_options"] = options_of(found.best_method, found.best_options);
    out["best_preparation"] =
        json_of(PreparationOptions::described(), PreparationOptions::described().values(&found.best_preparation));
    out["interrupted"] = found.interrupted;
    out["folds_done"] = found.folds_done;
    out["seconds"] = json_of(tuned.seconds);
    out["seed"] = tuned.running.seed;
    out["threads"] = tuned.threads;
    add_origin(out, tuned.origin);
    if (tuned.fit) out["fit"] = json_of(*tuned.fit);
    return out;
}

int tune_method(const Method& method, const TuneRequest& request) {
    const FitRequest& fit = *request.fit;
    const bool quiet = fit.running->quiet;
    if (request.tuning->grid.empty())
        throw BadArgument(Code::missing_argument, "the options to tune are missing",
                          "Use --grid OPTION=VALUES once for each of them, for example --grid " +
                              (has_clusters(method) ? "clusters" : method.options->options().front().name) + "=2:10",
                          {.option = "grid"});
    const Outputs outputs = fit.check();
    Tuned tuned;
    tuned.method = &method;
    tuned.asked = *request.tuning;
    tuned.source = source_name(fit.points);
    tuned.running = *fit.running;
    tuned.origin = {command_text(), date_text(), {}};
    OptionValues fixed = fit.options();
    OptionValues said = fixed;  // options set here or on the grid
    for (const auto& axis : tuned.asked.grid) {
        if (!fit.given->contains(axis.option)) fixed.erase(axis.option);
        said[axis.option] = {};
    }
    std::vector<Message> notes = notes_on(method, said);

    Run run = fit.running->run();
    tuned.threads = run.threads;
    ProgressBar bar(run, quiet);
    FitInputs inputs = read_inputs(method, fit, run);
    notes.insert(notes.begin(), inputs.notes.begin(), inputs.notes.end());
    if (inputs.problem.graph)
        throw BadArgument(Code::not_supported, "tune does not accept a graph", "Use coterie fit",
                          {.file = source_name(fit.points)});
    if (fit.settings->columns.missing == Missing::drop)
        tuned.rows_left_out = static_cast<Index>(rows_with_missing(inputs.problem.points, run).size());
    tuned.points = inputs.problem.rows() - tuned.rows_left_out;
    tuned.seconds.emplace_back("read", inputs.seconds);
    if (!quiet)
        for (const auto& note : notes) print_note(note);

    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    Stopwatch watch;
    const Labels truth = inputs.truth ? inputs.truth->column.labels : Labels();
    tuned.found = tune(inputs.problem, {method, fixed}, tuned.asked, *fit.settings, run, truth);
    tuned.seconds.emplace_back("tune", watch.restart());
    std::exception_ptr failure;
    Failures failures;
    FitRequest best = fit;
    best.settings = std::make_shared<Settings>(*fit.settings);
    best.settings->preparation = tuned.found.best_preparation;
    try {
        if (!tuned.found.interrupted)
            tuned.fit =
                fit_and_write(find_method(tuned.found.best_method), tuned.found.best_options, best, std::move(inputs),
                              run, bar, failures, {}, fit.report.empty() ? "" : page_search(tuned.asked, tuned.found));
    } catch (const Cancelled&) {
        tuned.found.interrupted = true;
    } catch (const Error&) {
        failure = std::current_exception();
    }
    bar.clear();

    int code = Exit::interrupted;
    if (tuned.fit) {
        tuned.fit->notes = notes;
        if (!quiet)
            for (const auto& warning : tuned.fit->warnings) print_warning(warning);
        code = tell_end(*tuned.fit, fit);
    } else if (!failure) {
        print_error("interrupted after " + count_text(static_cast<long long>(tuned.found.cells.size())) + " of " +
                    count_text(tuned.found.cells_asked) + " cells" +
                    (tuned.asked.folds > 0 ? " and " + std::to_string(tuned.found.folds_done) + " of " +
                                                 std::to_string(tuned.asked.folds) + " folds"
                                           : "") +
                    "; the best cell was not fitted on all rows, and no file was written");
    }
    if (fit.running->json) {
        print(document(tuned_json(tuned)));
    } else {
        print_result(tuned_text(tuned), outputs);
    }
    if (failure) std::rethrow_exception(failure);
    failures.rethrow();
    return code;
}

Command tune_method_command(const Method& method) {
    const auto request = std::make_shared<TuneRequest>();
    const auto tuning = request->tuning;
    std::vector<Flag> flags = flags_of(TuneOptions::described(), "Tuning", std::static_pointer_cast<void>(tuning));
    flag_named(flags, "--select").value = "CRITERION";
    flag_named(flags, "--folds").value = "F";
    Flag grid;
    grid.name = "--grid";
    grid.value = "OPTION=VALUES";
    grid.meaning =
        "values to try for an option of the method, or for scale or center: a list A,B,C, or a range that includes "
        "both ends: LOW:HIGH in steps of 1, LOW:HIGH:N for N equally spaced values, LOW:HIGH:log in decades, "
        "LOW:HIGH:log2 in powers of two; several grids form their product";
    grid.group = "Tuning";
    grid.repeats = true;
    grid.take = [&method, tuning](const std::string& text) { tuning->grid.push_back(read_grid_axis(method, text)); };
    flags.insert(flags.begin(), std::move(grid));

    Command command = method_command(method, request->fit, std::move(flags));
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
