// A long list ends with the number of its entries.

#include "coterie/report/result_text.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/base/text.hpp"

namespace coterie::internal {

std::string counted_text(Index count, const std::string& noun) {
    return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string rows_text(const std::vector<Index>& rows) {
    std::string out;
    for (const Index row : rows) out += (out.empty() ? "" : " ") + std::to_string(row + 1);
    return out;
}

std::string outliers_text(const std::vector<OutlierRow>& outliers) {
    std::string out;
    for (const OutlierRow& each : outliers)
        out += filled("{}{} ({})", out.empty() ? "" : ", ", each.row + 1, formatted("%.3g", each.score));
    return out;
}

std::string sizes_text(const std::vector<Index>& sizes, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < std::min(most, sizes.size()); ++i)
        out += (i == 0 ? "" : " ") + std::to_string(sizes[i]);
    if (sizes.size() > most) out += filled(" ... ({} clusters)", sizes.size());
    return out;
}

std::vector<std::pair<std::string, double>> named(const Scores& scores) {
    return {{"ACC", scores.acc},
            {"NMI", scores.nmi},
            {"ARI", scores.ari},
            {"purity", scores.purity},
            {"homogeneity", scores.homogeneity},
            {"completeness", scores.completeness}};
}

std::string scores_text(const Agreement& agreement) {
    auto all = named(agreement.scores);
    if (agreement.label_accuracy) all.emplace_back("label accuracy", *agreement.label_accuracy);
    std::string out;
    for (const auto& [name, score] : all) out += (out.empty() ? "" : ", ") + name + " " + share_text(score);
    return out;
}

std::string truth_text(const Agreement& agreement, const std::string& source) {
    return agreement.given == 0
               ? source
               : source + "; scored on the " + counted_text(agreement.scored, "row") + " that had no label";
}

std::string label_groups_text(const std::vector<LabelGroup>& groups, const std::vector<Index>& sizes) {
    constexpr std::size_t most = 40;
    std::string out;
    Index free_points = std::accumulate(sizes.begin(), sizes.end(), Index{0});
    std::size_t free_clusters = sizes.size();
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& group = groups[i];
        free_points -= group.points;
        free_clusters -= group.clusters.size();
        if (i >= most) continue;
        out += filled("{}{} {}", i == 0 ? "" : ", ", group.name, group.points);
        if (group.clusters.size() != 1) out += filled(" in {} clusters", group.clusters.size());
    }
    if (groups.size() > most) out += filled(" ... ({} labels)", groups.size());
    if (free_clusters > 0)
        out += filled("; {} in {}", free_points, counted(static_cast<Index>(free_clusters), "free cluster"));
    return out;
}

}  // namespace coterie::internal
