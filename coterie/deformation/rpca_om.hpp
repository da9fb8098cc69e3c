#pragma once
// RPCA-OM: robust principal component analysis with optimal mean (Nie, Yuan and Huang 2014), and k-means in its
// subspace. Distances to the subspace are not squared, so outliers neither tilt nor shift it:
//
//     x_i  points (rows of X, n x q); in the kernel form their kernel principal components
//     U    q x p   orthonormal basis of the subspace
//     b    q       the optimal mean, a point of the subspace
//
//     minimise  J = sum_i || (I - UU')(x_i - b) ||                  (lengths r_i below e: (r_i^2 / e + e) / 2)
//
// by re-weighting: w_i = 1 / (2 max(r_i, e)), b is the weighted mean, U the leading eigenvectors of the weighted
// covariance. J never rises. e = 1e-8 r, r^2 = mean || x_i - mean ||^2. The start is principal component analysis.
// Clusters are those of k-means on the rows U'(x - b).
//
// Cost: n q^2 + q^3 per round. Memory 2 n q.

#include "coterie/base/export.hpp"
#include "coterie/deformation/projected_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

struct COTERIE_API RpcaOmOptions : SpaceOptions {
    int clusters = 8;
    std::optional<int> dimensions = {};  // p; automatic: k - 1, at most q
    int restarts = 10;
    int max_iterations = 100;
    double tolerance = 1e-6;

    static const OptionSet& described();
};

class COTERIE_API RpcaOmModel : public ProjectedModelOf<RpcaOmOptions> {
public:
    std::string_view method() const override { return "rpca-om"; }
    static RpcaOmModel from(const Archive& archive) { return RpcaOmModel(archive); }

private:
    RpcaOmModel() = default;
    explicit RpcaOmModel(const Archive& archive) : ProjectedModelOf(archive) {}
    friend class RpcaOmFits;
};

/// Several fits of the same points. Each has the same bits as a single fit. Consecutive fits in the same space share
/// the space and its k-means start. Safe to call from several threads.
class COTERIE_API RpcaOmFits : public internal::SpaceFits {
public:
    RpcaOmFits(const Problem& problem, const Run& run) : SpaceFits("rpca-om", problem, run) {}
    RpcaOmModel fit(const RpcaOmOptions& options) const;
};

/// n x d points, 1 <= clusters <= n, dimensions at most q. With dimensions = q, the subspace is the whole space, and
/// the clusters are those of k-means. k-means starts from problem.initial_centroids (k x d), if given. labels() is
/// always predict(points).
/// Throws BadArgument (options, more clusters than points), BadData (values, all points equal), ResourceError (kernel
/// form), and Cancelled before the first round is complete.
/// The report's objective is J. Its details: "kernel_width", "components", "dimensions" (p), "lost_share" (sum r_i^2
/// over sum || x_i - b ||^2), "inertia" (of k-means, in the subspace).
struct COTERIE_API RpcaOmMethod {
    using Options = RpcaOmOptions;
    using Model = RpcaOmModel;
    using Fits = RpcaOmFits;
    static constexpr std::string_view name = "rpca-om";
    static constexpr std::string_view summary =
        "robust PCA with optimal mean, then k-means in its subspace, linear or kernel";
    static constexpr Takes takes = {.initial_centroids = true};
    static constexpr About about = {.compare = {.why_not = "its options must be chosen for the data"},
                                    .rule = LabelRule::nearest_projected,
                                    .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run) {
        return Fits(problem, run).fit(options);
    }
};
inline constexpr Fit<RpcaOmMethod> fit_rpca_om{};

}  // namespace coterie
