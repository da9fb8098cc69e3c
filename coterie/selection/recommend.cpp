// Combines seven criteria into one recommendation. Only gap and prediction strength can vote for one cluster. If both
// do, k = 1 is recommended: four of the other criteria are not defined for one cluster, and BIC takes every departure
// from a spherical Gaussian for a cluster. Otherwise every criterion has one vote. A tie goes to the k of prediction
// strength, the best single criterion of the simulation, otherwise to the least k. The rule and the levels of
// confidence were developed on other data sets than those in docs/results/choosing-k.md.

#include <map>

#include "coterie/selection/choose_clusters.hpp"

namespace coterie {

void recommend(ClusterChoice& choice) {
    const auto says = [&](ClusterCriterion criterion) -> std::optional<int> {
        for (const auto& curve : choice.curves)
            if (curve.criterion == criterion) return curve.chosen;
        return {};
    };
    std::map<int, int> votes;
    int voters = 0;
    for (const auto& curve : choice.curves) {
        if (!curve.chosen) continue;
        ++votes[*curve.chosen];
        ++voters;
    }
    const auto strength = says(ClusterCriterion::prediction_strength);
    if (voters == 0) {  // for example k = 1 with a scatter of 0
        choice.recommended = choice.clusters.front();
        choice.sureness = Sureness::unsure;
        return;
    }
    const bool one = strength == 1 && says(ClusterCriterion::gap) == 1;
    int most = 0;
    for (const auto& [k, count] : votes)
        if (count > most) {
            most = count;
            choice.recommended = k;
        }
    if (one)
        choice.recommended = 1;
    else if (strength && votes.at(*strength) == most)
        choice.recommended = *strength;
    const int behind = votes.at(choice.recommended);
    if (voters < cluster_criterion_count)
        choice.sureness = behind == voters && voters > 1 ? Sureness::likely : Sureness::unsure;
    else if (one)
        choice.sureness = behind >= 3 ? Sureness::sure : Sureness::likely;
    else
        choice.sureness = behind >= 6 ? Sureness::sure : behind == 5 ? Sureness::likely : Sureness::unsure;
}

}  // namespace coterie
