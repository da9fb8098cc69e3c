#pragma once
// How many clusters: what each criterion says of k = 1, 2, ..., and what is recommended. Made by choose_clusters
// (selection/choose_clusters.hpp), told beside a fit and by itself.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

/// What numbers of clusters are judged by: choose_clusters.hpp says how each is computed.
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
/// Which k it chooses: "the largest", "the least k whose value is at least the next one's less its spread", ...
COTERIE_API std::string_view rule(ClusterCriterion criterion);

/// What one criterion says.
struct CriterionCurve {
    ClusterCriterion criterion = ClusterCriterion::silhouette;
    /// As many as there are k; NaN where there is none: of one cluster four criteria know nothing, of a k that the
    /// method refused none does.
    std::vector<double> values;
    /// gap: s_k; stability and prediction strength: the standard error of the mean. Empty for the others.
    std::vector<double> spreads = {};
    std::optional<int> chosen = {};  // none where it has no value at all
    std::string left_out = {};       // why there are no values
};

/// How sure a recommendation is, by how often it was right in a simulation (docs/choosing-k.md).
enum class Sureness { sure, likely, unsure };
COTERIE_API std::string_view name(Sureness sureness);

struct ClusterChoice {
    std::vector<int> clusters;           // the k that were tried, ascending
    std::vector<std::string> errors;     // of each k: why it has no fit; else empty
    std::vector<CriterionCurve> curves;  // one per criterion
    int recommended = 1;
    Sureness sureness = Sureness::unsure;
    Index points = 0;            // n
    Index sample = 0;            // rows that were looked at where they are not all; else 0
    Index fits = 0;              // how many there were
    int references = 0;          // data sets without clusters that gap compares with
    int halvings = 0;            // of the points, of stability and prediction strength
    std::string why_these = {};  // how the k came to be tried, where the library chose
    double seconds = 0;
};

/// Who is for which k: "3: silhouette, gap; 2: bic", the recommended k first, then by the number of criteria.
COTERIE_API std::string votes_text(const ClusterChoice& choice);

}  // namespace coterie
