// Texts about a choice of k, the same for text, document and Python. The votes come first, because a recommended number
// means little if the criteria disagree.

#include "coterie/selection/cluster_choice.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "coterie/base/text_format.hpp"

namespace coterie {
namespace {

constexpr std::array<std::string_view, cluster_criterion_count> names_of_criteria = {
    "silhouette", "calinski-harabasz", "davies-bouldin", "gap", "bic", "stability", "prediction-strength"};
constexpr std::array<std::string_view, cluster_criterion_count> rules_of_criteria = {
    "the largest",
    "the largest",
    "the least",
    "the least k whose value is at least the next one's less its spread",
    "the least",
    "the least; of equals the largest k",
    "the largest k with at least 0.8"};
constexpr std::array<std::string_view, 3> sureness_names = {"sure", "likely", "unsure"};

}  // namespace

std::string_view name(ClusterCriterion criterion) { return names_of_criteria.at(static_cast<std::size_t>(criterion)); }
std::string_view rule(ClusterCriterion criterion) { return rules_of_criteria.at(static_cast<std::size_t>(criterion)); }
std::string_view name(Sureness sureness) { return sureness_names.at(static_cast<std::size_t>(sureness)); }

std::string votes_text(const ClusterChoice& choice) {
    std::map<int, std::vector<std::string>> votes;
    for (const auto& curve : choice.curves)
        if (curve.chosen) votes[*curve.chosen].emplace_back(name(curve.criterion));
    std::vector<std::pair<int, std::vector<std::string>>> order(votes.begin(), votes.end());
    std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
        const bool first = a.first == choice.recommended, second = b.first == choice.recommended;
        return first != second ? first : a.second.size() > b.second.size();
    });
    std::string out;
    for (const auto& [k, who] : order)
        out += (out.empty() ? "" : "; ") + std::to_string(k) + ": " + internal::join(who);
    return out;
}

}  // namespace coterie
