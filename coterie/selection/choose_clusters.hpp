#pragma once
// Chooses the number of clusters. The method is fitted for every k: on the points, on data sets without clusters, and
// on halves of the points. Seven criteria from the literature judge the fits, each by its own rule. Their votes give
// one recommended k and its confidence.
//
// With x_i the n points (prepared; d columns), C_1..C_k the clusters of a fit, W_k = sum_i || x_i - m_{a_i} ||^2 their
// scatter:
//
//   silhouette           mean silhouette; the k of the largest, from 2 on
//   calinski-harabasz    calinski_harabasz(); the k of the largest, from 2 on
//   davies-bouldin       davies_bouldin(); the k of the least, from 2 on
//   bic                  spherical_mixture_bic(); the k of the least, from 1 on
//   gap                  mean_b ln W*_kb - ln W_k over B reference sets, fitted in the same way: n points each, uniform
//                        in the box along the points' principal axes; s_k = sqrt(1 + 1/B) times the standard deviation
//                        (of B) of ln W*_kb; the least k with gap_k >= gap_{k+1} - s_{k+1}, from 1 on
//   stability            over S random halvings, each half in turn: the share of points whose cluster differs from the
//                        prediction of the other half's fit, under the best one-to-one matching of clusters; its mean,
//                        divided by that of two random labelings; the k of the least, from 2 on, the largest such k
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
#include "coterie/pipeline/prepared_problem.hpp"
#include "coterie/selection/cluster_choice.hpp"

namespace coterie {

struct ChooseOptions {
    /// The k to try, ascending, each once. Empty: 1 to the square root of the number of points, but at most 30.
    std::vector<int> clusters = {};
};

/// Whether the method has an integer option `clusters`.
COTERIE_API bool takes_clusters(const Method& method);

/// `method`: with values of its other options. Of the settings, only preparation and columns are used. Above 2000
/// points (1000 for a method that does not take points in blocks), a sample of that size is drawn with the seed. The
/// first three criteria use the model's own space (Output::embedding) if it has one. Fits on reference sets and halves
/// draw from children of the run. Neural networks skip these fits and the criteria that need them. The same result at
/// any number of threads.
///
/// Throws BadArgument for a method without `clusters`, for invalid k, for a problem with more than dense points
/// (weights, labels, shares, sizes, centroids, a graph; sparse points), and for several processes. Throws BadData like
/// the preparation and check_points. If the method does not accept a k, its error is recorded; if it accepts none,
/// throws the first error. Throws Cancelled if the caller asks to stop.
COTERIE_API ClusterChoice choose_clusters(const Problem& problem, const MethodOptions& method,
                                          const ChooseOptions& options = {}, const Settings& settings = {},
                                          const Run& run = Run());
/// The same for a problem that is prepared already.
COTERIE_API ClusterChoice choose_clusters(const PreparedProblem& problem, const MethodOptions& method,
                                          const ChooseOptions& options = {}, const Run& run = Run());

}  // namespace coterie
