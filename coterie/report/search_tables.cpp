// An unknown value is a dash. The reason of a failed cell or method is shown outside the table: it is a sentence.

#include "coterie/report/search_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace coterie::internal {
namespace {

constexpr double Scores::*shown_scores[] = {&Scores::acc, &Scores::nmi, &Scores::ari};

void add_scores(std::vector<std::string>& row, const std::optional<Scores>& of) {
    for (const auto member : shown_scores) row.push_back(of ? share_text((*of).*member) : "-");
}

std::vector<std::size_t> columns_from(std::size_t first, std::size_t columns) {
    std::vector<std::size_t> out(columns - first);
    std::iota(out.begin(), out.end(), first);
    return out;
}

}  // namespace

std::string options_text(const OptionValues& options) {
    std::vector<std::string> words;
    for (const auto& [name, value] : options) words.push_back(name + "=" + to_text(value));
    return join(words);
}

std::string criterion_text(Criterion criterion) {
    return (compares_clusters_alone(criterion) ? "the rule of "
            : larger_is_better(criterion)      ? "the largest "
                                               : "the least ") +
           std::string(name(criterion));
}

std::vector<std::size_t> cells_to_show(const TuneOptions& asked, const TuneResult& found, std::size_t most) {
    std::vector<std::size_t> order = columns_from(0, found.cells.size());
    if (order.size() <= most) return order;
    const double sign = larger_is_better(asked.select) ? -1.0 : 1.0;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto rank = [&](std::size_t cell) {
        const double value = sign * found.cells[cell].criterion;
        return cell == found.best ? -infinity : std::isnan(value) ? infinity : value;
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
    order.resize(most);
    std::sort(order.begin(), order.end());
    return order;
}

TextTable cells_table(const TuneOptions& asked, const TuneResult& found, const std::vector<std::size_t>& cells) {
    const auto any = [&](auto member) {
        return std::any_of(found.cells.begin(), found.cells.end(),
                           [&](const TuneCell& cell) { return (cell.*member).has_value(); });
    };
    const bool has_seen = any(&TuneCell::seen);
    const bool has_unseen = any(&TuneCell::unseen);
    TextTable out;
    out.header = {""};
    if (asked.with_kmeans) out.header.emplace_back("method");
    for (const auto& axis : asked.grid) out.header.push_back(axis.option);
    const std::size_t numbers = out.header.size();
    out.header.emplace_back(name(asked.select));
    const auto scores = [&](const std::string& which) {
        for (const char* score : {"ACC", "NMI", "ARI"}) out.header.push_back(which + score);
    };
    if (has_seen) scores(has_unseen ? "seen " : "");
    if (has_unseen) scores("unseen ");
    out.header.emplace_back("seconds");
    out.right = columns_from(numbers, out.header.size());
    for (const std::size_t i : cells) {
        const TuneCell& cell = found.cells[i];
        std::vector<std::string> row = {i == found.best ? "*" : ""};
        if (asked.with_kmeans) row.push_back(cell.method);
        for (const auto& axis : asked.grid) {
            const auto value = cell.options.find(axis.option);
            row.push_back(value == cell.options.end() ? "-" : to_text(value->second));
        }
        row.push_back(!cell.error.empty()             ? "refused"
                      : std::isfinite(cell.criterion) ? number_text(cell.criterion)
                                                      : "-");
        if (has_seen) add_scores(row, cell.seen);
        if (has_unseen) add_scores(row, cell.unseen);
        row.push_back(seconds_text(cell.seconds));
        out.rows.push_back(std::move(row));
    }
    return out;
}

TextTable methods_table(const Comparison& comparison) {
    const auto& methods = comparison.methods;
    const bool scored = std::any_of(methods.begin(), methods.end(), [](const auto& m) { return m.scores.has_value(); });
    TextTable out;
    out.header = {"method", "clusters", "silhouette", "calinski-harabasz", "davies-bouldin"};
    if (scored)
        for (const char* each : {"ACC", "NMI", "ARI"}) out.header.emplace_back(each);
    out.header.emplace_back("seconds");
    out.right = columns_from(1, out.header.size());
    for (const auto& method : methods) {
        std::vector<std::string> row = {method.method};
        if (method.error.empty()) {
            const auto found = std::count_if(method.sizes.begin(), method.sizes.end(), [](Index s) { return s > 0; });
            row.push_back(std::to_string(found));
            for (const double value : {method.silhouette, method.calinski_harabasz, method.davies_bouldin})
                row.push_back(std::isfinite(value) ? formatted("%.4g", value) : "-");
            if (scored) add_scores(row, method.scores);
        } else {
            row.emplace_back("failed");
            row.resize(out.header.size() - 1, "-");
        }
        row.push_back(seconds_text(method.seconds));
        out.rows.push_back(std::move(row));
    }
    return out;
}

Facts left_out_by_reason(const Comparison& comparison) {
    std::map<std::string, std::vector<std::string>> why;
    for (const auto& [method, reason] : comparison.left_out) why[reason].push_back(method);
    Facts out;
    for (const auto& [reason, who] : why) out.emplace_back(join(who), reason);
    return out;
}

}  // namespace coterie::internal
