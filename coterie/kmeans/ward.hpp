#pragma once
// Ward's agglomeration (Ward 1963) by the nearest-neighbour chain (Benzecri 1982, Murtagh 1983): every point starts as
// a cluster of its own, and the two clusters whose union raises the inertia  sum_i w_i || x_i - c_{a_i} ||^2  least are
// merged, until one is left. The rise is
//
//     rise(A, B) = w_A w_B / (w_A + w_B) * || c_A - c_B ||^2        w: summed weight, c: weighted mean
//
// and is computed anew from means and weights wherever it is needed: memory n d, no n x n matrix. Time of the order n^2
// d.

#include <span>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

/// One merge, as a row of SciPy's linkage: leaves are clusters 0..m-1, merge t makes cluster m + t.
struct Merge {
    Index left = 0;  // left < right
    Index right = 0;
    double height = 0.0;  // sqrt(2 rise): the distance of the two for single points of weight 1
    Index size = 0;       // leaves below
};

/// m leaves, m - 1 merges by ascending height; a cluster stands before the merge that takes it in.
struct COTERIE_API Dendrogram {
    std::vector<Merge> merges;
    Index points = 0;           // n: rows of the points
    std::vector<Index> leaves;  // the row of each leaf, ascending; without weights of 0 every row is a leaf

    /// Clusters that a cut can tell apart: leaves at distance exactly 0 of each other are one.
    Index distinct() const;
};

/// n x d points, n weights (empty: 1 each; weight w acts as w copies). Points of weight 0 are no leaves. The merge of
/// equal rises is the one with the lowest row numbers along the chain, so the result depends on nothing but the input.
/// BadData, BadArgument as check_points and check_weights; Cancelled when the caller asks to stop, as half a dendrogram
/// is no result.
COTERIE_API Dendrogram ward_linkage(PointsView points, std::span<const double> weights, const Run& run);

/// The partition before the last `clusters - 1` merges: labels 0..clusters-1 by lowest row, -1 for rows that are no
/// leaves. BadArgument unless 1 <= clusters <= leaves.
COTERIE_API Labels cut(const Dendrogram& dendrogram, int clusters);

/// Weighted means of the rows labelled 0..clusters-1 (rows of label -1 are left out), clusters x d in the scalar type
/// of the points. A label without weight takes the mean of label 0: a repeat loses every tie.
COTERIE_API Points cluster_means(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                                 const Run& run);

struct COTERIE_API WardOptions {
    int clusters = 8;

    static const OptionSet& described();
};

/// labels() are those of the cut; predict gives the nearest of the clusters' means, which may differ for points between
/// two clusters.
class COTERIE_API WardModel : public CentroidModelOf<WardOptions> {
public:
    using CentroidModelOf::CentroidModelOf;

    std::string_view method() const override { return "ward"; }
    /// sum_i w_i || x_i - c_{a_i} ||^2
    double inertia() const { return report_.objective; }

    static WardModel from(const Archive& archive) { return WardModel(archive); }
};

/// n x d points, 1 <= clusters <= points with a weight above 0. Points of weight 0 are labelled by the nearest mean
/// afterwards. Equal points are never told apart: fewer distinct points than clusters is a result with a warning, the
/// surplus clusters are empty. The report's details hold "merge_height", that of the last merge carried out, and
/// "next_height", that of the first one left out; and the top of the tree, of M = max(clusters, 40) leaves or all there
/// are: "tree_sizes" (points of each leaf, the clusters of the cut into M) and "tree_left", "tree_right",
/// "tree_heights" of the M - 1 merges above them, numbered as Merge says.
struct COTERIE_API WardMethod {
    using Options = WardOptions;
    using Model = WardModel;
    static constexpr std::string_view name = "ward";
    static constexpr std::string_view summary = "Ward agglomeration by the nearest-neighbour chain, in memory n d";
    static constexpr Takes takes = {.weights = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<WardMethod> fit_ward{};

}  // namespace coterie
