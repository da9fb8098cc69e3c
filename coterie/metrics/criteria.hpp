#pragma once
// Criteria for how well a partition fits its points, used to choose the number of clusters. Labels are any 32-bit
// numbers, one for each point of this process. Points need not be resident. Sums are over all processes, with the same
// bits for any number of processes and threads. Throws BadArgument if the numbers of labels and points differ, or are
// 0. Notation: W = sum_i || x_i - m_{a_i} ||^2 with the clusters' means m, k clusters, n x d points.

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {

/// W. At least 0; less is better.
COTERIE_API double within_scatter(PointsView points, LabelSpan labels, const Run& run);

/// Calinski and Harabasz (A dendrite method for cluster analysis, Communications in Statistics 1974): (scatter between
/// clusters / (k - 1)) / (W / (n - k)). At least 0; more is better. Infinite if the points of each cluster are equal,
/// NaN if all points are equal. Needs 2 to n - 1 clusters.
COTERIE_API double calinski_harabasz(PointsView points, LabelSpan labels, const Run& run);

/// Davies and Bouldin (A cluster separation measure, IEEE Transactions on Pattern Analysis and Machine Intelligence
/// 1979): the mean over clusters i of the largest (s_i + s_j) / || m_i - m_j || over j. Here s is the mean Euclidean
/// distance of a cluster's points to its mean. At least 0; less is better. Infinite if two clusters have the same mean
/// and one has unequal points. Needs 2 to n - 1 clusters.
COTERIE_API double davies_bouldin(PointsView points, LabelSpan labels, const Run& run);

/// Bayesian information criterion (Schwarz, Estimating the dimension of a model, The Annals of Statistics 1978)
///
///     p ln n - 2 sum_i ln sum_j (n_j / n) N(x_i; m_j, v I),    v = W / (n d),    p = (k - 1) + k d + 1,
///
/// of the mixture of k spherical Gaussians with equal variance, which is the model behind k-means. Cluster j of the
/// partition has n_j points and mean m_j. Any number of clusters, including 1; less is better. Minus infinity if the
/// points of each cluster are equal. n k d operations.
COTERIE_API double spherical_mixture_bic(PointsView points, LabelSpan labels, const Run& run);

/// Tibshirani and Walther (Cluster validation by prediction strength, Journal of Computational and Graphical Statistics
/// 2005). For each cluster of `labels`, computes the share of its pairs of points that also have a common label in
/// `predicted`. Returns the least share. `labels`: a clustering of these points; `predicted`: predictions of a model
/// trained on other points. From 0 to 1; the share of a cluster of one point is 1.
COTERIE_API double prediction_strength(LabelSpan labels, LabelSpan predicted);

}  // namespace coterie
