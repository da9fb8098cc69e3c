#pragma once
// How many clusters. The method is fitted for every k, on the points, on data sets without clusters and on halves of
// the points; seven criteria of the literature judge the fits, each by its own rule, and from what they say one k is
// recommended, with how sure that is.
//
// With x_i the n points (prepared; d columns), C_1..C_k the clusters of a fit, W_k = sum_i || x_i - m_{a_i} ||^2 their
// scatter:
//
//   silhouette           mean silhouette; the k of the largest, from 2 on
//   calinski-harabasz    calinski_harabasz(); the k of the largest, from 2 on
//   davies-bouldin       davies_bouldin(); the k of the least, from 2 on
//   bic                  spherical_mixture_bic(); the k of the least, from 1 on
//   gap                  mean_b ln W*_kb - ln W_k over B reference sets, n points each uniform in the box of the
//   points'
//                        principal axes, fitted in the same way; s_k = sqrt(1 + 1/B) times the standard deviation
//                        (of B) of ln W*_kb; the least k with gap_k >= gap_{k+1} - s_{k+1}, from 1 on
//   stability            for S random halvings, each half in turn: the share of points whose cluster is not that which
//                        the fit of the other half predicts, under the best one-to-one match of clusters; its mean over
//                        that of two labelings drawn at random; the k of the least, from 2 on, the largest such k
//   prediction-strength  prediction_strength() of the same halves, mean; the largest k with at least 0.8, from 1 on,
//                        where it is 1
//
// Sources: Rousseeuw (J. Comput. Appl. Math. 1987); Calinski and Harabasz (Commun. Stat. 1974); Davies and Bouldin
// (IEEE TPAMI 1979); Schwarz (Ann. Stat. 1978); Tibshirani, Walther and Hastie (J. R. Stat. Soc. B 2001); Lange, Roth,
// Braun and Buhmann (Neural Computation 2004); Tibshirani and Walther (J. Comput. Graph. Stat. 2005).

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/preparation.hpp"
#include "coterie/selection/cluster_choice.hpp"

namespace coterie {

struct ChooseOptions {
    /// The k to try, ascending, each once; empty: 1 to the square root of the number of points, at most 30.
    std::vector<int> clusters = {};
    PreparationOptions preparation = {};
    ColumnOptions columns = {};
};

/// Whether the method has an option `clusters` of whole numbers.
COTERIE_API bool takes_clusters(const Method& method);

/// `fixed`: the method's other options. Of more than 2000 points (1000, of a method that does not take them in blocks)
/// so many are drawn by the seed and looked at. The first three criteria are of the model's own space
/// (Output::embedding) where it has one. Fits on references and halves draw from children of the run; a method of a
/// network has none, and no criterion that needs them. The same result at any number of threads. BadArgument: a method
/// without `clusters`, k that are not accepted, a problem with anything beside points (weights, labels, shares, sizes,
/// centroids, a graph; sparse), several processes. BadData as the preparation and check_points. A k that the method
/// refuses goes on record; when it refuses all, the first one's error is thrown. Cancelled when the caller asks to
/// stop.
COTERIE_API ClusterChoice choose_clusters(const Method& method, const Problem& problem, const OptionValues& fixed,
                                          const ChooseOptions& options, const Run& run);

/// The k that a criterion's rule chooses from a curve over `clusters`; none where there is no value.
COTERIE_API std::optional<int> chosen_by(const CriterionCurve& curve, const std::vector<int>& clusters);

/// Fills in what is recommended, and how sure it is, from the curves.
COTERIE_API void recommend(ClusterChoice& choice);

}  // namespace coterie
