#pragma once
// Constrained k-means with joint subspace selection (Hammal, Uthayasooriyar and Corro 2025). From a few labelled
// points and many unlabelled ones it learns a projection and the clusters jointly:
//
//     X     n x d  points
//     C     k x d  centroids, in the space of the points; phi(j) is the label of centroid j
//     U     d x p  projection; U = I in the first assignment
//     A     n x k  assignments, rows sum to 1; hard: one 1 per row
//     Z     n x k  1 where a centroid is allowed: those of its label for a labelled point
//     D_ij         || U'x_i - U'c_j ||^2
//     T            temperature (the paper: 1)
//
//     minimise  sum_ij A_ij D_ij + T sum_ij A_ij log A_ij   (hard: the first term only)
//     subject to  A <= Z,  low_g n <= sum_i sum_{j in g} A_ij <= high_g n  for the groups g that have a share,
//                 and U'S_w U = I  or  U'S_t U = I  (normalization; see discriminant.hpp)
//
// Rounds of A -> C -> U minimise it; each step is exact for the current values of the other two. A round costs n k (d +
// p) multiplications and the cost given in discriminant.hpp. Memory in addition to the points: a few numbers per point
// (soft: k, or 2 k), k d^2 / 2 with OAS, a few d^2.
//
// Random numbers are drawn only if there are clusters without labels. Without any labels this is discriminative k-means
// (LDA-k-means: Ding and Li 2007), seeded by k-means++.

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/model/method.hpp"
#include "coterie/model/restarts.hpp"

namespace coterie {

enum class Assignment { hard, soft };
enum class Projection {
    joint,  // U is computed after every round
    none    // U = I in every round: constrained k-means
};
enum class SubspaceNormalization {
    within,  // U' S_w U = I: every direction has variance 1 within clusters
    total    // U' S_t U = I: every direction has total variance 1
};
enum class SoftSolver { newton, bregman };

struct COTERIE_API SubspaceOptions {
    std::optional<int> clusters = {};  // k; automatic: the number of clusters of the labels
    Assignment assignment = Assignment::hard;
    double temperature = 1.0;
    Projection projection = Projection::joint;
    std::optional<int> subspace_dim = {};  // p; automatic: min(k - 1, d)
    SubspaceNormalization normalization = SubspaceNormalization::within;
    std::string shrinkage = "oas";  // "oas", "none" or a number from 0 to 1
    int max_iterations = 10;        // rounds
    int passes = 1;                 // number of A -> C steps per round
    double tolerance = 1e-6;
    SoftSolver soft_solver = SoftSolver::newton;
    std::optional<int> bregman_rounds = {};
    ShareRounding share_rounding = ShareRounding::floor;
    int restarts = 1;  // the fit with the smallest SubspaceModel::restart_criterion() is kept

    static const OptionSet& described();
};

class COTERIE_API SubspaceModel : public ModelOf<SubspaceOptions> {
public:
    SubspaceModel(Matrix<double> prototypes, Matrix<double> directions, Vector<double> origin,
                  ClusterLabels cluster_labels, Labels labels, FitReport report, const SubspaceOptions& options);

    std::string_view method() const override { return "subspace"; }
    Index dimensions() const override { return prototypes_.cols(); }
    int clusters() const override { return static_cast<int>(prototypes_.rows()); }

    /// The mean within-share of the fit's directions: variance within clusters divided by total variance. Without a
    /// projection, it is the objective. With a projection, the objective says little: normalization=within makes the
    /// variance within clusters 1 in every direction, whatever the clusters.
    double restart_criterion() const;
    /// C, k x d: the centroids.
    const Matrix<double>& prototypes() const { return prototypes_; }
    /// U', p x d, by ascending within-share; 0 x 0 if U = I.
    const Matrix<double>& directions() const { return directions_; }

    /// Embedding: U'(x - m), m the mean of the training points; if U = I: x - m. Distances: || U'x - U'c_j ||.
    /// Label scores: -1/2 min_j || U'x - U'c_j ||^2 over the centroids j of each label, the weight of a label in the
    /// paper's equation 2.
    OutputSet outputs() const override {
        return cluster_labels_.empty() ? OutputSet{Output::embedding, Output::distances}
                                       : OutputSet{Output::embedding, Output::distances, Output::label_scores};
    }

    static SubspaceModel from(const Archive& archive);

protected:
    /// argmin_j || U'x - U'c_j ||^2 with the last U; ties go to the lowest j. predict ignores the constraints; labels()
    /// are those of the last assignment, which meets the constraints.
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;

    void parts(Parts& parts) override;

private:
    SubspaceModel() = default;
    Matrix<double> embed(PointsView points, const Run& run) const;
    Matrix<double> scores_of_labels(PointsView points, const Run& run) const;

    Matrix<double> prototypes_;
    Matrix<double> directions_;
    Vector<double> origin_;
};

/// n x d points. With partial labels, k is at least the number of clusters of all labels; further clusters are free.
/// Without partial labels, k must be given. An empty cluster keeps its centroid, with a warning.
/// Throws BadArgument (options; labels; shares that cannot be met, with the possible interval) and BadData (values; a
/// label with fewer labelled points than clusters).
/// The report's details hold the labels' sizes, shares and multipliers, the within-shares of the directions,
/// shrinkages, floors and ranks, and with OAS the arithmetic of the clusters' covariances.
struct COTERIE_API SubspaceMethod {
    using Options = SubspaceOptions;
    using Model = SubspaceModel;
    static constexpr std::string_view name = "subspace";
    static constexpr std::string_view summary =
        "constrained k-means with joint subspace selection: uses a few labels and label shares, and learns a "
        "projection";
    static constexpr Takes takes = {.blocks = true,
                                    .initial_centroids = true,
                                    .labels = true,
                                    .shares = Shares::interval,
                                    .sizes = true,
                                    .pairs = true,
                                    .checkpoint = true};
    static constexpr About about = {.compare = {.most_rows = 50000, .most_columns = 1000},
                                    .rule = LabelRule::nearest_in_subspace};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
    static double restart_criterion(const Model& model) { return model.restart_criterion(); }
};
inline constexpr RestartedFit<SubspaceMethod> fit_subspace{};

}  // namespace coterie
