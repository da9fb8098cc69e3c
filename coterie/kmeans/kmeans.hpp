#pragma once
// k-means: centroids c_1..c_k and labels a_i that minimise the inertia  sum_i w_i || x_i - c_{a_i} ||^2  (w_i = 1
// without weights). Lloyd's algorithm from a seeding; the bounded variant skips distances that cannot change a label
// and returns the same labels, centroids and inertia, bit for bit.
//
// With partial labels, label shares or size bounds (side information) the labels of every iteration are the exact
// minimiser under them for the centroids there are; see constraints.hpp for where the centroids start. Bounds are met
// by labels(), not by predict(), which labels every point by itself.
//
// Sparse points (base/sparse_points.hpp) are taken without side information and bounds: k multiplications per entry,
// and memory for the entries and some k d numbers.
//
// Cost an iteration: n k d multiplications without bounds, with them as few as n d. Memory beside the points: 8 numbers
// a point at most (labels, norms, bounds: never more than a quarter of the points' own), and the sums of up to 64
// chunks (k d each).

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

enum class KMeansAlgorithm {
    automatic,  // bounds where they pay (judged from n, d, k), else lloyd
    lloyd,
    bounds  // one upper bound a point, one lower bound a point and group of centroids (Ding et al. 2015; one group:
            // Hamerly 2010)
};

struct COTERIE_API KMeansOptions {
    std::optional<int> clusters = 8;  // automatic: as many as the partial labels have
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

/// n x d points, 1 <= clusters <= n. With side.initial_centroids (k x d) there is no seeding and restarts must be 1.
/// labels() is always predict(points), except where constraints forbid it and where the fit was interrupted: then the
/// centroids are the means of the labels so far. Partial labels: a label has one cluster
/// unless problem.clusters_per_label says otherwise; what options.clusters has beyond them are free clusters. Weights
/// go with partial labels and pairs, not with bounds; pairs go with partial labels. An empty cluster under constraints
/// keeps its place. Throws BadArgument (options, weights, shapes, more clusters than points) and BadData (NaN,
/// infinity, values whose squares overflow). Fewer distinct points than clusters is a result with a warning: the
/// surplus clusters are empty.
struct COTERIE_API KMeansMethod {
    using Options = KMeansOptions;
    using Model = KMeansModel;
    static constexpr std::string_view name = "kmeans";
    static constexpr std::string_view summary = "k-means: Lloyd's algorithm with bounds, greedy k-means++ seeding";
    static constexpr Takes takes = {.blocks = true,
                                    .sparse = true,
                                    .weights = true,
                                    .initial_centroids = true,
                                    .labels = true,
                                    .shares = Shares::interval,
                                    .sizes = true,
                                    .pairs = true,
                                    .checkpoint = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<KMeansMethod> fit_kmeans{};

}  // namespace coterie
