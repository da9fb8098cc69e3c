#pragma once
// k-means: centroids c_1..c_k and labels a_i that minimise the inertia  sum_i w_i || x_i - c_{a_i} ||^2  (w_i = 1
// without weights). Lloyd's algorithm starts from a seeding. The variant with distance bounds skips distances that
// cannot change a label; its result is the same, bit for bit.
//
// Constraints are partial labels, label shares, size bounds and pairs of rows. In every iteration, the labels have the
// least inertia for the current centroids among all labels that meet the constraints (a warning reports if the search
// among pairs was cut short). starting_prototypes.hpp describes the start with partial labels. labels() meets the
// constraints. predict() ignores them, because it labels every point independently.
//
// Sparse points (base/sparse_points.hpp) are accepted without constraints and distance bounds. An iteration takes k
// multiplications per stored entry. Memory: the entries and about k d numbers.
//
// Time per iteration: n k d multiplications without distance bounds, as few as n d with them.
// Memory in addition to the points, per row: a label (4 bytes) and a norm; with distance bounds, 4 bytes more and 4 per
// group of centroids. There are as many groups as fit into an eighth of the points' memory, but at least one. The sums
// of clusters take about (log2(blocks) + threads) k d numbers.

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

enum class KMeansAlgorithm {
    automatic,  // bounds if they make the fit faster (estimated from n, d, k), else lloyd
    lloyd,
    bounds  // one upper bound per point, one lower bound per point and group of centroids (Ding et al. 2015; one group:
            // Hamerly 2010)
};

struct COTERIE_API KMeansOptions {
    std::optional<int> clusters = 8;  // automatic: the number that the partial labels need in total
    int restarts = 1;
    int max_iterations = 300;
    double tolerance = 1e-4;
    Seeding seeding = Seeding::automatic;
    std::optional<int> seeding_candidates = {};
    std::optional<Index> seeding_sample = {};
    KMeansAlgorithm algorithm = KMeansAlgorithm::automatic;
    ShareRounding share_rounding = ShareRounding::floor;

    static const OptionSet& described();
};

class COTERIE_API KMeansModel : public CentroidModelOf<KMeansOptions> {
public:
    using CentroidModelOf::CentroidModelOf;

    std::string_view method() const override { return "kmeans"; }
    /// sum_i w_i || x_i - c_{a_i} ||^2 of labels() and centroids().
    double inertia() const { return report_.objective; }

    static KMeansModel from(const Archive& archive) { return KMeansModel(archive); }
};

/// n x d points, 1 <= clusters <= n. With problem.initial_centroids (k x d) there is no seeding and restarts must be 1.
/// labels() equals predict(points), with two exceptions: constraints may forbid it, and the fit may be interrupted.
/// After an interruption, the centroids are the means of the clusters given by labels().
/// Each distinct partial label has one cluster unless problem.clusters_per_label says otherwise. Any further clusters
/// are free: they have no label, and any unlabelled point may join them. Weights and pairs can each be combined with
/// partial labels and with each other, but not with size bounds or label shares. With constraints, an empty cluster
/// keeps its centroid.
/// Throws BadArgument (options, weights, shapes, more clusters than points) and BadData (NaN, infinity, values whose
/// squares overflow). Fewer distinct points than clusters give a result with a warning: the surplus clusters are empty.
struct COTERIE_API KMeansMethod {
    using Options = KMeansOptions;
    using Model = KMeansModel;
    static constexpr std::string_view name = "kmeans";
    static constexpr std::string_view summary =
        "k-means: each row belongs to the nearest of k centroids (Lloyd's algorithm, k-means++ seeding)";
    static constexpr Takes takes = {.blocks = true,
                                    .sparse = true,
                                    .weights = true,
                                    .initial_centroids = true,
                                    .labels = true,
                                    .shares = Shares::interval,
                                    .sizes = true,
                                    .pairs = true,
                                    .checkpoint = true};
    static constexpr About about = {.compare = {.most_rows = any_count},
                                    .rule = LabelRule::nearest_centroid,
                                    .python = "KMeans",
                                    .objective = "inertia_"};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<KMeansMethod> fit_kmeans{};

}  // namespace coterie
