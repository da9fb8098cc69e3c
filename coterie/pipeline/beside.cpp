// The clusters of the other partition are the classes of a comparison with a truth, whose matching is the one wanted:
// the assignment of most rows in common. A row has moved where its two clusters are not matched.

#include "coterie/pipeline/beside.hpp"

#include <algorithm>
#include <map>

#include "coterie/pipeline/internal/left_out.hpp"

namespace coterie {

Beside compare_partitions(const Labels& labels, const std::vector<std::string>& clusters, const Labels& other,
                          const std::vector<std::string>& other_clusters) {
    Beside out;
    out.labels = other;
    out.names = other_clusters;
    out.has_moved.assign(labels.size(), false);
    // By number, since clusters of one label share its name.
    out.agreement = compare({labels, {}}, "this model", {{other, {}}, "the other model"});
    Confusion& confusion = out.agreement.confusion;
    std::vector<std::int32_t> class_of(clusters.size(), -1);  // of a cluster; -1: none
    for (std::size_t u = 0; u < confusion.clusters.size(); ++u)
        if (!confusion.matched[u].empty())
            class_of[std::stoul(confusion.clusters[u])] = static_cast<std::int32_t>(std::stol(confusion.matched[u]));
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> places;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] < 0 || other[i] < 0) continue;
        if (class_of[static_cast<std::size_t>(labels[i])] == other[i]) continue;
        ++out.moved;
        out.has_moved[i] = true;
        const auto [found, added] = places.emplace(std::pair(other[i], labels[i]), out.moves.size());
        if (added)
            out.moves.push_back({other_clusters[static_cast<std::size_t>(other[i])],
                                 clusters[static_cast<std::size_t>(labels[i])],
                                 0,
                                 {}});
        Beside::Move& move = out.moves[found->second];
        ++move.rows;
        if (move.some.size() < 3) move.some.push_back(static_cast<Index>(i));
    }
    std::stable_sort(out.moves.begin(), out.moves.end(),
                     [](const Beside::Move& a, const Beside::Move& b) { return a.rows > b.rows; });
    const auto rename = [](std::vector<std::string>& numbers, const std::vector<std::string>& names) {
        for (auto& number : numbers)
            if (!number.empty()) number = names[std::stoul(number)];
    };
    rename(confusion.classes, other_clusters);
    rename(confusion.matched, other_clusters);
    rename(confusion.clusters, clusters);
    return out;
}

Beside compare_models(const Pipeline& pipeline, const PreparedRows& rows, const Labels& row_labels,
                      const Pipeline& other, const PreparedRows& theirs, const Run& run) {
    const auto names_of = [](const Model& model) {
        std::vector<std::string> out;
        for (int j = 0; j < model.clusters(); ++j)
            out.push_back(model.cluster_labels().empty() ? std::to_string(j) : model.cluster_labels().name_of(j));
        return out;
    };
    const Labels labels = other.predict(theirs, run);
    Labels own(labels.size(), -1);
    for (std::size_t i = 0; i < row_labels.size(); ++i)
        own[static_cast<std::size_t>(internal::number_among_all(static_cast<Index>(i), rows.left_out))] = row_labels[i];
    Beside out = compare_partitions(own, names_of(pipeline.model()), labels, names_of(other.model()));
    out.method = other.model().method();
    return out;
}

}  // namespace coterie
