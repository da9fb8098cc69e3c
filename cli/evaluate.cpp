// coterie evaluate: scores a column of labels against a truth. Rows without a truth are left out, and counted.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/report/evaluation_document.hpp"

namespace coterie::cli {
namespace {

struct EvaluateRequest {
    std::string labels;
    std::string truth;
    std::string labels_column;
    std::string truth_column;
    RunRequest running;
};

int evaluate(const EvaluateRequest& request) {
    const Run run = request.running.run();
    const LabelColumn labels = read_labels(request.labels, request.labels_column, true);
    const Truth truth = read_truth(request.truth, request.truth_column, run);
    const Agreement agreement = compare(labels, request.labels, truth);
    if (const auto warning = unknown_rows_warning(agreement, static_cast<Index>(labels.labels.size())))
        print_warnings({*warning}, request.running);
    return print_document(request.running, {}, request.labels, request.truth, agreement);
}

}  // namespace

Command evaluate_command() {
    const auto request = std::make_shared<EvaluateRequest>();
    Command command = command_of(
        request, "evaluate", "score labels against a truth",
        "Prints ACC (best one-to-one match of clusters and classes), NMI (arithmetic mean), ARI, purity, homogeneity "
        "and completeness, all as fractions of 1. Then prints a table with a row per class and a column per cluster; "
        "matched clusters are on the diagonal. Rows without a truth or a label (blank, or -1 or NaN in arrays) are "
        "left out. Noise has no label.",
        evaluate);
    command.operands = {
        text_operand("LABELS", "file with one label per row, numbers or text, in any format", request->labels, request),
        text_operand("TRUTH", "file with one class per row, in any format; or data:NAME, for the truth of a data set",
                     request->truth, request, Completion::points)};
    command.flags = FlagList(request)
                        .text("--labels-column", "COLUMN", "column of LABELS: its name, or its number counted from 1",
                              "Reading", request->labels_column)
                        .text("--truth-column", "COLUMN", "column of TRUTH: its name, or its number counted from 1",
                              "Reading", request->truth_column)
                        .running(request->running, {"--quiet", "--json"});
    command.examples = {
        {"coterie evaluate labels.csv data:digits", "score labels of the digits against their truth"},
        {"coterie evaluate labels.npy iris.csv --truth-column species --json", "the truth is a column of a table"}};
    return command;
}

}  // namespace coterie::cli
