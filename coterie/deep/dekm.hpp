#pragma once
// DEKM: deep embedded k-means (Guo, Lin and Ye 2021). From a pre-trained autoencoder's encoder f:
//
//     H        n x p   f(X)
//     mu_i     p       means of the k clusters that k-means finds in H
//     S_w      p x p   sum_i sum_{h in C_i} (h - mu_i)(h - mu_i)'
//     V        p x p   rows: eigenvectors of S_w, eigenvalues ascending
//     y, m_i           V h, V mu_i
//     y'               y, with its last coordinate from m_i: the direction in which the clusters are widest
//
//     minimise  mean over a batch and the p coordinates of (V f(x) - y')^2   through f, V and y' fixed
//
// by Adam, over batches in a random order of the points that is drawn once. After every update_interval batches H, the
// clusters, V and y' are computed again. It ends when the share of points that changed cluster is below `tolerance`
// (clusters matched).
//
// The k-means of an update starts from the means of the last labels; a few fresh starts compete with it.

#include "coterie/base/export.hpp"
#include "coterie/deep/autoencoder.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

enum class DekmMove { last, all };
enum class DekmUpdate { batch, full };

struct COTERIE_API DekmOptions : AlternatingOptions {
    DekmOptions() {
        update_interval = std::nullopt;  // 40 for convolutional networks, 10 for dense ones
        tolerance = 0.005;
    }
    int update_restarts = 2;
    DekmMove move = DekmMove::last;         // all: every coordinate of y' comes from m_i
    DekmUpdate update = DekmUpdate::batch;  // full: one step per pass over all points

    static constexpr std::string_view method = "dekm";
    static const OptionSet& described();
};
using DekmModel = DeepModelOf<DekmOptions>;

/// As fit_ae_kmeans. The report's objective is the inertia in the embedding after each update. Further details:
/// "changed_per_update" (shares), "balance_per_update" (entropy of the clusters' sizes over ln k), "loss_per_update"
/// (mean of the batches), "warm_starts" (updates in which no fresh start beat k-means from the last labels). The model
/// is that of the last update whose balance was at least half of the first one's. A warning says if that is not the
/// last update.
struct COTERIE_API DekmMethod {
    using Options = DekmOptions;
    using Model = DekmModel;
    static constexpr std::string_view name = "dekm";
    static constexpr std::string_view summary =
        "deep embedded k-means: trains an encoder to shrink clusters along their widest direction (LibTorch)";
    static constexpr Takes takes = {.blocks = true, .device = true, .checkpoint = true};
    static constexpr About about = {.compare = {.why_not = "it trains a network"}};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<DekmMethod> fit_dekm{};

}  // namespace coterie
