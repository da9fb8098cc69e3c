#include "common.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <unordered_map>

#include "coterie/base/parallel.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/io/internal/output_file.hpp"
#include "coterie/methods.hpp"
#include "table.hpp"

namespace coterie::cli {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

std::string extension_of(const std::string& path) { return lower(std::filesystem::path(path).extension().string()); }

bool is_data_name(const std::string& path) { return path.rfind("data:", 0) == 0; }

bool same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    if (std::filesystem::equivalent(a, b, error)) return true;
    // Made absolute first: a path of which nothing exists yet would stay relative.
    const auto whole = [&](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
    };
    return whole(a) == whole(b);
}

std::optional<double> label_accuracy(const Labels& labels, const std::vector<std::string>& names, const Labels& classes,
                                     const std::vector<std::string>& class_names) {
    std::unordered_map<std::string_view, std::int32_t> class_of_name;
    for (std::size_t v = 0; v < class_names.size(); ++v)
        class_of_name.emplace(class_names[v], static_cast<std::int32_t>(v));
    std::vector<std::int32_t> class_of_label;
    for (const auto& name : names) {
        const auto found = class_of_name.find(name);
        class_of_label.push_back(found == class_of_name.end() ? -1 : found->second);
    }
    if (std::all_of(class_of_label.begin(), class_of_label.end(), [](auto value) { return value < 0; })) return {};
    std::size_t agreeing = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto label = static_cast<std::size_t>(labels[i]);
        agreeing += labels[i] >= 0 && label < class_of_label.size() && class_of_label[label] == classes[i];
    }
    return static_cast<double>(agreeing) / static_cast<double>(labels.size());
}

}  // namespace

const char* const points_meaning =
    "the points, one a row: a file (format by its extension: csv, tsv, txt, npy, npz, idx, svm, h5, mat, safetensors; "
    "text, idx and svm "
    "may be gzipped; file.npz:KEY, file.h5:/DATASET and file.mat:NAME name an array inside), data:NAME from the "
    "catalogue, or - "
    "for text on standard input";

const char* const labels_out_meaning =
    "write the labels: csv, txt or tsv under the header label, npy as int32, - to standard output; after a fit with "
    "partial labels by name in text, and in npy by the label's number, free clusters after the labels";

const OptionSet& ReadRequest::described() {
    static const OptionSet set =
        OptionSetFor<ReadRequest>()
            .text("label_column", &ReadRequest::label_column,
                  "text files: the column that holds the truth, by name or number from 1 (-1: the last); it is no "
                  "coordinate")
            .text("columns", &ReadRequest::columns,
                  "text files: the columns to take as coordinates, names, numbers and ranges such as 1-4,7")
            .choice("header", &ReadRequest::header, {"auto", "yes", "no"}, "text files: is the first line a header")
            .choice("precision", &ReadRequest::precision, {"auto", "float32", "float64"},
                    "the type to compute in; auto: that of the file");
    return set;
}

ReadOptions ReadRequest::options() const {
    ReadOptions out;
    out.precision = precision;
    out.header = header;
    out.label_column = label_column;
    std::size_t begin = 0;
    while (begin < columns.size()) {
        const std::size_t end = std::min(columns.find(',', begin), columns.size());
        if (end == begin) throw BadArgument("option --columns: '" + columns + "' has an empty entry");
        out.columns.push_back(columns.substr(begin, end - begin));
        begin = end + 1;
    }
    if (!columns.empty() && columns.back() == ',')
        throw BadArgument("option --columns: '" + columns + "' has an empty entry");
    return out;
}

std::vector<Flag> read_flags(std::shared_ptr<ReadRequest> request) {
    auto flags = flags_of(ReadRequest::described(), "Reading", std::static_pointer_cast<void>(request));
    flag_named(flags, "--label-column").value = "COLUMN";
    flag_named(flags, "--columns").value = "LIST";
    return flags;
}

const OptionSet& RunRequest::described() {
    static const OptionSet set =
        OptionSetFor<RunRequest>()
            .integer("seed", &RunRequest::seed, between(0, 9007199254740992.0),
                     "random numbers start here; the same seed gives the same result")
            .integer("threads", &RunRequest::threads, between(1, 1024),
                     "threads to use; the result does not depend on it")
            .flag("quiet", &RunRequest::quiet, "no progress bar and no warnings on standard error")
            .flag("json", &RunRequest::json, "print one JSON document instead of a table");
    return set;
}

Run RunRequest::run() const { return Run(static_cast<std::uint64_t>(seed), threads); }

std::vector<Flag> run_flags(std::shared_ptr<RunRequest> request, const std::vector<std::string>& names) {
    auto flags = flags_of(RunRequest::described(), "Running", std::static_pointer_cast<void>(request));
    flag_named(flags, "--threads").standard = "all there are";
    std::erase_if(flags,
                  [&](const Flag& flag) { return std::find(names.begin(), names.end(), flag.name) == names.end(); });
    return flags;
}

Flag text_flag(std::string name, std::string value, std::string meaning, std::string group, std::string& target,
               std::shared_ptr<void> owner, Completion completion) {
    Flag flag;
    flag.name = std::move(name);
    flag.value = std::move(value);
    flag.meaning = std::move(meaning);
    flag.group = std::move(group);
    flag.completion = completion;
    flag.take = [&target, owner = std::move(owner)](const std::string& text) { target = text; };
    return flag;
}

PointsFile points_from(const std::string& path, const ReadOptions& options, const Run& run) {
    if (is_data_name(path)) {
        const std::string name = path.substr(5);
        std::vector<std::string> names;
        for (const auto& entry : catalogue()) names.push_back(entry.name);
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            const std::string close = nearest(name, names);
            throw UsageError("there is no data set '" + name + "'; there are " + join(names),
                             close.empty() ? "coterie data list says more" : "did you mean data:" + close + "?");
        }
    }
    return read_points(path, options, run);
}

SavedModel read_model(const std::string& path) {
    const Archive archive = Archive::load(path);
    try {
        return {load_model(archive), Preprocessing::from(archive)};
    } catch (const BadData& error) {  // its message may not know the file
        const std::string text = error.message();
        throw BadData(text.find(path) == std::string::npos ? path + ": " + text : text);
    }
}

std::string zero_rows_warning(Index zero_rows) {
    return count_text(zero_rows) + (zero_rows == 1 ? " row is" : " rows are") +
           " 0 throughout and cannot be scaled to norm 1; left as " + (zero_rows == 1 ? "it is" : "they are");
}

Truth read_truth(const std::string& path, const std::string& column, const Run& run) {
    Truth truth;
    truth.source = path;
    if (is_data_name(path)) {
        auto file = points_from(path, {}, run);
        if (!file.labels) throw BadData(path + " comes without a truth");
        truth.column = std::move(*file.labels);
        return truth;
    }
    truth.column = read_labels(path, column, true);
    return truth;
}

void require_rows(const Labels& labels, const std::string& what, Index rows, const std::string& source) {
    if (static_cast<Index>(labels.size()) != rows)
        throw BadData(what + " has " + std::to_string(labels.size()) + " rows, " + source + " has " +
                      std::to_string(rows));
}

Agreement compare(const LabelColumn& labels, const std::string& labels_source, const Truth& truth,
                  LabelSpan partial_labels) {
    const Labels& classes = truth.column.labels;
    require_rows(classes, "truth " + truth.source, static_cast<Index>(labels.labels.size()), labels_source);
    Agreement out;
    Labels known_labels;
    Labels known_classes;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        if (!partial_labels.empty() && partial_labels[i] >= 0) {
            ++out.given;
        } else if (classes[i] < 0) {
            ++out.unknown;
        } else {
            known_labels.push_back(labels.labels[i]);
            known_classes.push_back(classes[i]);
        }
    }
    if (known_labels.empty())
        throw BadData("truth " + truth.source + " is blank in every row" +
                      (out.given > 0 ? " without a partial label" : ""));
    out.scored = static_cast<Index>(known_labels.size());
    out.scores = score(known_labels, known_classes);
    out.label_accuracy = label_accuracy(known_labels, labels.names, known_classes, truth.column.names);

    const auto table = contingency_table(known_labels, known_classes);
    const auto matching = align(known_labels, known_classes);
    const auto name_in = [](const std::vector<std::string>& names, std::int32_t label) {
        const auto position = static_cast<std::size_t>(label);
        return label >= 0 && position < names.size() ? names[position] : std::to_string(label);
    };
    std::vector<std::size_t> order;
    for (const auto value : table.classes) {
        out.confusion.classes.push_back(name_in(truth.column.names, value));
        for (std::size_t u = 0; u < table.clusters.size(); ++u)
            if (matching.matched[u] && matching.matched_class[u] == value) order.push_back(u);
    }
    for (std::size_t u = 0; u < table.clusters.size(); ++u)
        if (!matching.matched[u]) order.push_back(u);
    for (const std::size_t u : order) {
        out.confusion.clusters.push_back(name_in(labels.names, table.clusters[u]));
        out.confusion.matched.push_back(matching.matched[u] ? name_in(truth.column.names, matching.matched_class[u])
                                                            : "");
    }
    for (std::size_t v = 0; v < table.classes.size(); ++v) {
        std::vector<std::int64_t> row;
        for (const std::size_t u : order) row.push_back(table.counts(static_cast<Index>(u), static_cast<Index>(v)));
        out.confusion.counts.push_back(std::move(row));
    }
    return out;
}

void Outputs::add(const std::string& flag, const std::string& path, const std::vector<std::string>& extensions) {
    if (!path.empty()) outputs_.push_back({flag, path, extensions});
}

void Outputs::keep(const std::string& path) {
    if (path.empty() || path == "-" || is_data_name(path)) return;
    inputs_.push_back(path);
    // "file.npz:key" is the file before the colon, unless a file has that very name.
    std::error_code error;
    const auto colon = path.rfind(':');
    if (colon != std::string::npos && !std::filesystem::exists(path, error)) inputs_.push_back(path.substr(0, colon));
}

bool Outputs::uses_standard_output() const {
    return std::any_of(outputs_.begin(), outputs_.end(), [](const Output& output) { return output.path == "-"; });
}

void Outputs::check(bool json) const {
    const Output* standard = nullptr;
    for (const auto& output : outputs_) {
        if (output.path == "-") {
            if (json)
                throw UsageError("option " + output.flag + " - and --json both write to standard output",
                                 "name a file for one");
            if (standard)
                throw UsageError("options " + standard->flag + " and " + output.flag + " both write to standard output",
                                 "name a file for one");
            standard = &output;
            continue;
        }
        if (!output.extensions.empty()) {
            const auto extension = extension_of(output.path);
            if (std::find(output.extensions.begin(), output.extensions.end(), extension) == output.extensions.end()) {
                std::vector<std::string> accepted;
                for (const auto& each : output.extensions) accepted.push_back(each.empty() ? "no extension" : each);
                throw UsageError("option " + output.flag + ": cannot write " + output.path +
                                     ": the extension must be one of " + join(accepted),
                                 "the format follows the extension");
            }
        }
        for (const auto& input : inputs_)
            if (same_file(input, output.path))
                throw UsageError(
                    "option " + output.flag + ": " + output.path + " is read as well, and would be written over",
                    "name another file");
        for (const auto& other : outputs_)
            if (&other != &output && other.path != "-" && same_file(other.path, output.path))
                throw UsageError("options " + other.flag + " and " + output.flag + " name the same file " + output.path,
                                 "name two files");
    }
    for (const auto& output : outputs_) {
        if (output.path == "-") continue;
        std::error_code error;
        const auto folder = std::filesystem::path(output.path).parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder, error))
            throw ResourceError("option " + output.flag + ": " + output.path +
                                " cannot be written: there is no folder " + folder.string());
        try {
            const OutputFile attempt(output.path);
        } catch (const ResourceError& refused) {
            throw ResourceError("option " + output.flag + ": " + refused.message());
        }
    }
}

const std::vector<std::string>& label_extensions() {
    static const std::vector<std::string> extensions = {".csv", ".txt", ".tsv", ".npy", ""};
    return extensions;
}

std::string no_name_in_common(const std::string& truth_source) {
    return "truth " + truth_source + " names none of the labels; label accuracy is left out";
}

LabelColumn merged_by_label(const Labels& clusters, const ClusterLabels& of_clusters) {
    if (of_clusters.empty()) return {clusters, {}};
    LabelColumn out{clusters, of_clusters.names};
    const auto number_of = of_clusters.numbers();
    for (std::size_t j = 0; j < number_of.size(); ++j)
        if (of_clusters.label_of[j] < 0) out.names.push_back(of_clusters.name_of(static_cast<int>(j)));
    for (auto& label : out.labels) label = number_of.at(static_cast<std::size_t>(label));
    return out;
}

std::vector<LabelGroup> label_groups(const ClusterLabels& of_clusters, const std::vector<Index>& sizes,
                                     LabelSpan partial_labels) {
    std::vector<LabelGroup> groups;
    for (const auto& name : of_clusters.names) groups.push_back({.name = name, .clusters = {}});
    for (std::size_t j = 0; j < of_clusters.label_of.size(); ++j) {
        if (of_clusters.label_of[j] < 0) continue;
        auto& group = groups[static_cast<std::size_t>(of_clusters.label_of[j])];
        group.clusters.push_back(static_cast<int>(j));
        if (!sizes.empty()) group.points += sizes[j];
    }
    for (const auto label : partial_labels)
        if (label >= 0) ++groups.at(static_cast<std::size_t>(label)).labelled;
    const auto all = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), Index{0}));
    for (auto& group : groups)
        if (all > 0) group.share = static_cast<double>(group.points) / all;
    return groups;
}

std::vector<Index> cluster_sizes(const Labels& labels, int clusters) {
    std::vector<Index> sizes(static_cast<std::size_t>(clusters), 0);
    for (const auto label : labels)
        if (label >= 0 && label < clusters) ++sizes[static_cast<std::size_t>(label)];
    return sizes;
}

std::vector<std::size_t> positions_of(const std::string& option, const std::string& text,
                                      const std::vector<std::string>& known) {
    std::vector<std::size_t> out;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string name = text.substr(begin, end - begin);
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
            throw BadArgument("option " + option + ": '" + name + "' is not accepted; there are " + join(known));
        out.push_back(static_cast<std::size_t>(found - known.begin()));
        begin = end + 1;
    }
    return out;
}

std::string join(const std::vector<std::string>& words, const std::string& between) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : between) + word;
    return out;
}

}  // namespace coterie::cli
