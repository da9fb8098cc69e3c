#pragma once
// Kernel k-means (Schoelkopf, Smola and Mueller 1998; Dhillon, Guan and Kulis 2004): k-means of the images phi(x_i) in
// the feature space of a kernel k(x, y) = phi(x) . phi(y). Only the n x n matrix K_ij = k(x_i, x_j) is ever computed.
// The labels a_i minimise
//
//     sum_i w_i || phi(x_i) - mu_{a_i} ||^2  =  sum_i w_i K_ii  -  sum_j Q_j / W_j
//     W_j = sum_{i in j} w_i,   S_ij = sum_{l in j} w_l K_il,   Q_j = sum_{i in j} w_i S_ij,
//     || phi(x_i) - mu_j ||^2 = K_ii - 2 S_ij / W_j + Q_j / W_j^2
//
//     rbf          k(x, y) = exp(-|| x - y ||^2 / (2 width^2))
//     polynomial   k(x, y) = (gamma x . y + constant)^degree
//     linear       k(x, y) = x . y, about the mean of the points (the partition is that of k-means)
//     precomputed  the points are K itself, n x n
//
// Memory: n^2 numbers in the scalar type of the points; the fit throws ResourceError before it starts if they exceed
// the memory limit. Time: n^2 d once, n^2 per iteration.

#include <optional>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

enum class KernelFunction { rbf, polynomial, linear, precomputed };

struct COTERIE_API KernelKMeansOptions {
    int clusters = 8;
    KernelFunction kernel = KernelFunction::rbf;
    std::optional<double> width = {};
    std::optional<double> gamma = {};
    double constant = 1;
    int degree = 3;
    int restarts = 1;
    int max_iterations = 300;
    double tolerance = 0;
    std::optional<int> seeding_candidates = {};

    static const OptionSet& described();
};

class COTERIE_API KernelKMeansModel : public ModelOf<KernelKMeansOptions> {
public:
    std::string_view method() const override { return "kernel-kmeans"; }
    /// d; for a precomputed kernel n: predict then takes rows k(x, x_1) .. k(x, x_n).
    Index dimensions() const override { return dimensions_; }
    int clusters() const override { return options_.clusters; }
    static KernelKMeansModel from(const Archive& archive) {
        KernelKMeansModel model;
        model.read(archive);
        return model;
    }

protected:
    Labels predict_checked(PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

private:
    friend struct KernelKMeansMethod;

    Index dimensions_ = 0;
    Points centroids_;                   // linear: k x d; the other members are then empty
    Points points_;                      // rbf, polynomial: the m training rows of positive weight
    std::vector<double> origin_;         // d: subtracted from every row first
    std::vector<std::int32_t> members_;  // m: the cluster of each row (precomputed: n entries, -1 where the weight is
                                         // 0)
    std::vector<double> weights_;        // one per entry of members_; empty: 1 each
    std::vector<double> mass_;           // k: W_j, 0 for an empty cluster
    std::vector<double> self_;           // k: Q_j / W_j^2
};

/// n x d points (precomputed: the symmetric n x n kernel matrix), 1 <= clusters <= n. The start is greedy k-means++ in
/// feature space, or problem.initial_centroids (k x d; not with a precomputed kernel). Weight w acts as w copies.
/// The objective never rises. An iteration that would not lower it is rejected. This can happen by rounding, or if the
/// matrix is not positive semidefinite.
/// An empty cluster gets the point that adds most to the objective. If there are fewer distinct points than clusters,
/// the surplus clusters stay empty and get the last numbers, with a warning.
/// Throws BadArgument (options, weights, shapes), BadData (NaN, a matrix that is not symmetric, a kernel that
/// overflows), ResourceError.
struct COTERIE_API KernelKMeansMethod {
    using Options = KernelKMeansOptions;
    using Model = KernelKMeansModel;
    static constexpr std::string_view name = "kernel-kmeans";
    static constexpr std::string_view summary =
        "k-means in the feature space of a kernel: rbf, polynomial, linear or precomputed";
    static constexpr Takes takes = {.weights = true, .initial_centroids = true};
    static constexpr About about = {
        .compare = {.most_rows = 3000}, .rule = LabelRule::nearest_centroid, .python = "KernelKMeans"};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<KernelKMeansMethod> fit_kernel_kmeans{};

}  // namespace coterie
