#pragma once
// IMSAT (Hu, Miyato, Tokui, Matsumoto and Sugiyama 2017) and IIC (Ji, Henriques and Vedaldi 2019). Notation of
// classifier.hpp; sigma of the first views, tau of the second, Q = 1/N sum_i sigma_i tau_i', P = (Q + Q') / 2, p its
// row sums, over the N points of a batch:
//
//     imsat   mean H(sigma_i) + fairness KL(sigmabar || u) + augmentation_weight mean KL(sigma_i || tau_i)
//             the first view is the point itself, and in the last term as it is: only tau is moved;
//             the second one changed at random (view augmented) or adversarial: x + e_i g / ||g||, where g is the
//             gradient of KL(sigma_i || tau_i) at a random place of distance e_i from x, and e_i adversarial_radius
//             times the distance from the tenth nearest neighbour (virtual adversarial training)
//     iic     -sum_ab P_ab ln(P_ab / (p_a p_b)), the views as those of entropy_net.hpp

#include "coterie/base/export.hpp"
#include "coterie/deep/classifier.hpp"
#include "coterie/model/method.hpp"
#include "coterie/model/restarts.hpp"

namespace coterie {

enum class ImsatView { automatic, adversarial, augmented };

struct COTERIE_API ImsatOptions : ClassifierOptions {
    double fairness = 4;
    double augmentation_weight = 10;
    std::vector<double> prior = {};         // k shares; empty: uniform
    ImsatView view = ImsatView::automatic;  // augmented for images, adversarial for vectors
    double adversarial_radius = 0.25;

    static constexpr std::string_view method = "imsat";
    static const OptionSet& described();
};
struct COTERIE_API IicOptions : ClassifierOptions {
    int augmentations = 1;  // 1 or 2

    static constexpr std::string_view method = "iic";
    static const OptionSet& described();
};
using ImsatModel = ClassifierModelOf<ImsatOptions>;
using IicModel = ClassifierModelOf<IicOptions>;

/// As fit_entropy_net. Adversarial views need all points' nearest neighbours first (n^2 d operations), and a second
/// pass through the network for every batch.
struct COTERIE_API ImsatMethod {
    using Options = ImsatOptions;
    using Model = ImsatModel;
    static constexpr std::string_view name = "imsat";
    static constexpr std::string_view summary =
        "IMSAT: mutual information and predictions that augmentation leaves alone (LibTorch)";
    static constexpr Takes takes = {
        .blocks = true, .labels = true, .shares = Shares::number, .device = true, .checkpoint = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
    static double restart_criterion(const Model& model) { return model.restart_criterion(); }
};
inline constexpr RestartedFit<ImsatMethod> fit_imsat{};
struct COTERIE_API IicMethod {
    using Options = IicOptions;
    using Model = IicModel;
    static constexpr std::string_view name = "iic";
    static constexpr std::string_view summary = "IIC: mutual information of the clusters of two views (LibTorch)";
    static constexpr Takes takes = {.blocks = true, .labels = true, .device = true, .checkpoint = true};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
    static double restart_criterion(const Model& model) { return model.restart_criterion(); }
};
inline constexpr RestartedFit<IicMethod> fit_iic{};

}  // namespace coterie
