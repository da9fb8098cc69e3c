// The words about a choice of k, for text, document and Python alike. Who votes for what comes first: a number is worth
// little where the criteria disagree.

#include "coterie/pipeline/cluster_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "coterie/pipeline/json.hpp"
#include "coterie/pipeline/text.hpp"

namespace coterie {
namespace {

constexpr std::array<std::string_view, cluster_criterion_count> criterion_names = {
    "silhouette", "calinski-harabasz", "davies-bouldin", "gap", "bic", "stability", "prediction-strength"};
constexpr std::array<std::string_view, cluster_criterion_count> rules = {
    "the largest",
    "the largest",
    "the least",
    "the least k whose value is at least the next one's less its spread",
    "the least",
    "the least; of equals the largest k",
    "the largest k with at least 0.8"};
constexpr std::array<std::string_view, 3> sureness_names = {"sure", "likely", "unsure"};

std::string counted_clusters(int k) { return std::to_string(k) + (k == 1 ? " cluster" : " clusters"); }

}  // namespace

std::string_view name(ClusterCriterion criterion) { return criterion_names.at(static_cast<std::size_t>(criterion)); }
std::string_view rule(ClusterCriterion criterion) { return rules.at(static_cast<std::size_t>(criterion)); }
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

std::string json_document(const ClusterChoice& choice) { return internal::document(internal::json_of(choice)); }

std::string text_document(const ClusterChoice& choice) {
    using namespace internal;
    std::vector<std::string> header = {"", "k"};
    std::vector<std::size_t> right = {1};
    for (const auto& curve : choice.curves) {
        if (!curve.left_out.empty()) continue;
        right.push_back(header.size());
        header.emplace_back(name(curve.criterion));
    }
    std::vector<std::vector<std::string>> rows;
    for (std::size_t at = 0; at < choice.clusters.size(); ++at) {
        const int k = choice.clusters[at];
        rows.push_back({k == choice.recommended ? "*" : "", std::to_string(k)});
        for (const auto& curve : choice.curves) {
            if (!curve.left_out.empty()) continue;
            const double value = curve.values[at];
            rows.back().push_back(std::isfinite(value) ? formatted("%.4g", value) + (curve.chosen == k ? " <" : "  ")
                                                       : "-");
        }
    }
    std::vector<std::pair<std::string, std::string>> said = {
        {"recommended", counted_clusters(choice.recommended) + " (" + std::string(name(choice.sureness)) + ")"},
        {"chosen (<)", votes_text(choice)}};
    for (const auto& curve : choice.curves)
        if (!curve.left_out.empty()) said.emplace_back(name(curve.criterion), "left out: " + curve.left_out);
    std::string tried = choice.why_these.empty() ? "as asked" : choice.why_these;
    tried += "; " + count_text(choice.fits) + " fits in " + seconds_text(choice.seconds) + " seconds";
    if (choice.sample > 0)
        tried +=
            ", of " + count_text(choice.sample) + " of " + count_text(choice.points) + " points, drawn by the seed";
    said.emplace_back("k tried", tried);
    for (std::size_t at = 0; at < choice.clusters.size(); ++at)
        if (!choice.errors[at].empty()) {
            said.emplace_back("not fitted", "k = " + std::to_string(choice.clusters[at]) + ": " + choice.errors[at]);
            break;
        }
    return table(header, rows, right) + facts(said);
}

}  // namespace coterie
