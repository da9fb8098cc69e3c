#pragma once
// IMSAT (Hu, Miyato, Tokui, Matsumoto and Sugiyama 2017) and IIC (Ji, Henriques and Vedaldi 2019). The notation is that
// of classifier.hpp. For the N points of a batch, sigma are the predictions of the first views, tau those of the second
// views, Q = 1/N sum_i sigma_i tau_i', P = (Q + Q') / 2, and p the row sums of P:
//
//     imsat   mean H(sigma_i) + fairness KL(sigmabar || u) + augmentation_weight mean KL(sigma_i || tau_i)
//             The first view is the point itself. sigma_i is constant in the last term, which only moves tau_i. The
//             second view is changed at random (view=augmented) or adversarial: x + e_i g / ||g||. g is the gradient of
//             KL(sigma_i || tau_i) at a random point at distance e_i from x. e_i is adversarial_radius times the
//             distance to the tenth nearest neighbour (virtual adversarial training)
//     iic     -sum_ab P_ab ln(P_ab / (p_a p_b)), with views as in entropy_net.hpp

#include "coterie/deep/classifier.hpp"

namespace coterie {

enum class ImsatView { automatic, adversarial, augmented };

struct COTERIE_API ImsatOptions : ClassifierOptions {
    double fairness = 4;
    double augmentation_weight = 10;
    std::vector<double> prior = {};         // k shares; empty: uniform
    ImsatView view = ImsatView::automatic;  // automatic: augmented for images, adversarial for vectors
    double adversarial_radius = 0.25;

    static constexpr std::string_view method = "imsat";
    static const OptionSet& described();
};
struct COTERIE_API IicOptions : ClassifierOptions {
    int augmentations = 1;  // 1 or 2

    static constexpr std::string_view method = "iic";
    static const OptionSet& described();
};
using ImsatModel = ModelWith<ClassifierModel, ImsatOptions>;
using IicModel = ModelWith<ClassifierModel, IicOptions>;

/// Like fit_entropy_net. Adversarial views need the nearest neighbours of all points (n^2 d operations) at the start,
/// and a second pass through the network for every batch.
struct COTERIE_API ImsatMethod : internal::ClassifierMethod<ImsatOptions> {
    static constexpr std::string_view summary =
        "IMSAT: maximises the mutual information of rows and clusters; small changes of a row keep its prediction "
        "(LibTorch)";
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
struct COTERIE_API IicMethod : internal::ClassifierMethod<IicOptions> {
    static constexpr std::string_view summary =
        "IIC: maximises the mutual information of the clusters of two views (LibTorch)";
    static constexpr Takes takes = {.blocks = true, .labels = true, .device = true, .checkpoint = true};
    static constexpr About about = {.compare = {.why_not = "it trains a network"}, .baseline = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr RestartedFit<ImsatMethod> fit_imsat{};
inline constexpr RestartedFit<IicMethod> fit_iic{};

}  // namespace coterie
