// coterie evaluate: how well a column of labels agrees with a truth. The pipeline computes the scores and the matched
// table; this file handles words and tables. Rows without a truth are left out, and their number is shown.

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct EvaluateRequest {
    std::string labels;
    std::string truth;
    std::string labels_column;
    std::string truth_column;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

std::string confusion_text(const Confusion& confusion) {
    constexpr std::size_t most = 30;
    if (confusion.classes.size() > most || confusion.clusters.size() > most)
        return "The confusion table of " + std::to_string(confusion.classes.size()) + " classes and " +
               std::to_string(confusion.clusters.size()) + " clusters is too wide for a terminal; --json has it.\n";
    std::vector<std::string> header = {"class \\ cluster"};
    std::vector<std::size_t> right;
    for (const auto& cluster : confusion.clusters) {
        right.push_back(header.size());
        header.push_back(cluster);
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t v = 0; v < confusion.classes.size(); ++v) {
        std::vector<std::string> row = {confusion.classes[v]};
        for (const auto count : confusion.counts[v]) row.push_back(std::to_string(count));
        rows.push_back(std::move(row));
    }
    return table(header, rows, right);
}

int evaluate(const EvaluateRequest& request) {
    const Run run = request.running->run();
    const LabelColumn labels = read_labels(request.labels, request.labels_column, true);
    const Truth truth = read_truth(request.truth, request.truth_column, run);
    const Agreement agreement = compare(labels, request.labels, truth);
    if (agreement.unknown > 0 && !request.running->quiet)
        print_warning({.code = Code::rows_left_out,
                       .problem = count_text(agreement.unknown) + " of " +
                                  count_text(static_cast<long long>(labels.labels.size())) +
                                  (agreement.unknown == 1 ? " rows has no truth or no label and is"
                                                          : " rows have no truth or no label and are") +
                                  " left out of the scores"});
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["labels"] = request.labels;
        out["truth"] = request.truth;
        out["n"] = agreement.scored;
        out["unknown"] = agreement.unknown;
        out.update(json_of(agreement.scores));
        out["confusion"] = json_of(agreement.confusion);
        print(document(out));
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {{"points", count_text(agreement.scored)}};
    for (const auto& [name, score] : named(agreement.scores)) rows.emplace_back(name, share_text(score));
    print(facts(rows) + "\n" + confusion_text(agreement.confusion));
    return Exit::done;
}

}  // namespace

Command evaluate_command() {
    const auto request = std::make_shared<EvaluateRequest>();
    Command command;
    command.name = "evaluate";
    command.summary = "score labels against a truth";
    command.details =
        "Prints ACC (best one-to-one match of clusters and classes), NMI (arithmetic mean), ARI, purity, homogeneity "
        "and completeness, all as fractions of 1. Then prints a table with a row per class and a column per cluster; "
        "matched clusters are on the diagonal. Rows without a truth or a label (blank; in arrays -1 or NaN) are left "
        "out; this includes noise.";
    command.operands = {
        text_operand("LABELS", "file with one label per row, numbers or text, in any format", request->labels, request),
        text_operand("TRUTH", "file with one class per row, in any format; or data:NAME, for the truth of a data set",
                     request->truth, request, Completion::points)};
    command.flags = {text_flag("--labels-column", "COLUMN", "column of LABELS: its name, or its number counted from 1",
                               "Reading", request->labels_column, request),
                     text_flag("--truth-column", "COLUMN", "column of TRUTH: its name, or its number counted from 1",
                               "Reading", request->truth_column, request)};
    append(command.flags, run_flags(request->running, {"--quiet", "--json"}));
    command.examples = {
        {"coterie evaluate labels.csv data:digits", "score labels of the digits against their truth"},
        {"coterie evaluate labels.npy iris.csv --truth-column species --json", "the truth is a column of a table"}};
    command.act = [request] { return evaluate(*request); };
    return command;
}

}  // namespace coterie::cli
