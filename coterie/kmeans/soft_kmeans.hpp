#pragma once
// Soft k-means at a temperature T (Rose, Gurewitz and Fox 1990): every point belongs to every cluster with a
// probability
//
//     A_ij = exp(-D_ij / T) / sum_l exp(-D_il / T),   D_ij = || x_i - c_j ||^2.
//
// Probabilities and centroids minimise the free energy, which never rises:
//
//     F = sum_i w_i [ sum_j A_ij D_ij  +  T sum_j A_ij log A_ij ]  =  -T sum_i w_i log sum_j exp(-D_ij / T)
//
// As T -> 0 this becomes k-means, and F its inertia. For Gaussian clusters of equal size and variance s^2 in each
// column, T = 2 s^2 makes A the posterior probabilities. No n x k matrix is kept; sums are in double.
// Sparse points (base/sparse_points.hpp) are used entry by entry, without their zeros.

#include <optional>

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

struct COTERIE_API SoftKMeansOptions {
    int clusters = 8;
    std::optional<double> temperature = {};
    int restarts = 1;
    int max_iterations = 300;
    double tolerance = 1e-6;
    Seeding seeding = Seeding::automatic;
    std::optional<int> seeding_candidates = {};

    static const OptionSet& described();
};

/// options() are those of the fit. An automatic temperature is replaced by the value that was used.
class COTERIE_API SoftKMeansModel : public CentroidModelOf<SoftKMeansOptions> {
public:
    using CentroidModelOf::CentroidModelOf;

    std::string_view method() const override { return "soft-kmeans"; }
    /// Memberships: A. The largest entry is at the label, except for ties within rounding.
    OutputSet outputs() const override { return {Output::memberships, Output::distances}; }

    static SoftKMeansModel from(const Archive& archive);

protected:
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
};

/// n x d points, 1 <= clusters <= n. labels() is always predict(points): the nearest centroid, which has the largest
/// A_ij. An automatic temperature is 2 / d times the mean squared distance to the nearest centroid after at most 20
/// iterations of k-means from the same start. A cluster whose probabilities all underflow keeps its centroid.
/// If a cluster is nearest to no point, the result has a warning. With fewer distinct points than clusters, some
/// centroids coincide and share the probability of their points. At a high temperature all centroids coincide.
/// The report's details hold "temperature", "distortion" (sum_ij w_i A_ij D_ij) and "entropy" (mean, in nats).
/// Throws BadArgument (options, weights, shapes) and BadData (values).
struct COTERIE_API SoftKMeansMethod {
    using Options = SoftKMeansOptions;
    using Model = SoftKMeansModel;
    static constexpr std::string_view name = "soft-kmeans";
    static constexpr std::string_view summary =
        "k-means with a probability for each cluster; a temperature sets how soft the clusters are";
    static constexpr Takes takes = {
        .blocks = true, .sparse = true, .weights = true, .initial_centroids = true, .checkpoint = true};
    static constexpr About about = {
        .compare = {.most_rows = 100000}, .rule = LabelRule::nearest_centroid, .python = "SoftKMeans"};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<SoftKMeansMethod> fit_soft_kmeans{};

}  // namespace coterie
