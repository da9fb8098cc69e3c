#pragma once
// Ward's agglomeration (Ward 1963) by the nearest-neighbour chain (Benzecri 1982, Murtagh 1983). Every point starts as
// its own cluster. The two clusters that raise the inertia  sum_i w_i || x_i - c_{a_i} ||^2  least are merged, until 1
// cluster is left. The rise is
//
//     rise(A, B) = w_A w_B / (w_A + w_B) * || c_A - c_B ||^2        w: summed weight, c: weighted mean
//
// The rise is computed from means and weights whenever it is needed, so there is no n x n matrix. Memory: n d numbers.
// Time: of the order n^2 d.

#include <span>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

/// One merge, as a row of SciPy's linkage: leaves are clusters 0..m-1, merge t makes cluster m + t.
struct Merge {
    Index left = 0;  // left < right
    Index right = 0;
    double height = 0.0;  // sqrt(2 rise); for two single points of weight 1 this is their distance
    Index size = 0;       // number of leaves
};

/// m leaves and m - 1 merges by ascending height. The merge that makes a cluster comes before the merge that uses it.
struct COTERIE_API Dendrogram {
    std::vector<Merge> merges;
    Index points = 0;           // n: rows of the points
    std::vector<Index> leaves;  // the row of each leaf, ascending; every row is a leaf unless its weight is 0

    /// Number of clusters that a cut can separate: leaves at distance exactly 0 count as one.
    Index distinct() const;
};

/// n x d points, n weights (empty: 1 each; weight w acts as w copies). Points of weight 0 are not leaves. Ties go to
/// the lowest row numbers along the chain, so the result depends only on the input. Throws BadData and BadArgument as
/// check_points and check_weights do, and Cancelled if the caller stops it, because half a dendrogram is useless.
COTERIE_API Dendrogram ward_linkage(PointsView points, std::span<const double> weights, const Run& run);

/// The partition before the last `clusters - 1` merges. Labels 0..clusters-1 are in the order of the clusters' lowest
/// rows; rows that are not leaves get -1. Throws BadArgument unless 1 <= clusters <= leaves.
COTERIE_API Labels cut(const Dendrogram& dendrogram, int clusters);

/// Weighted means of the rows labelled 0..clusters-1, clusters x d in the scalar type of the points. Rows of label -1
/// are ignored. A label without weight gets the mean of label 0; ties go to the lowest label, so it gets no rows.
COTERIE_API Points cluster_means(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                                 const Run& run);

struct COTERIE_API WardOptions {
    int clusters = 8;

    static const OptionSet& described();
};

/// labels() are those of the cut. predict returns the cluster with the nearest mean, which may differ from the cut for
/// points between two clusters.
class COTERIE_API WardModel : public CentroidModelOf<WardOptions> {
public:
    using CentroidModelOf::CentroidModelOf;

    std::string_view method() const override { return "ward"; }
    /// sum_i w_i || x_i - c_{a_i} ||^2
    double inertia() const { return report_.objective; }

    static WardModel from(const Archive& archive) { return WardModel(archive); }
};

/// n x d points, 1 <= clusters <= points of positive weight. Points of weight 0 get the label of the nearest mean at
/// the end. Equal points always share a cluster. With fewer distinct points than clusters, the surplus clusters are
/// empty, with a warning.
/// The report's details hold:
/// - "merge_height", the height of the last merge performed, and "next_height", the height of the next merge;
/// - the top of the tree, above the clusters of a cut into M = min(leaves, max(clusters, 40)): "tree_sizes" (points of
///   each of these clusters), and "tree_left", "tree_right", "tree_heights" of the M - 1 merges above them, numbered as
///   in Merge.
struct COTERIE_API WardMethod {
    using Options = WardOptions;
    using Model = WardModel;
    static constexpr std::string_view name = "ward";
    static constexpr std::string_view summary =
        "Ward's hierarchical clustering, without a matrix of all distances (nearest-neighbour chain)";
    static constexpr Takes takes = {.weights = true};
    static constexpr About about = {.compare = {.most_rows = 20000}, .rule = LabelRule::nearest_centroid};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<WardMethod> fit_ward{};

}  // namespace coterie
