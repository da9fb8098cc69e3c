// Values that name labels stay text until the labels file is read: only the names in the file show where a label ends.

#include "constraints.hpp"

#include <algorithm>

#include "common.hpp"
#include "coterie/constraints/constraint_text.hpp"
#include "coterie/io/pairs_reader.hpp"

namespace coterie::cli {

void ConstraintRequest::check() const {
    for (const auto& [option, given] : {std::pair("partial_labels_column", !partial_labels_column.empty()),
                                        {"clusters_per_label", !clusters_per_label.empty()},
                                        {"label_share", !label_shares.empty()}})
        require_given(!given || !partial_labels.empty(), option, "needs --partial-labels FILE",
                      "Name the file with the labels of the rows");
}

std::vector<Flag> constraint_flags(const Takes& takes, std::shared_ptr<ConstraintRequest> request) {
    const char* const group = "Constraints";
    FlagList flags(request);
    const auto list = [&](const char* name, const char* value, std::string meaning, std::vector<std::string>& target,
                          const char* former = "") {
        flags.add({.name = name,
                   .former = former,
                   .value = value,
                   .meaning = std::move(meaning),
                   .group = group,
                   .repeats = true,
                   .take = [&target, request](const std::string& text) { target.push_back(text); }});
    };
    if (takes.labels) {
        flags
            .file("--partial-labels", "FILE",
                  "file with one label per row, blank if unknown, in any format that holds labels; a labelled row goes "
                  "to a cluster of its label, the others to any cluster",
                  group, request->partial_labels)
            .text("--partial-labels-column", "COLUMN",
                  "column of the --partial-labels file: its name, or its number counted from 1", group,
                  request->partial_labels_column);
        list("--clusters-per-label", "LABEL=N[,...]", "number of clusters of a label; 1 for labels that are not listed",
             request->clusters_per_label);
    }
    if (takes.shares != Shares::none)
        list("--label-share", "LABEL=X[,...]",
             std::string("share of all rows, labelled ones included, in the clusters of a label: LABEL=0.95") +
                 (takes.shares == Shares::interval ? ", or LABEL=0.9:1 for an interval; you may omit either end" : ""),
             request->label_shares, "--group-share");
    if (takes.sizes)
        flags.text("--sizes", "LOW:HIGH",
                   "every cluster has at least LOW and at most HIGH rows; you may omit either end, and N means N:N",
                   group, request->sizes);
    if (takes.pairs)
        flags.file("--pairs", "FILE",
                   "file with pairs of rows that must or cannot be in one cluster: each line has two row numbers, "
                   "counted from 1, and must or cannot, in any format that holds a table",
                   group, request->pairs);
    return flags;
}

void read_constraints(const ConstraintRequest& request, const std::vector<FilePart>& points, Problem& problem,
                      const Run& run) {
    if (!request.sizes.empty()) problem.sizes = read_size_bounds(request.sizes);
    if (!request.pairs.empty()) read_pairs(request.pairs, problem, run);
    if (request.partial_labels.empty()) return;
    LabelColumn read = read_labels(request.partial_labels, request.partial_labels_column, true, points);
    problem.partial_labels = std::move(read.labels);
    problem.label_names = std::move(read.names);
    const Labels& labels = problem.partial_labels;
    const auto& names = problem.label_names;
    if (std::all_of(labels.begin(), labels.end(), [](auto label) { return label < 0; }))
        throw BadData(Code::empty, "no row has a label", "Fill in the label of at least one row",
                      {.option = "partial_labels", .file = source_name(request.partial_labels)});
    for (const auto& text : request.clusters_per_label)
        for (auto& each : read_clusters_per_label(text, names)) problem.clusters_per_label.push_back(std::move(each));
    for (const auto& text : request.label_shares)
        for (auto& each : read_label_shares(text, names)) problem.label_shares.push_back(std::move(each));
}

}  // namespace coterie::cli
