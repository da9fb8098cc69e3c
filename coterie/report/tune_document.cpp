// The text has the chosen options below the table of cells, because k-means, if it was also tried, has other options.

#include "coterie/report/tune_document.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "coterie/report/search_tables.hpp"
#include "coterie/report/selection_document.hpp"

namespace coterie {

using namespace internal;

std::string text_document(const TunedFit& tuned) {
    constexpr std::size_t most_shown = 20;
    const auto& cells = tuned.found.cells;
    const TuneCell& best = cells[tuned.found.best];
    const std::string criterion(name(tuned.asked.select));
    std::string out = "tune " + tuned.method->name + " on " + tuned.source + ": " + counted_text(tuned.points, "row") +
                      ", " + counted_text(static_cast<Index>(tuned.found.cells_asked), "cell") + ", " +
                      (tuned.asked.folds > 0 ? filled("{} folds, ", tuned.asked.folds) : "") + "by " +
                      criterion_text(tuned.asked.select) + "\n";
    if (tuned.found.choice) {
        out += text_document(*tuned.found.choice);
    } else {
        const TextTable shown =
            cells_table(tuned.asked, tuned.found, cells_to_show(tuned.asked, tuned.found, most_shown));
        out += table(shown.header, shown.rows, shown.right);
    }
    Facts rows;
    rows.emplace_back("chosen (*)", (tuned.found.best_method == tuned.method->name
                                         ? ""
                                         : "plain " + tuned.found.best_method + ", better than every cell of " +
                                               tuned.method->name + ": ") +
                                        options_text(best.options));
    if (needs_truth(tuned.asked.select))
        rows.emplace_back("oracle", criterion + " compares with the truth, so this is the best possible choice");
    if (cells.size() > most_shown && !tuned.found.choice)
        rows.emplace_back("shown",
                          filled("the best {} of {} cells; {} has all", most_shown,
                                 count_text(static_cast<long long>(cells.size())), Spelling::current().option("json")));
    const auto failed = [](const TuneCell& cell) { return !cell.error.empty(); };
    if (const auto refused = std::count_if(cells.begin(), cells.end(), failed); refused > 0) {
        const auto first = std::find_if(cells.begin(), cells.end(), failed);
        rows.emplace_back("refused", counted_text(refused, "cell") + (refused == 1 ? "; " : "; the first, ") +
                                         options_text(first->options) + ": " + first->error);
    }
    out += facts(rows);
    if (tuned.fit) out += "\n" + text_document(*tuned.fit);
    return out;
}

std::string json_document(const TunedFit& tuned) {
    const TuneResult& found = tuned.found;
    // For the method that won, because k-means has other options than the grid's method.
    const auto options_of = [](const std::string& method, const OptionValues& values) {
        Json out = json_of(*find_method(method).options, values);
        out.update(json_of(PreparationOptions::described(), values));
        return out;
    };
    const auto scores = [](const std::optional<Scores>& of) { return of ? json_of(*of) : Json(); };
    Json out = new_document();
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
                                {"criterion", cell.criterion},
                                {"seen", scores(cell.seen)},
                                {"unseen", scores(cell.unseen)},
                                {"seconds", cell.seconds},
                                {"error", or_null(cell.error)}});
    if (found.choice) out["choice"] = json_of(*found.choice);
    out["cells_asked"] = found.cells_asked;
    out["best"] = found.best;
    out["best_method"] = found.best_method;
    out["best_options"] = options_of(found.best_method, found.best_options);
    out["best_preparation"] = json_of_options(found.best_preparation);
    out["interrupted"] = found.interrupted;
    out["folds_done"] = found.folds_done;
    out["seconds"] = json_of(tuned.seconds);
    out["seed"] = tuned.seed;
    out["threads"] = tuned.threads;
    add_origin(out, tuned);
    if (tuned.fit) out["fit"] = json_of(*tuned.fit);
    return document(out);
}

}  // namespace coterie
