#pragma once
// Scores of labels: how well they agree with true labels, and how well they fit the points. Labels are any 32-bit
// numbers. They need not start at 0 or be consecutive, and the numbers of clusters and classes may differ. Every
// function throws BadArgument if the two labelings differ in length or are empty.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/linalg/neighbors.hpp"

namespace coterie {

using LabelSpan = std::span<const std::int32_t>;

/// n_uv is the number of points with the u-th distinct cluster label and the v-th distinct class (both ascending).
/// Throws ResourceError if the full table does not fit into memory; the scores below do not need the full table.
struct ContingencyTable {
    std::vector<std::int32_t> clusters;  // distinct labels, ascending
    std::vector<std::int32_t> classes;   // distinct truths, ascending
    Matrix<std::int64_t> counts;         // clusters x classes
};
COTERIE_API ContingencyTable contingency_table(LabelSpan labels, LabelSpan truth);

/// The class of each distinct cluster in the best one-to-one match (Hungarian, exact); -1 for clusters without a class.
/// Exactly min(clusters, classes) clusters are matched, some perhaps to a class without common points. Uses only the
/// non-zero counts if there are few, so there may be as many labels as points. Throws ResourceError if a full table is
/// needed and too large.
struct Alignment {
    std::vector<std::int32_t> clusters;
    std::vector<std::int32_t> matched_class;  // the class's value, or -1 when `matched[u]` is false
    std::vector<bool> matched;
    std::int64_t agreeing = 0;  // points whose cluster is matched to their class
};
COTERIE_API Alignment align(LabelSpan labels, LabelSpan truth);
/// Replaces each label by the class of its cluster. An unmatched cluster gets a number above every class; throws
/// BadArgument if there is no such 32-bit number.
COTERIE_API Labels aligned_labels(LabelSpan labels, LabelSpan truth);
/// A table whose `counts` are classes x clusters, with the agreement on the diagonal. First come the matched classes,
/// ascending, and their clusters in the same order. Then come the unmatched classes or clusters, ascending.
COTERIE_API ContingencyTable confusion_table(LabelSpan labels, LabelSpan truth);

/// Assigns each row of a cost matrix a different column (or -1 if there are too few columns) so that the total cost is
/// least. Exact; O(r^2 c) for r <= c, else O(c^2 r). Throws BadArgument if a cost is not finite.
COTERIE_API std::vector<Index> minimum_cost_assignment(const Matrix<double>& cost);

/// ACC: agreeing points of the best one-to-one match over n. In [0, 1].
COTERIE_API double accuracy(LabelSpan labels, LabelSpan truth);

enum class Normalization { arithmetic, geometric, minimum, maximum };
/// NMI: mutual information divided by the mean of the two entropies. In [0, 1]; 1 if both labelings have a single
/// cluster, 0 if only one labeling has.
COTERIE_API double normalized_mutual_information(LabelSpan labels, LabelSpan truth,
                                                 Normalization mean = Normalization::arithmetic);
/// ARI: 1 for equal partitions, 0 expected by chance, at least -0.5.
COTERIE_API double adjusted_rand_index(LabelSpan labels, LabelSpan truth);
/// Sum over clusters of the size of their largest class, divided by n. In [0, 1].
COTERIE_API double purity(LabelSpan labels, LabelSpan truth);
/// Mutual information divided by the entropy of the truth (homogeneity) or of the labels (completeness); 1 if that
/// entropy is 0.
COTERIE_API double homogeneity(LabelSpan labels, LabelSpan truth);
COTERIE_API double completeness(LabelSpan labels, LabelSpan truth);

struct Scores {
    double acc = 0, nmi = 0, ari = 0, purity = 0, homogeneity = 0, completeness = 0;
};
COTERIE_API Scores score(LabelSpan labels, LabelSpan truth);

/// Mean silhouette (b - a) / max(a, b) with Euclidean distances; a point alone in its cluster counts 0. Exact, O(n^2
/// d), in blocks. Needs 2 to n - 1 clusters. With 0 < sample < n it uses only that many points, drawn without
/// replacement, and distances among them. The sample must have 2 to sample - 1 clusters. `labels`: of this process's
/// points. Memory: blocks of rows. Points that are not resident, or spread over several processes, are first gathered
/// in memory; throws ResourceError if they do not fit. Throws Cancelled if the run stops.
COTERIE_API double silhouette(PointsView points, LabelSpan labels, const Run& run, Index sample = 0);
/// The silhouette of each point, for the points of all processes.
COTERIE_API std::vector<double> silhouettes(PointsView points, LabelSpan labels, const Run& run);

/// sum_i || x_i - mean of its cluster ||^2 over sum_i || x_i - mean ||^2. In [0, 1]; NaN if all points are equal. Makes
/// three passes over the points, which need not be resident. `labels`: of this process's points.
COTERIE_API double scatter_ratio(PointsView points, LabelSpan labels, const Run& run);

/// Sum over clusters of cut / volume in the graph W = (A + A') / 2, where A_ij = 1 if j is among the neighbours of i.
/// The cut is the weight of the edges that leave a cluster; the volume is the sum of the degrees of its points. From 0
/// to the number of clusters; less is better. Needs at least 2 clusters.
COTERIE_API double normalized_cut(const Neighbors& neighbors, LabelSpan labels);

/// Two-sided paired t-test of equal means. Throws BadArgument unless there are at least two pairs of finite numbers.
struct PairedTest {
    double mean_difference = 0;  // of a - b
    double statistic = 0;        // t; infinite (p is 0) if all differences are equal and not 0; 0 (p is 1) if all are 0
    double p_value = 1;
    Index degrees_of_freedom = 0;
};
COTERIE_API PairedTest paired_t_test(std::span<const double> a, std::span<const double> b);

/// A sample's mean, standard deviation (with n - 1; 0 for a single number) and size.
struct SampleSummary {
    double mean = 0;
    double deviation = 0;
    Index count = 0;
};
/// Throws BadArgument if the sample is empty or has a number that is not finite.
COTERIE_API SampleSummary summary_of(std::span<const double> sample);

/// The p value of the two-sided t-test of equal means of two unpaired samples, with pooled variance. If both deviations
/// are 0: 1 for equal means, else 0. Throws BadArgument unless both have at least two numbers.
COTERIE_API double unpaired_t_test(const SampleSummary& a, const SampleSummary& b);

/// Compares each sample with every other (Wang et al. 2012) by unpaired_t_test at level `significance`, and adds up 1
/// for a larger mean, 0.5 for no significant difference, 0 for a smaller mean.
COTERIE_API std::vector<double> ranking_scores(std::span<const SampleSummary> samples, double significance = 0.05);

}  // namespace coterie
