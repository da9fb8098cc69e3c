#pragma once
// DEKM's rivals, from the same pre-trained autoencoder: DEC (Xie, Girshick and Farhadi 2016), IDEC (Guo, Gao, Liu and
// Yin 2017) and DCN (Yang, Fu, Sidiropoulos and Hong 2017). With z_i = f(x_i) and centroids m_j, k x p:
//
//     q_ij = (1 + ||z_i - m_j||^2)^-1, rows scaled to sum 1
//     p_ij = q_ij^2 / sum_i q_ij, rows scaled to sum 1; made of all points at an update, fixed until the next
//
//     dec    minimise  mean_i KL(p_i || q_i)                                        over f and m, SGD with momentum 0.9
//     idec   minimise  gamma mean_i KL(p_i || q_i) + mean squared reconstruction    over f, g and m, Adam
//     dcn    minimise  mean_i (||g(z_i) - x_i||^2 + (distortion / 2) ||z_i - m_{a_i}||^2) / d over f and g, Adam; a_i
//            the nearest centroid when its batch comes, which then takes the step m <- m - (m - z_i) / count of its
//            points so far. Both squares are sums, as in the paper; the whole is divided by d as idec's is
//
// Centroids start as k-means finds them. Labels are the most probable or nearest cluster; dec, idec and dcn end as DEKM
// does.

#include "coterie/deep/autoencoder.hpp"

namespace coterie {

struct DecOptions : AlternatingOptions {
    DecOptions() { learning_rate = 0.01; }

    static constexpr std::string_view method = "dec";
    static const OptionSet& described();
};
struct IdecOptions : AlternatingOptions {
    double gamma = 0.1;

    static constexpr std::string_view method = "idec";
    static const OptionSet& described();
};
struct DcnOptions : AlternatingOptions {
    double distortion = 0.05;

    static constexpr std::string_view method = "dcn";
    static const OptionSet& described();
};
using DecModel = DeepModelOf<DecOptions>;
using IdecModel = DeepModelOf<IdecOptions>;
using DcnModel = DeepModelOf<DcnOptions>;

/// As fit_dekm. The report's objective is the mean KL(p_i || q_i) of each update (dec, idec), or the inertia (dcn).
DecModel fit_dec(PointsView points, const DecOptions& options, Run& run, const SideInformation& side = {});
IdecModel fit_idec(PointsView points, const IdecOptions& options, Run& run, const SideInformation& side = {});
DcnModel fit_dcn(PointsView points, const DcnOptions& options, Run& run, const SideInformation& side = {});

}  // namespace coterie
