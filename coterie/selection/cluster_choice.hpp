#pragma once
// The choice of the number of clusters: what each criterion reports for k = 1, 2, ..., and which k is recommended.
// Computed by choose_clusters (selection/choose_clusters.hpp), shown with a fit or alone.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

/// The criteria for numbers of clusters. choose_clusters.hpp defines each.
enum class ClusterCriterion {
    silhouette,          // Rousseeuw 1987
    calinski_harabasz,   // Calinski and Harabasz 1974
    davies_bouldin,      // Davies and Bouldin 1979
    gap,                 // Tibshirani, Walther and Hastie 2001
    bic,                 // Schwarz 1978, of a mixture of spherical Gaussians
    stability,           // Lange, Roth, Braun and Buhmann 2004
    prediction_strength  // Tibshirani and Walther 2005
};
inline constexpr int cluster_criterion_count = 7;
/// "calinski-harabasz".
COTERIE_API std::string_view name(ClusterCriterion criterion);
/// The rule by which it chooses k: "the largest", "the largest k with at least 0.8", ...
COTERIE_API std::string_view rule(ClusterCriterion criterion);

/// The result of one criterion.
struct CriterionCurve {
    ClusterCriterion criterion = ClusterCriterion::silhouette;
    /// One value per k. NaN if there is none: four criteria are not defined for one cluster, and no criterion for a k
    /// that the method did not accept.
    std::vector<double> values;
    /// gap: s_k. stability and prediction strength: the standard error of the mean. Empty for the others.
    std::vector<double> spreads = {};
    std::optional<int> chosen = {};  // none if the criterion has no value
    std::string left_out = {};       // why there are no values

    /// The k that the criterion's rule chooses from values for `clusters`; none if it has no value.
    COTERIE_API std::optional<int> choose(const std::vector<int>& clusters) const;
};

/// Confidence in a recommendation, from how often it was right in a simulation (docs/choosing-k.md).
enum class Sureness { sure, likely, unsure };
COTERIE_API std::string_view name(Sureness sureness);

struct ClusterChoice {
    std::vector<int> clusters;           // the tried k, ascending
    std::vector<std::string> errors;     // per k: why it has no fit, or empty
    std::vector<CriterionCurve> curves;  // one per criterion
    int recommended = 1;
    Sureness sureness = Sureness::unsure;
    Index points = 0;            // n
    Index sample = 0;            // number of sampled rows; 0: all rows
    Index fits = 0;              // number of fits
    int references = 0;          // data sets without clusters that gap compares with
    int halvings = 0;            // halvings of the points for stability and prediction strength
    std::string why_these = {};  // how the library chose the k to try; empty: the caller chose them
    double seconds = 0;

    /// Sets the recommended k and its confidence from the curves.
    COTERIE_API void recommend();
};

/// The votes: "3: silhouette, gap; 2: bic". The recommended k comes first, then the others by their number of votes.
COTERIE_API std::string votes_text(const ClusterChoice& choice);

}  // namespace coterie
