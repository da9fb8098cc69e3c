// Scores compare labels with a truth. Rows without a truth, and rows whose label was given to the fit, are left out, so
// scores count only what the fit found. Clusters of one label count as one, so several clusters per label do not lower
// a score.

#include "coterie/pipeline/evaluation.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "coterie/base/text.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

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
    if (std::ranges::all_of(class_of_label, [](auto value) { return value < 0; })) return {};
    std::size_t agreeing = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto label = static_cast<std::size_t>(labels[i]);
        agreeing += labels[i] >= 0 && label < class_of_label.size() && class_of_label[label] == classes[i];
    }
    return static_cast<double>(agreeing) / static_cast<double>(labels.size());
}

}  // namespace

void require_rows(const Labels& labels, const std::string& what, Index rows, const std::string& source) {
    if (static_cast<Index>(labels.size()) != rows)
        throw BadData(Code::wrong_shape,
                      filled("{} has {}, but {} has {}", what, counted(labels.size(), "row"), source, rows),
                      "Give one label per row");
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
        } else if (classes[i] < 0 || labels.labels[i] < 0) {
            ++out.unknown;
        } else {
            known_labels.push_back(labels.labels[i]);
            known_classes.push_back(classes[i]);
        }
    }
    if (known_labels.empty())
        throw BadData(Code::empty, "truth " + truth.source + " is blank in every row" +
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

Message no_name_in_common(const std::string& truth_source) {
    return {.code = Code::note,
            .problem = "truth " + truth_source + " and the labels share no name, so label accuracy is left out",
            .remedy = "Use the same names in both"};
}

LabelColumn merged_by_label(const Labels& clusters, const ClusterLabels& of_clusters) {
    if (of_clusters.empty()) return {clusters, {}};
    LabelColumn out{clusters, of_clusters.names};
    const auto number_of = of_clusters.numbers();
    for (std::size_t j = 0; j < number_of.size(); ++j)
        if (of_clusters.label_of[j] < 0) out.names.push_back(of_clusters.name_of(static_cast<int>(j)));
    for (auto& label : out.labels)
        if (label >= 0) label = number_of.at(at(label));
    return out;
}

std::vector<LabelGroup> label_groups(const ClusterLabels& of_clusters, const std::vector<Index>& sizes,
                                     LabelSpan partial_labels) {
    std::vector<LabelGroup> groups;
    for (const auto& name : of_clusters.names) groups.push_back({.name = name, .clusters = {}});
    for (std::size_t j = 0; j < of_clusters.label_of.size(); ++j) {
        if (of_clusters.label_of[j] < 0) continue;
        auto& group = groups[at(of_clusters.label_of[j])];
        group.clusters.push_back(static_cast<int>(j));
        if (!sizes.empty()) group.points += sizes[j];
    }
    for (const auto label : partial_labels)
        if (label >= 0) ++groups.at(at(label)).labelled;
    const auto all = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), Index{0}));
    for (auto& group : groups)
        if (all > 0) group.share = static_cast<double>(group.points) / all;
    return groups;
}

std::vector<Index> cluster_sizes(const Labels& labels, int clusters) {
    std::vector<Index> sizes(at(clusters), 0);
    for (const auto label : labels)
        if (label >= 0 && label < clusters) ++sizes[at(label)];
    return sizes;
}

}  // namespace coterie
