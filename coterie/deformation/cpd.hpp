#pragma once
// CPD-UML: unsupervised metric learning by a smooth deformation (anonymous, under review at ICLR 2018). A smooth motion
// of the points makes k clusters as compact as possible:
//
//     X  n x d   points (rows) minus their mean; in the kernel form their kernel principal components
//     G  n x n   G_ij = exp(-|| x_i - x_j ||^2 / (2 sigma^2))
//     P  n x d   coefficients of the motion (the paper's Psi'); a point x moves by G(x, X) P
//     Z  n x d   moved points, X + G P
//     Y  n x c   orthonormal: scaled cluster indicators Y_c = 1 / sqrt(n_c) on the members of cluster c (discrete),
//                or the leading left singular vectors of Z (relaxed)
//
//     minimise  J = || Z ||^2 - || Y'Z ||^2 + lambda || P ||^2          (equation 11)
//
// Rounds compute Y, then P (equation 20: the global minimum for that Y). J never rises for relaxed Y, nor for discrete
// Y from the moved points, where || Z ||^2 - || Y'Z ||^2 is the inertia of the clusters. With clusters from the
// embedding, J may rise, as in the paper's own procedure. Values of J for different lambda or k are not comparable.
//
// Cost: n^3 once (the eigenvectors of G; n r^2 if its numerical rank r is low), then n k (r + d) per round. Memory: 4
// n^2 numbers. Above 20,000 points, or if `landmarks` is set, G is its Nystroem form with m landmarks: cost n m^2,
// memory 4 n m.

#include <memory>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/deformation/point_space.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

namespace deformation::internal {
class SmoothMotion;
}

enum class CpdIndicator { discrete, relaxed };
enum class CpdLabels {
    moved,     // clusters are those of the moved points
    embedding  // clusters are those of the rows of the relaxed Y, y(x) = Sigma^-1 V'(x + G(x, X) P)
};

enum class CpdOrigin {
    mean,  // the mean is subtracted from the points; the relaxed indicator has k - 1 vectors
    zero   // the points are unchanged; k vectors, as in the paper
};

struct COTERIE_API CpdOptions : SpaceOptions {
    int clusters = 8;
    std::optional<double> lambda = {};  // automatic: lambda_rel n^2
    double lambda_rel = 0.0025;         // in units of n^2
    std::optional<double> sigma = {};   // automatic: sigma_rel r
    double sigma_rel = 1.05;            // in units of r = sqrt(mean || x_i - mean ||^2)
    CpdIndicator indicator = CpdIndicator::discrete;
    CpdLabels labels_from = CpdLabels::moved;
    CpdOrigin origin = CpdOrigin::mean;
    double damping = 0.0;
    int damped_rounds = 60;
    std::optional<int> assignments_per_round = {};
    int restarts = 10;
    int max_iterations = 100;
    double tolerance = 1e-6;

    static const OptionSet& described();
};

class COTERIE_API CpdModel : public ModelOf<CpdOptions> {
public:
    std::string_view method() const override { return "cpd"; }
    Index dimensions() const override { return space_->input_dimensions(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }

    /// Embedding: moved points x + G(x, X) P, in the columns of the space; with labels_from embedding: y(x). Distances:
    /// to the centroids in the embedding.
    OutputSet outputs() const override { return {Output::embedding, Output::distances}; }

    static CpdModel from(const Archive& archive) {
        CpdModel model;
        model.read(archive);
        return model;
    }

protected:
    /// The nearest centroid in the embedding; ties go to the lowest.
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

private:
    Matrix<double> embed(PointsView points, const Run& run) const;

    friend class CpdFits;
    // Moves new points. P is computed on first use: it costs n r d, and few of the fits of a grid need it.
    struct Movement;

    std::shared_ptr<const PointSpace> space_;
    std::shared_ptr<Movement> movement_;
    Matrix<double> embedding_;  // V Sigma^-1, d x c; empty: moved points
    Matrix<double> centroids_;  // k x d or k x c
};

/// Several fits of the same points, with the bits of single fits. Consecutive fits share the space, the k-means start
/// and the decomposition for sigma if the options for them are equal. Safe to call from several threads. The problem
/// and the run must outlive this object.
class COTERIE_API CpdFits : public internal::SpaceFits {
public:
    CpdFits(const Problem& problem, const Run& run) : SpaceFits("cpd", problem, run) {}
    CpdModel fit(const CpdOptions& options) const;
    /// Options whose change discards shared work, the most expensive first.
    static std::vector<std::string> shared_options() {
        return {"kernel", "kernel_width", "components", "landmarks", "origin",
                "sigma",  "sigma_rel",    "clusters",   "restarts"};
    }

private:
    struct MotionOf {
        std::shared_ptr<const Matrix<double>> points;
        double sigma;
        Index landmarks;
        bool operator==(const MotionOf&) const = default;
    };
    Memo<MotionOf, deformation::internal::SmoothMotion> motion_;
};

/// n x d points, 1 <= clusters <= n. Starts from k-means (k-means++ with restarts), or from problem.initial_centroids
/// (k x d; the kernel form starts from the clusters of the points nearest to them).
/// Throws BadArgument (options, more clusters than points), BadData (values), ResourceError (memory of the order n^2),
/// and Cancelled before the first round is complete.
/// The report's details:
/// - "lambda", "sigma", "kernel_width", "components", "rank" (of G);
/// - "landmarks", and "kernel_residual" (the largest error of a kernel value k(x, x) = 1 due to landmarks);
/// - "moved" (|| G P || / || X ||);
/// - "within_share_before", "within_share": scatter within the clusters divided by total scatter, before and after the
///   move. They do not depend on the scale, so different lambda can be compared.
struct COTERIE_API CpdMethod {
    using Options = CpdOptions;
    using Model = CpdModel;
    using Fits = CpdFits;
    static constexpr std::string_view name = "cpd";
    static constexpr std::string_view summary =
        "CPD-UML: deforms the space smoothly so that clusters become compact, linear or kernel";
    static constexpr Takes takes = {.initial_centroids = true};
    static constexpr About about = {.compare = {.why_not = "its options must be chosen for the data"}};
    static Model fit(const Problem& problem, const Options& options, const Run& run) {
        return Fits(problem, run).fit(options);
    }
};
inline constexpr Fit<CpdMethod> fit_cpd{};

}  // namespace coterie
