#pragma once
// DEKM's baselines, from the same pre-trained autoencoder: DEC (Xie, Girshick and Farhadi 2016), IDEC (Guo, Gao, Liu
// and Yin 2017) and DCN (Yang, Fu, Sidiropoulos and Hong 2017). With z_i = f(x_i) and centroids m_j, k x p:
//
//     q_ij = (1 + ||z_i - m_j||^2)^-1, rows scaled to sum 1
//     p_ij = q_ij^2 / sum_i q_ij, rows scaled to sum 1; computed from all points at every update
//
//     dec    minimise  mean_i KL(p_i || q_i)                                        over f and m, SGD with momentum 0.9
//     idec   minimise  gamma mean_i KL(p_i || q_i) + mean squared reconstruction    over f, g and m, Adam
//     dcn    minimise  mean_i (||g(z_i) - x_i||^2 + (distortion / 2) ||z_i - m_{a_i}||^2) / d over f and g, Adam.
//            a_i is the nearest centroid when the batch is computed. This centroid then takes the step m <- m - (m -
//            z_i) / count of its points so far. Squared norms are sums, as in the paper; d is as in idec
//
// Centroids start at the result of k-means. The label of a point is the most probable cluster (dec, idec) or the
// nearest one (dcn). dec, idec and dcn stop in the same way as DEKM.

#include "coterie/deep/autoencoder.hpp"

namespace coterie {

struct COTERIE_API DecOptions : AlternatingOptions {
    DecOptions() { learning_rate = 0.01; }

    static constexpr std::string_view method = "dec";
    static const OptionSet& described();
};
struct COTERIE_API IdecOptions : AlternatingOptions {
    double gamma = 0.1;

    static constexpr std::string_view method = "idec";
    static const OptionSet& described();
};
struct COTERIE_API DcnOptions : AlternatingOptions {
    double distortion = 0.05;

    static constexpr std::string_view method = "dcn";
    static const OptionSet& described();
};
using DecModel = ModelWith<DeepModel, DecOptions>;
using IdecModel = ModelWith<DeepModel, IdecOptions>;
using DcnModel = ModelWith<DeepModel, DcnOptions>;

/// Like fit_dekm, but the report's objective is the mean KL(p_i || q_i) per update (dec, idec), or the inertia (dcn).
struct COTERIE_API DecMethod : internal::RestartedAutoencoderMethod<DecOptions> {
    static constexpr std::string_view summary =
        "deep embedded clustering: trains an encoder towards sharpened versions of its soft assignments (LibTorch)";
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API IdecMethod : internal::RestartedAutoencoderMethod<IdecOptions> {
    static constexpr std::string_view summary =
        "DEC that also trains the autoencoder to reconstruct the rows (LibTorch)";
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API DcnMethod : internal::RestartedAutoencoderMethod<DcnOptions> {
    static constexpr std::string_view summary =
        "deep clustering network: minimises reconstruction errors and distances to centroids (LibTorch)";
    static constexpr About about = {.compare = {.why_not = "it trains a network"}, .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr RestartedFit<DecMethod> fit_dec{};
inline constexpr RestartedFit<IdecMethod> fit_idec{};
inline constexpr RestartedFit<DcnMethod> fit_dcn{};

}  // namespace coterie
