#pragma once
// FME: flexible manifold embedding in its unsupervised form (Nie, Xu, Tsang and Zhang 2010), and k-means on the result.
// The embedding is smooth on the neighbour graph of the points, and linear in the points up to a penalised residual:
//
//     X   n x q   points (rows) minus their mean; in the kernel form their kernel principal components
//     L   n x n   normalised Laplacian I - D^-1/2 A D^-1/2 of the graph A = (B + B') / 2, B_ij = 1 when j is among the
//                 nearest neighbours of i, D_ii = sum_j A_ij
//     F   n x p   embedding;   W  q x p, b  p   the regression that approximates it, and maps new points to it
//
//     minimise  J = tr(F'LF) + mu ( || W ||^2 + gamma || XW + 1b' - F ||^2 ),   F'F = I,  F'1 = 0
//
// F'1 = 0 excludes the constant vector, which affects only the first term and separates no clusters (the paper also
// excludes it). Hence b = 0. The global minimum has a closed form:
//
//     W = (X'X + I / gamma)^-1 X'F
//     F: eigenvectors of the p smallest eigenvalues, among vectors orthogonal to 1, of
//        L + mu gamma (I - X (X'X + I / gamma)^-1 X'),       J = the sum of these eigenvalues
//
// Cost: n^2 q + n^3. Memory: 4 n^2 numbers.

#include "coterie/base/export.hpp"
#include "coterie/deformation/projected_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

enum class FmeLabels {
    regression,  // clusters are those of the rows of XW
    embedding    // clusters are those of the rows of F; new points get the cluster with the nearest mean of XW
};

struct COTERIE_API FmeOptions : SpaceOptions {
    int clusters = 8;
    std::optional<double> mu = {};     // automatic: mu_rel / gamma
    double mu_rel = 1.0;               // in units of 1 / gamma: the weight of the residual relative to the graph's term
    std::optional<double> gamma = {};  // automatic: gamma_rel q / tr(X'X)
    double gamma_rel = 1.0;            // in units of 1 / the mean eigenvalue of X'X
    int neighbors = 10;
    std::optional<int> dimensions = {};  // p; automatic: k - 1
    FmeLabels labels_from = FmeLabels::regression;
    int restarts = 10;

    static const OptionSet& described();
};

class COTERIE_API FmeModel : public ProjectedModelOf<FmeOptions> {
public:
    std::string_view method() const override { return "fme"; }
    /// F, n x p; empty after load.
    const Matrix<double>& embedding() const { return embedding_; }
    static FmeModel from(const Archive& archive) { return FmeModel(archive); }

private:
    FmeModel() = default;
    explicit FmeModel(const Archive& archive) : ProjectedModelOf(archive) {}
    friend class FmeFits;

    Matrix<double> embedding_;
};

/// Several fits of the same points. Each has the same bits as a single fit. Consecutive fits in the same space share
/// the space and its k-means start. Safe to call from several threads.
class COTERIE_API FmeFits : public internal::SpaceFits {
public:
    FmeFits(const Problem& problem, const Run& run) : SpaceFits("fme", problem, run) {}
    FmeModel fit(const FmeOptions& options) const;
};

/// n x d points, 1 <= clusters <= n, neighbors and dimensions at most n - 1. With problem.initial_centroids (k x d),
/// k-means starts from their images under the regression. labels() equals predict(points) with labels_from regression,
/// not with embedding.
/// Throws BadArgument (options, more clusters than points), BadData (values, all points equal), ResourceError,
/// Cancelled.
/// The report's objective is J, exact. Its details: "mu", "gamma", "kernel_width", "components", "dimensions" (p),
/// "cut" (tr F'LF), "residual" (|| XW - F ||^2 / p, from 0 to 1), "inertia" (of k-means).
struct COTERIE_API FmeMethod {
    using Options = FmeOptions;
    using Model = FmeModel;
    using Fits = FmeFits;
    static constexpr std::string_view name = "fme";
    static constexpr std::string_view summary =
        "flexible manifold embedding: embeds a neighbour graph and fits a regression to it, linear or kernel";
    static constexpr Takes takes = {.initial_centroids = true};
    static constexpr About about = {.compare = {.why_not = "its kernel's width must be chosen"},
                                    .rule = LabelRule::nearest_projected};
    static Model fit(const Problem& problem, const Options& options, const Run& run) {
        return Fits(problem, run).fit(options);
    }
};
inline constexpr Fit<FmeMethod> fit_fme{};

}  // namespace coterie
