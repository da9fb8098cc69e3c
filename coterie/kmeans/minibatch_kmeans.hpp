#pragma once
// Mini-batch k-means (Sculley 2010): each step draws a batch of rows, gives each to its nearest centroid, and moves
// every centroid towards its rows at a rate of its own, 1 over the number of rows it has had so far. A centroid is thus
// the mean of all rows it was ever given. It starts from k-means of a sample. The inertia  sum_i w_i || x_i - c_{a_i}
// ||^2 of the result is usually a few per cent above that of k-means, at a fraction of the time when n is large.

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
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

/// n x d points, 1 <= clusters <= n. The start is k-means, ten iterations at most, of max(3 batch_size, 30 k) rows that
/// are drawn as those of batches are, or of all where there are no more; where the sample has fewer than k distinct
/// rows it is seeds from all rows. Batches are drawn with replacement from run.seed, a row with probability
/// proportional to its weight (which so acts as copies of it). An iteration is a batch; batch_size rows or n, whichever
/// is less; max_epochs * n rows are drawn at most. The report's objective_per_iteration is the smoothed inertia of the
/// batches, scaled to all points; it need not fall. The fit has converged when that has not fallen to a new low for
/// `patience` batches. A centroid that has had less than `reassignment_share` of the rows of the busiest is put beside
/// the centroid of a row of the batch, drawn with probability proportional to its squared distance, towards that row;
/// the report counts these in empty_clusters_repaired. At the end all points are labelled: labels() is predict(points).
/// Fewer distinct points than clusters is a result with a warning: the surplus clusters are empty.
struct COTERIE_API MinibatchKMeansMethod {
    using Options = MinibatchKMeansOptions;
    using Model = MinibatchKMeansModel;
    static constexpr std::string_view name = "minibatch-kmeans";
    static constexpr std::string_view summary = "k-means by batches drawn from the points, for very many of them";
    static constexpr Takes takes = {.blocks = true, .weights = true, .initial_centroids = true, .checkpoint = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<MinibatchKMeansMethod> fit_minibatch_kmeans{};

}  // namespace coterie
