#pragma once
// AML: adaptive metric learning (Ye, Zhao and Liu 2007). With an RBF kernel it is NAML, the nonlinear form (Chen, Zhao,
// Ye and Liu 2007). It learns a metric and the clusters jointly:
//
//     X       n x q   points (rows) minus their mean; in the kernel form their kernel principal components
//     L       n x k   scaled cluster indicator: 1 / sqrt(n_c) on the members of c (no column for an empty cluster)
//     W       q x p   directions of the metric, W'(X'X + lambda I) W = I
//
//     maximise  T = tr( (W'(X'X + lambda I) W)^-1 W'X' L L' X W )       minimise  J = k - T >= 0
//
// A round has two steps. W: the leading eigenvectors of  X' L L' X w = theta (X'X + lambda I) w.  L: k-means on the
// rows of X W from the last means (the paper's kernel k-means with the kernel X W W'X'). J never rises. With the
// largest possible p = k - 1, T = tr(L' K (K + lambda I)^-1 L), K = X X'.
//
// Cost: n q^2 + q^3 once, n r k per round, r the rank of X. Memory n (q + r).

#include "coterie/base/export.hpp"
#include "coterie/deformation/projected_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

struct COTERIE_API AmlOptions : SpaceOptions {
    int clusters = 8;
    std::optional<double> lambda = {};   // automatic: lambda_rel tr(X'X) / q
    double lambda_rel = 0.1;             // in units of the mean eigenvalue of X'X
    std::optional<int> dimensions = {};  // p; automatic: k - 1
    int restarts = 10;
    int max_iterations = 100;
    double tolerance = 0.0;

    static const OptionSet& described();
};

class COTERIE_API AmlModel : public ProjectedModelOf<AmlOptions> {
public:
    std::string_view method() const override { return "aml"; }
    static AmlModel from(const Archive& archive) { return AmlModel(archive); }

private:
    AmlModel() = default;
    explicit AmlModel(const Archive& archive) : ProjectedModelOf(archive) {}
    friend class AmlFits;
};

/// Several fits of the same points. Each has the same bits as a single fit. Consecutive fits in the same space share
/// the space and its k-means start. Safe to call from several threads.
class COTERIE_API AmlFits : public internal::SpaceFits {
public:
    AmlFits(const Problem& problem, const Run& run) : SpaceFits("aml", problem, run) {}
    AmlModel fit(const AmlOptions& options) const;
};

/// n x d points, 1 <= clusters <= n, dimensions at most k - 1 and at most the rank of X. Starts from k-means (k-means++
/// with restarts), or from problem.initial_centroids (k x d). labels() is always predict(points).
/// Throws BadArgument (options, more clusters than points), BadData (values, all points equal), ResourceError (kernel
/// form), and Cancelled before the first round is complete.
/// The report's objective is J. Its details: "lambda", "kernel_width", "components", "rank" (r), "dimensions" (p),
/// "trace" (T of the last round).
struct COTERIE_API AmlMethod {
    using Options = AmlOptions;
    using Model = AmlModel;
    using Fits = AmlFits;
    static constexpr std::string_view name = "aml";
    static constexpr std::string_view summary =
        "adaptive metric learning: learns a linear metric and the clusters jointly, linear or kernel";
    static constexpr Takes takes = {.initial_centroids = true};
    static constexpr About about = {.compare = {.why_not = "its options must be chosen for the data"},
                                    .rule = LabelRule::nearest_projected,
                                    .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run) {
        return Fits(problem, run).fit(options);
    }
};
inline constexpr Fit<AmlMethod> fit_aml{};

}  // namespace coterie
