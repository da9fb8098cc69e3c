// The rules of the criteria, the recommendation that combines them, and texts about both.

#include "coterie/selection/cluster_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

std::optional<int> CriterionCurve::choose(const std::vector<int>& clusters) const {
    const auto extreme = [&](double sign, bool last) {
        std::optional<int> out;
        double best = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (std::isnan(values[i])) continue;
            const double value = sign * values[i];
            if (!out || value > best || (last && value == best)) {
                out = clusters[i];
                best = value;
            }
        }
        return out;
    };
    switch (criterion) {
        case ClusterCriterion::silhouette:
        case ClusterCriterion::calinski_harabasz: return extreme(1, false);
        case ClusterCriterion::davies_bouldin:
        case ClusterCriterion::bic: return extreme(-1, false);
        case ClusterCriterion::stability: return extreme(-1, true);
        case ClusterCriterion::gap: {
            std::optional<std::size_t> before;
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (std::isnan(values[i])) continue;
                if (before && values[*before] >= values[i] - spreads[i]) return clusters[*before];
                before = i;
            }
            return before ? std::optional(clusters[*before]) : std::nullopt;
        }
        case ClusterCriterion::prediction_strength: {
            std::optional<int> out;
            for (std::size_t i = 0; i < values.size(); ++i)
                if (values[i] >= 0.8) out = clusters[i];
            return out;
        }
    }
    throw InternalError("unknown criterion");
}

// Only gap and prediction strength can vote for one cluster. If both
// do, k = 1 is recommended: four of the other criteria are not defined for one cluster, and BIC takes every departure
// from a spherical Gaussian for a cluster. Otherwise every criterion has one vote. A tie goes to the k of prediction
// strength, the best single criterion of the simulation, otherwise to the least k. The rule and the levels of
// confidence were developed on other data sets than those in docs/results/choosing-k.md.
void ClusterChoice::recommend() {
    const auto says = [&](ClusterCriterion criterion) -> std::optional<int> {
        const auto curve = std::ranges::find(curves, criterion, &CriterionCurve::criterion);
        return curve == curves.end() ? std::nullopt : curve->chosen;
    };
    std::map<int, int> votes;
    int voters = 0;
    for (const auto& curve : curves) {
        if (!curve.chosen) continue;
        ++votes[*curve.chosen];
        ++voters;
    }
    const auto strength = says(ClusterCriterion::prediction_strength);
    if (voters == 0) {  // for example k = 1 with a scatter of 0
        recommended = clusters.front();
        sureness = Sureness::unsure;
        return;
    }
    const bool one = strength == 1 && says(ClusterCriterion::gap) == 1;
    int most = 0;
    for (const auto& [k, count] : votes)
        if (count > most) {
            most = count;
            recommended = k;
        }
    if (one)
        recommended = 1;
    else if (strength && votes.at(*strength) == most)
        recommended = *strength;
    const int behind = votes.at(recommended);
    if (voters < cluster_criterion_count)
        sureness = behind == voters && voters > 1 ? Sureness::likely : Sureness::unsure;
    else if (one)
        sureness = behind >= 3 ? Sureness::sure : Sureness::likely;
    else
        sureness = behind >= 6 ? Sureness::sure : behind == 5 ? Sureness::likely : Sureness::unsure;
}

}  // namespace coterie
