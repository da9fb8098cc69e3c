#include "outcome.hpp"

#include "table.hpp"

namespace coterie::cli {

std::string title(const Outcome& outcome) {
    const FitReport& report = outcome.report;
    std::string clusters = count_text(report.clusters_found) + (report.clusters_found == 1 ? " cluster" : " clusters");
    if (report.clusters_found != report.clusters_requested)
        clusters += " (" + std::to_string(report.clusters_requested) + " asked for)";
    return outcome.method->name + " on " + outcome.source + ": " + count_text(report.points) +
           (report.points == 1 ? " point, " : " points, ") + count_text(report.dimensions) +
           (report.dimensions == 1 ? " dimension, " : " dimensions, ") + clusters;
}

std::string detail_text(const Detail& detail) {
    struct Visitor {
        std::string operator()(double value) const { return number_text(value); }
        std::string operator()(std::int64_t value) const { return std::to_string(value); }
        std::string operator()(const std::string& value) const { return value; }
        std::string operator()(const std::vector<double>& values) const {
            constexpr std::size_t most = 20;
            std::string out;
            for (std::size_t i = 0; i < values.size() && i < most; ++i)
                out += (i == 0 ? "" : " ") + number_text(values[i]);
            if (values.size() > most) out += " ... (" + std::to_string(values.size()) + " numbers)";
            return out;
        }
    };
    return std::visit(Visitor{}, detail);
}

std::string outcome_text(const Outcome& outcome) {
    const FitReport& report = outcome.report;
    std::vector<std::pair<std::string, std::string>> rows;
    rows.emplace_back("sizes", sizes_text(report.sizes));
    if (!outcome.labels.empty()) rows.emplace_back("labels", label_groups_text(outcome.labels, report.sizes));
    std::string objective = number_text(report.objective);
    if (report.stopped == StopReason::exact) {
        objective += " (exact)";
    } else {
        objective += " after " + std::to_string(report.iterations) +
                     (report.iterations == 1 ? " iteration" : " iterations") + " (" +
                     std::string(name(report.stopped)) + ")";
    }
    rows.emplace_back("objective", objective);
    if (outcome.preprocessing != "none") rows.emplace_back("points were", outcome.preprocessing);
    if (outcome.agreement) {
        rows.emplace_back("scores", scores_text(*outcome.agreement));
        rows.emplace_back("truth", truth_text(*outcome.agreement, outcome.truth_source));
    }
    std::string seconds;
    for (const auto& [stage, value] : outcome.seconds)
        seconds += (seconds.empty() ? "" : ", ") + stage + " " + seconds_text(value);
    rows.emplace_back("seconds", seconds);
    for (const auto& [what, path] : outcome.written) rows.emplace_back(what, path);
    return title(outcome) + "\n" + facts(rows);
}

}  // namespace coterie::cli
