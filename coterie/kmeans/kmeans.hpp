#pragma once
// k-means: centroids c_1..c_k and labels a_i that minimise the inertia  sum_i w_i || x_i - c_{a_i} ||^2  (w_i = 1 without weights).
// Lloyd's algorithm from a seeding; the bounded variant skips distances that cannot change a label and returns the same labels,
// centroids and inertia, bit for bit.

#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/side_information.hpp"
#include "coterie/io/model.hpp"

namespace coterie {

enum class Seeding {
    automatic,     // k-means||  from 1,000 clusters on, else greedy k-means++
    kmeans_plus_plus,
    parallel,      // k-means|| (Bahmani et al. 2012), reduced by weighted greedy k-means++
    random         // k distinct rows, uniformly
};

enum class KMeansAlgorithm {
    automatic,  // bounds where they pay (judged from n, d, k), else lloyd
    lloyd,
    bounds      // group bounds (Yinyang; one group is Hamerly's)
};

struct KMeansOptions {
    int clusters = 8;
    int restarts = 1;
    int max_iterations = 300;
    double tolerance = 1e-4;  // of the mean column variance; see described()
    Seeding seeding = Seeding::automatic;
    int seeding_candidates = 0;
    KMeansAlgorithm algorithm = KMeansAlgorithm::automatic;

    static const OptionSet& described();
};

class KMeansModel : public Model {
public:
    KMeansModel(Points centroids, Labels labels, FitReport report, const KMeansOptions& options);

    std::string_view method() const override { return "kmeans"; }
    Index dimensions() const override { return centroids_.columns(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }
    /// k x d, in the scalar type of the points it was fitted on.
    const Points& centroids() const { return centroids_; }
    const KMeansOptions& options() const { return options_; }
    double inertia() const { return report_.objective; }

    void store(Archive& archive) const override;
    static KMeansModel from(const Archive& archive);

protected:
    Labels predict_checked(PointsView points, const Run& run) const override;

private:
    Points centroids_;
    KMeansOptions options_;
};

/// n x d points; clusters <= n. Throws BadArgument (options, weights, more clusters than points), BadData (NaN, infinity, overflow).
/// Fewer distinct points than clusters is a result with a warning: the surplus clusters are empty.
KMeansModel fit_kmeans(PointsView points, const KMeansOptions& options, Run& run, const SideInformation& side = {});

}  // namespace coterie
