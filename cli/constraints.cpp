// Reads partial labels, shares and sizes from the command line into the problem. Values that name labels stay text
// until the labels file is read. A label may contain commas and equals signs, and only the file's names show where it
// ends.

#include "constraints.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common.hpp"
#include "coterie/io/pairs_reader.hpp"

namespace coterie::cli {
namespace {

constexpr const char* shares_accepted =
    "LABEL=SHARE or LABEL=LOW:HIGH (either end may be left out), fractions of 1, separated by commas";
constexpr const char* sizes_accepted = "LOW:HIGH (either end may be left out) or one whole number for both";
constexpr const char* clusters_accepted = "LABEL=N, where N is a whole number, separated by commas";

template <class Number>
bool parse(const std::string& text, Number& number) {
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end) return false;
    if constexpr (std::is_floating_point_v<Number>) return std::isfinite(number);
    return true;
}

// "3" means 3 to 3. A missing end leaves its variable unchanged.
template <class Number>
bool parse_interval(const std::string& text, Number& low, Number& high) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) {
        const bool sound = parse(text, low);
        high = low;
        return sound;
    }
    const std::string first = text.substr(0, colon);
    const std::string second = text.substr(colon + 1);
    return text.size() > 1 && (first.empty() || parse(first, low)) && (second.empty() || parse(second, high));
}

// The items of LABEL=VALUE,LABEL=VALUE as pairs. A label may contain '='. It may contain a comma if it is the only
// label in its flag.
std::vector<std::pair<std::string, std::string>> labelled_values(const char* option, const std::string& text,
                                                                 const std::vector<std::string>& labels,
                                                                 const char* accepted) {
    const auto known = [&](const std::string& label) {
        return std::find(labels.begin(), labels.end(), label) != labels.end();
    };
    std::vector<std::pair<std::string, std::string>> out;
    const bool one = known(text.substr(0, text.rfind('=')));
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = one ? text.size() : std::min(text.find(',', begin), text.size());
        const std::string item = text.substr(begin, end - begin);
        const auto equals = item.rfind('=');
        if (equals == std::string::npos || equals == 0) throw refused_option(option, text, accepted);
        out.emplace_back(item.substr(0, equals), item.substr(equals + 1));
        begin = end + 1;
    }
    return out;
}

}  // namespace

void ConstraintRequest::check() const {
    if (!partial_labels.empty()) return;
    const std::pair<const char*, bool> given[] = {{"partial_labels_column", !partial_labels_column.empty()},
                                                  {"clusters_per_label", !clusters_per_label.empty()},
                                                  {"label_share", !label_shares.empty()}};
    for (const auto& [option, is_given] : given)
        if (is_given)
            throw BadArgument(Code::missing_argument, "needs --partial-labels FILE",
                              "Name the file with the labels of the rows", {.option = option});
}

std::vector<Flag> constraint_flags(const Takes& takes, std::shared_ptr<ConstraintRequest> request) {
    const char* const group = "Constraints";
    std::vector<Flag> flags;
    const auto list = [&](const char* name, const char* value, std::string meaning, std::vector<std::string>& target,
                          const char* former = "") {
        Flag flag;
        flag.former = former;
        flag.name = name;
        flag.value = value;
        flag.meaning = std::move(meaning);
        flag.group = group;
        flag.repeats = true;
        flag.take = [&target, request](const std::string& text) { target.push_back(text); };
        flags.push_back(std::move(flag));
    };
    if (takes.labels) {
        flags.push_back(text_flag("--partial-labels", "FILE",
                                  "file with one label per row, blank if unknown, in any format that holds labels; a "
                                  "labelled row goes to a cluster of its label, the others to any cluster",
                                  group, request->partial_labels, request, Completion::file));
        flags.push_back(text_flag("--partial-labels-column", "COLUMN",
                                  "column of the --partial-labels file: its name, or its number counted from 1", group,
                                  request->partial_labels_column, request));
        list("--clusters-per-label", "LABEL=N[,...]", "number of clusters of a label; 1 for labels that are not listed",
             request->clusters_per_label);
    }
    if (takes.shares != Shares::none)
        list("--label-share", "LABEL=X[,...]",
             std::string("share of all rows, labelled ones included, in the clusters of a label: LABEL=0.95") +
                 (takes.shares == Shares::interval ? ", or LABEL=0.9:1 for an interval; you may omit either end" : ""),
             request->label_shares, "--group-share");
    if (takes.sizes)
        flags.push_back(
            text_flag("--sizes", "LOW:HIGH",
                      "every cluster has at least LOW and at most HIGH rows; you may omit either end, and N means N:N",
                      group, request->sizes, request));
    if (takes.pairs)
        flags.push_back(text_flag("--pairs", "FILE",
                                  "file with pairs of rows that must or cannot be in one cluster: each line has two "
                                  "row numbers, counted from 1, and must or cannot, in any format that holds a table",
                                  group, request->pairs, request, Completion::file));
    return flags;
}

void read_constraints(const ConstraintRequest& request, const std::vector<FilePart>& points, Problem& problem,
                      const Run& run) {
    if (!request.sizes.empty()) {
        problem.sizes.emplace();
        if (!parse_interval(request.sizes, problem.sizes->low, problem.sizes->high))
            throw refused_option("sizes", request.sizes, sizes_accepted);
    }
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
        for (const auto& [label, value] : labelled_values("clusters_per_label", text, names, clusters_accepted)) {
            auto& added = problem.clusters_per_label.emplace_back(ClustersOfLabel{label});
            if (!parse(value, added.clusters))
                throw refused_option("clusters_per_label", label + "=" + value, clusters_accepted);
        }
    for (const auto& text : request.label_shares)
        for (const auto& [label, value] : labelled_values("label_share", text, names, shares_accepted)) {
            auto& added = problem.label_shares.emplace_back(LabelShare{label});
            if (!parse_interval(value, added.low, added.high))
                throw refused_option("label_share", label + "=" + value, shares_accepted);
        }
}

}  // namespace coterie::cli
