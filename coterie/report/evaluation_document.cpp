// The scores, and the matched table of classes and clusters. In text the table has at most 30 rows and columns.

#include "coterie/report/evaluation_document.hpp"

#include "coterie/base/text.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

std::string confusion_text(const Confusion& confusion) {
    constexpr std::size_t most = 30;
    if (confusion.classes.size() > most || confusion.clusters.size() > most)
        return filled("The confusion table of {} classes and {} clusters is too wide for a terminal; {} has it.\n",
                      confusion.classes.size(), confusion.clusters.size(), Spelling::current().option("json"));
    std::vector<std::string> header = {"class \\ cluster"};
    std::vector<std::size_t> right;
    for (const auto& cluster : confusion.clusters) {
        right.push_back(header.size());
        header.push_back(cluster);
    }
    TextRows rows;
    for (std::size_t v = 0; v < confusion.classes.size(); ++v) {
        std::vector<std::string> row = {confusion.classes[v]};
        for (const auto count : confusion.counts[v]) row.push_back(std::to_string(count));
        rows.push_back(std::move(row));
    }
    return table(header, rows, right);
}

}  // namespace

std::optional<Message> unknown_rows_warning(const Agreement& agreement, Index rows) {
    if (agreement.unknown == 0) return {};
    return Message{.code = Code::rows_left_out,
                   .problem = count_text(agreement.unknown) + " of " + count_text(rows) +
                              (agreement.unknown == 1 ? " rows has no truth or no label and is"
                                                      : " rows have no truth or no label and are") +
                              " left out of the scores"};
}

std::string text_document(const std::string&, const std::string&, const Agreement& agreement) {
    Facts rows = {{"rows", count_text(agreement.scored)}};
    for (const auto& [name, score] : named(agreement.scores)) rows.emplace_back(name, share_text(score));
    return facts(rows) + "\n" + confusion_text(agreement.confusion);
}

std::string json_document(const std::string& labels, const std::string& truth, const Agreement& agreement) {
    Json out = new_document();
    out["labels"] = labels;
    out["truth"] = truth;
    out["n"] = agreement.scored;
    out["unknown"] = agreement.unknown;
    out.update(json_of(agreement.scores));
    out["confusion"] = json_of(agreement.confusion);
    return document(out);
}

}  // namespace coterie
