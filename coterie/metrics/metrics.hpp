#pragma once
// How well labels agree with a truth, and how well they fit the points. Labels are any 32-bit numbers; they need not
// start at 0, be consecutive, or be as many as the classes. Every function throws BadArgument when the two labelings
// differ in length or are empty.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/linalg/neighbors.hpp"

namespace coterie {

using LabelSpan = std::span<const std::int32_t>;

/// Counts n_uv of points with u-th distinct cluster label and v-th distinct class (both ascending). ResourceError when
/// the full table does not fit; the scores below never build it.
struct ContingencyTable {
    std::vector<std::int32_t> clusters;  // distinct labels, ascending
    std::vector<std::int32_t> classes;   // distinct truths, ascending
    Matrix<std::int64_t> counts;         // clusters x classes
};
COTERIE_API ContingencyTable contingency_table(LabelSpan labels, LabelSpan truth);

/// Class given to each distinct cluster by the best one-to-one match (Hungarian, exact); -1 where there are more
/// clusters than classes. Exactly min(clusters, classes) are matched, some perhaps with no point in common. Works on
/// the non-zero counts when these are few, so that as many labels as points are no trouble; a full table that does not
/// fit is a ResourceError.
struct Alignment {
    std::vector<std::int32_t> clusters;
    std::vector<std::int32_t> matched_class;  // the class's value, or -1 when `matched[u]` is false
    std::vector<bool> matched;
    std::int64_t agreeing = 0;  // points whose cluster is matched to their class
};
COTERIE_API Alignment align(LabelSpan labels, LabelSpan truth);
/// labels renamed to the classes they are matched to; an unmatched cluster gets a number above every class.
COTERIE_API Labels aligned_labels(LabelSpan labels, LabelSpan truth);
/// Here `counts` is classes x clusters with what agrees on the diagonal: first the classes that have a cluster,
/// ascending, and their clusters in the same order, then the classes without a cluster (rows) or the clusters without a
/// class (columns), ascending.
COTERIE_API ContingencyTable confusion_table(LabelSpan labels, LabelSpan truth);

/// Assigns each row of a cost matrix a column of its own (or -1 where columns run out), at least total cost. Exact;
/// O(r^2 c) for r <= c, else O(c^2 r). BadArgument when a cost is not finite.
COTERIE_API std::vector<Index> minimum_cost_assignment(const Matrix<double>& cost);

/// ACC: agreeing points of the best one-to-one match over n. In [0, 1].
COTERIE_API double accuracy(LabelSpan labels, LabelSpan truth);

enum class Normalization { arithmetic, geometric, minimum, maximum };
/// NMI: mutual information over the mean of the two entropies. In [0, 1]; 1 when both labelings have one cluster, 0
/// when only one has.
COTERIE_API double normalized_mutual_information(LabelSpan labels, LabelSpan truth,
                                                 Normalization mean = Normalization::arithmetic);
/// ARI, 1 for equal partitions, 0 expected by chance, at least -0.5.
COTERIE_API double adjusted_rand_index(LabelSpan labels, LabelSpan truth);
/// Each cluster's largest class, summed, over n. In [0, 1].
COTERIE_API double purity(LabelSpan labels, LabelSpan truth);
/// Mutual information over the entropy of the truth (homogeneity) or of the labels (completeness); 1 where that entropy
/// is 0.
COTERIE_API double homogeneity(LabelSpan labels, LabelSpan truth);
COTERIE_API double completeness(LabelSpan labels, LabelSpan truth);

struct Scores {
    double acc = 0, nmi = 0, ari = 0, purity = 0, homogeneity = 0, completeness = 0;
};
COTERIE_API Scores score(LabelSpan labels, LabelSpan truth);

/// Mean silhouette (b - a) / max(a, b) with Euclidean distances; a point alone in its cluster counts 0. Exact, O(n^2
/// d), in blocks. Needs 2 to n - 1 clusters. With 0 < sample < n it is taken over that many points drawn without
/// replacement (and distances among them); the drawn points too must have 2 to sample - 1 clusters. Memory: blocks of
/// rows; of points that are read, or worked on in several processes, all that it is taken over: ResourceError where
/// they do not fit. Labels are those of this process' points. Cancelled when the run says stop.
COTERIE_API double silhouette(PointsView points, LabelSpan labels, const Run& run, Index sample = 0);
/// Those of all points (of all processes), one by one.
COTERIE_API std::vector<double> silhouettes(PointsView points, LabelSpan labels, const Run& run);

/// sum_i || x_i - mean of its cluster ||^2  over  sum_i || x_i - mean ||^2. In [0, 1]; NaN when all points are equal.
/// Two passes over the points, which may be read. Labels are those of this process' points.
COTERIE_API double scatter_ratio(PointsView points, LabelSpan labels, const Run& run);

/// Sum over clusters of cut / volume in the graph W = (A + A') / 2, A_ij = 1 when j is among the neighbours of i: the
/// cut is the weight of the edges that leave a cluster, the volume the sum of its points' degrees. From 0 to
/// the number of clusters, less is better. Needs 2 clusters (one has no edge to cut).
COTERIE_API double normalized_cut(const Neighbors& neighbors, LabelSpan labels);

/// Two-sided paired Student test that a and b have the same mean. Needs at least two pairs of finite numbers
/// (BadArgument otherwise).
struct PairedTest {
    double mean_difference = 0;  // of a - b
    double statistic = 0;  // t; infinite (and p 0) when all differences are equal and not 0; 0 (and p 1) when all are 0
    double p_value = 1;
    Index degrees_of_freedom = 0;
};
COTERIE_API PairedTest paired_t_test(std::span<const double> a, std::span<const double> b);

/// A sample by its mean, standard deviation (of n - 1; 0 of one number, which has none) and size.
struct SampleSummary {
    double mean = 0;
    double deviation = 0;
    Index count = 0;
};
/// BadArgument unless there are numbers and all are finite.
COTERIE_API SampleSummary summary_of(std::span<const double> sample);

/// p of the two-sided Student test that two unpaired samples, thought to have the same variance (it is pooled), have
/// the same mean: 1 where both deviations are 0 and the means equal, 0 where they differ. BadArgument unless both have
/// at least two numbers.
COTERIE_API double unpaired_t_test(const SampleSummary& a, const SampleSummary& b);

/// Scores of each against all the others (Wang et al. 2012): 1 for a mean that is larger at `significance` by
/// unpaired_t_test, 0.5 for none of significance, 0 for a smaller one.
COTERIE_API std::vector<double> ranking_scores(std::span<const SampleSummary> samples, double significance = 0.05);

}  // namespace coterie
