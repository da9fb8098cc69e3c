#pragma once
// DEKM: deep embedded k-means (Guo, Lin and Ye 2021). f is the encoder of a pre-trained autoencoder:
//
//     H        n x p   f(X)
//     mu_i     p       means of the k clusters that k-means finds in H
//     S_w      p x p   sum_i sum_{h in C_i} (h - mu_i)(h - mu_i)'
//     V        p x p   rows: eigenvectors of S_w, eigenvalues ascending
//     y, m_i           V h, V mu_i
//     y'               y, with its last coordinate replaced by that of m_i. Clusters are widest in this direction
//
//     minimise  mean over a batch and the p coordinates of (V f(x) - y')^2   over f, with V and y' fixed
//
// by Adam, over batches in a random order of the points that is drawn once. After every update_interval batches, an
// update computes H, the clusters, V and y' again. The fit ends when the share of points that change cluster in an
// update is below `tolerance`. Clusters are matched before this is counted.
//
// In an update, k-means starts from the means of the last labels. A few fresh starts compete with this start.

#include "coterie/deep/autoencoder.hpp"

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
using DekmModel = ModelWith<DeepModel, DekmOptions>;

/// Like fit_ae_kmeans. The report's objective is the inertia in the embedding after each update. Further details:
/// "changed_per_update" (shares), "balance_per_update" (entropy of the cluster sizes divided by ln k),
/// "loss_per_update" (mean over the batches), "warm_starts" (number of updates in which no fresh start was better than
/// k-means from the last labels). The model is that of the last update whose balance was at least half of that of the
/// first update. If it is not from the last update, there is a warning.
struct COTERIE_API DekmMethod : internal::AutoencoderMethod<DekmOptions> {
    static constexpr std::string_view summary =
        "deep embedded k-means: trains an encoder to shrink clusters along their widest direction (LibTorch)";
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<DekmMethod> fit_dekm{};

}  // namespace coterie
