// Compares two partitions like labels with a truth: the clusters of the other partition are the classes. The matching
// is the assignment with most rows in common. A row has moved if its two clusters are not matched.

#include "coterie/pipeline/model_comparison.hpp"

#include <algorithm>
#include <map>

#include "coterie/pipeline/left_out.hpp"

namespace coterie {

using internal::at;

ModelComparison compare_partitions(const Labels& labels, const std::vector<std::string>& clusters, const Labels& other,
                                   const std::vector<std::string>& other_clusters) {
    ModelComparison out;
    out.labels = other;
    out.names = other_clusters;
    out.has_moved.assign(labels.size(), false);
    // Uses numbers, because clusters of one label share its name. Noise is one more class and matches only noise.
    const auto with_noise = [](const Labels& from, std::size_t noise) {
        Labels all = from;
        for (auto& label : all) label = label == -1 ? static_cast<std::int32_t>(noise) : std::max(label, -1);
        return all;
    };
    // Whether some row has labels of at least `least` in both partitions.
    const auto some_row_has = [&](std::int32_t least) {
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (std::min(labels[i], other[i]) >= least) return true;
        return false;
    };
    if (!some_row_has(-1))
        throw BadData(Code::missing_value,
                      "no row can be compared: each row has a missing value, and one of the models leaves out such "
                      "rows",
                      "", {.option = "points"});
    const Labels here = with_noise(labels, clusters.size());
    const Labels there = with_noise(other, other_clusters.size());
    out.agreement = compare({here, {}}, "this model", {{there, {}}, "the other model"});
    std::vector<std::int32_t> class_of(clusters.size() + 1, -1);  // class of each cluster; -1: none
    if (some_row_has(0)) {
        const Confusion matching = compare({labels, {}}, "this model", {{other, {}}, "the other model"}).confusion;
        for (std::size_t u = 0; u < matching.clusters.size(); ++u)
            if (!matching.matched[u].empty())
                class_of[std::stoul(matching.clusters[u])] = static_cast<std::int32_t>(std::stol(matching.matched[u]));
    }
    class_of.back() = static_cast<std::int32_t>(other_clusters.size());
    std::vector<std::string> names = clusters, other_names = other_clusters;
    for (auto* const list : {&names, &other_names}) list->emplace_back("noise");
    Confusion& confusion = out.agreement.confusion;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> places;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (here[i] < 0 || there[i] < 0) continue;
        if (class_of[at(here[i])] == there[i]) continue;
        ++out.moved;
        out.has_moved[i] = true;
        const auto [found, added] = places.emplace(std::pair(there[i], here[i]), out.moves.size());
        if (added) out.moves.push_back({other_names[at(there[i])], names[at(here[i])], 0, {}});
        ModelComparison::Move& move = out.moves[found->second];
        ++move.rows;
        if (move.some.size() < 3) move.some.push_back(static_cast<Index>(i));
    }
    std::stable_sort(out.moves.begin(), out.moves.end(),
                     [](const ModelComparison::Move& a, const ModelComparison::Move& b) { return a.rows > b.rows; });
    const auto rename = [](std::vector<std::string>& numbers, const std::vector<std::string>& by) {
        for (auto& number : numbers)
            if (!number.empty()) number = by[std::stoul(number)];
    };
    rename(confusion.classes, other_names);
    rename(confusion.matched, other_names);
    rename(confusion.clusters, names);
    return out;
}

ModelComparison compare_models(const Pipeline& pipeline, const PreparedRows& rows, const Labels& row_labels,
                               const Pipeline& other, const PreparedRows& theirs, const Run& run) {
    const auto names_of = [](const Model& model) {
        std::vector<std::string> out;
        for (int j = 0; j < model.clusters(); ++j)
            out.push_back(model.cluster_labels().empty() ? std::to_string(j) : model.cluster_labels().name_of(j));
        return out;
    };
    Labels labels = other.predict(theirs, run);
    for (const Index row : theirs.left_out) labels[at(row)] = -2;
    Labels own(labels.size(), -2);
    for (std::size_t i = 0; i < row_labels.size(); ++i)
        own[at(internal::number_among_all(static_cast<Index>(i), rows.left_out))] = row_labels[i];
    ModelComparison out = compare_partitions(own, names_of(pipeline.model()), labels, names_of(other.model()));
    for (auto& label : out.labels) label = std::max(label, -1);
    out.method = other.model().method();
    return out;
}

}  // namespace coterie
