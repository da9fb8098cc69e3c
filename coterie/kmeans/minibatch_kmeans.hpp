#pragma once
// Mini-batch k-means (Sculley 2010). Each step draws a batch of rows and assigns each row to its nearest centroid. It
// moves every centroid towards its rows at the rate 1 / (number of rows assigned to the centroid so far). A centroid is
// thus the mean of all rows that were ever assigned to it. The start is k-means of a sample. The inertia  sum_i w_i ||
// x_i - c_{a_i} ||^2  is usually a few per cent above that of k-means; for large n the fit takes a fraction of the
// time.

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

struct COTERIE_API MinibatchKMeansOptions {
    int clusters = 8;
    int batch_size = 1024;
    int max_epochs = 100;
    int patience = 10;
    double reassignment_share = 0.01;
    int restarts = 1;
    Seeding seeding = Seeding::automatic;
    std::optional<int> seeding_candidates = {};

    static const OptionSet& described();
};

class COTERIE_API MinibatchKMeansModel : public CentroidModelOf<MinibatchKMeansOptions> {
public:
    using CentroidModelOf::CentroidModelOf;

    std::string_view method() const override { return "minibatch-kmeans"; }
    /// sum_i w_i || x_i - c_{a_i} ||^2 of labels() and centroids(), over all points.
    double inertia() const { return report_.objective; }

    static MinibatchKMeansModel from(const Archive& archive) { return MinibatchKMeansModel(archive); }
};

/// n x d points, 1 <= clusters <= n.
/// Start: k-means, at most ten iterations, of max(3 batch_size, 30 k) rows, drawn like batches, or of all rows if there
/// are no more. If the sample has fewer than k distinct rows, seeds are drawn from all rows instead.
/// Batches: drawn with replacement from run.seed. A row's probability is proportional to its weight, so weight w acts
/// as w copies. An iteration uses one batch of min(batch_size, n) rows. At most max_epochs * n rows are drawn.
/// End: the report's objective_per_iteration is the smoothed inertia of the batches, scaled to all points; it may rise.
/// The fit has converged when it has reached no new minimum for `patience` batches.
/// A starved centroid has had fewer than `reassignment_share` times the rows of the busiest centroid. A row of the
/// batch is drawn with probability proportional to its squared distance. The starved centroid moves next to the
/// centroid of that row, towards the row. The report counts these moves in empty_clusters_repaired.
/// At the end all points are labelled: labels() is predict(points). Fewer distinct points than clusters give a result
/// with a warning: the surplus clusters are empty.
struct COTERIE_API MinibatchKMeansMethod {
    using Options = MinibatchKMeansOptions;
    using Model = MinibatchKMeansModel;
    static constexpr std::string_view name = "minibatch-kmeans";
    static constexpr std::string_view summary = "k-means on random batches of rows, for very many rows";
    static constexpr Takes takes = {.blocks = true, .weights = true, .initial_centroids = true, .checkpoint = true};
    static constexpr About about = {.compare = {.least_rows = 20000, .most_rows = any_count},
                                    .rule = LabelRule::nearest_centroid,
                                    .python = "MiniBatchKMeans",
                                    .objective = "inertia_"};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<MinibatchKMeansMethod> fit_minibatch_kmeans{};

}  // namespace coterie
