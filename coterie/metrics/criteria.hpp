#pragma once
// How well a partition fits its points: criteria that compare numbers of clusters. Labels are any 32-bit numbers, those
// of this process' points, which may be read; sums are over all processes, the same bits at any number of them and of
// threads. BadArgument where labels and points are not equally many, or there are none. In all of them
// W = sum_i || x_i - m_{a_i} ||^2, with m the clusters' means, k their number, n x d the points.

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {

/// W. At least 0, less is better.
COTERIE_API double within_scatter(PointsView points, LabelSpan labels, const Run& run);

/// Calinski and Harabasz (A dendrite method for cluster analysis, Communications in Statistics 1974): scatter between
/// clusters over k - 1, over W over n - k. At least 0, more is better; infinite where no cluster has an extent, NaN
/// where all points are equal. Needs 2 to n - 1 clusters.
COTERIE_API double calinski_harabasz(PointsView points, LabelSpan labels, const Run& run);

/// Davies and Bouldin (A cluster separation measure, IEEE Transactions on Pattern Analysis and Machine Intelligence
/// 1979): the mean over clusters i of the largest (s_i + s_j) / || m_i - m_j || over j, with s the mean Euclidean
/// distances of a cluster's points to its mean. At least 0, less is better; infinite where two clusters with an extent
/// have one mean. Needs 2 to n - 1 clusters.
COTERIE_API double davies_bouldin(PointsView points, LabelSpan labels, const Run& run);

/// Bayes' information criterion (Schwarz, Estimating the dimension of a model, The Annals of Statistics 1978)
///
///     p ln n - 2 sum_i ln sum_j (n_j / n) N(x_i; m_j, v I),    v = W / (n d),    p = (k - 1) + k d + 1,
///
/// of the mixture of k spherical Gaussians of one variance that k-means stands for, at what the partition estimates
/// (n_j and m_j: points and mean of cluster j). Any number of clusters, 1 too; less is better; minus infinity where no
/// cluster has an extent. n k d operations.
COTERIE_API double spherical_mixture_bic(PointsView points, LabelSpan labels, const Run& run);

/// Tibshirani and Walther (Cluster validation by prediction strength, Journal of Computational and Graphical Statistics
/// 2005): the least, over clusters of `labels`, of the share of its ordered pairs of points that have one label in
/// `predicted` too. `labels`: what a clustering of these points found; `predicted`: what a model of other points says
/// of them. From 0 to 1; a cluster of one point counts 1.
COTERIE_API double prediction_strength(LabelSpan labels, LabelSpan predicted);

}  // namespace coterie
