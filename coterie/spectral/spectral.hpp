#pragma once
// Spectral clustering of points: the affinities A of a graph of neighbours or of all pairs (graph.hpp), the embedding U
// by the first k eigenvectors of its normalised Laplacian, and k-means in U (affinity_clusters.hpp).
//
// The Nystrom extension (Bengio et al. 2004) embeds new points. With a(x, j) the affinity of x to training point j, by
// the rule for A,
//
//     u_p(x) = 1 / (1 - lambda_p) sum_j a(x, j) V_jp / sqrt(D_jj),   scaled to norm 1,
//
// and x gets the label of the nearest centroid. The neighbours of x are its k nearest training points. The neighbours
// of these points are not updated, so u(x) differs a little from a fit that includes x. For this reason, a point equal
// to a training point (the first, if there are duplicates) simply gets that point's row of U and its label. If x is far
// from all points, only ratios of affinities matter, so no affinity underflows. A row of 0 (all neighbours unreached,
// or a precomputed row of 0) gets the label of the unreached training points.

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/model/method.hpp"
#include "coterie/spectral/affinity_clusters.hpp"
#include "coterie/spectral/graph.hpp"

namespace coterie {

enum class Affinity { neighbors, rbf, precomputed };

struct COTERIE_API SpectralOptions {
    int clusters = 8;
    Affinity affinity = Affinity::neighbors;
    int neighbors = 15;
    EdgeWeights edge_weights = EdgeWeights::connectivity;
    Symmetry symmetry = Symmetry::mean;
    std::optional<double> width = {};
    int restarts = 10;
    int max_iterations = 300;

    static const OptionSet& described();
};

/// options(): neighbours above n - 1 are replaced by the number used.
class COTERIE_API SpectralModel : public ModelOf<SpectralOptions> {
public:
    std::string_view method() const override { return "spectral"; }
    /// d. For precomputed affinities n: predict and output then take rows a(x, 1) .. a(x, n).
    Index dimensions() const override { return dimensions_; }
    int clusters() const override { return options_.clusters; }

    /// Embedding: u(x), k numbers; throws BadData for a precomputed affinity below 0. Distances: to the centroids in
    /// the embedding.
    OutputSet outputs() const override { return {Output::embedding, Output::distances}; }

    Matrix<double> kept_embedding() const override;

    static SpectralModel from(const Archive& archive) {
        SpectralModel model;
        model.read(archive);
        return model;
    }

protected:
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

private:
    friend class SpectralFit;

    Matrix<double> extended(PointsView points, const Run& run) const;
    void finish_row(double* row) const;
    void kept_row(Index j, double* to) const;

    Index dimensions_ = 0;
    Points points_;               // n x d; empty for precomputed affinities
    Matrix<double> vectors_;      // n x k: V_jp / sqrt(D_jj), D in units of its largest
    Vector<double> eigenvalues_;  // k: lambda
    Matrix<double> centroids_;    // k x k
    std::vector<double> scales_;  // n: s_j, for self-tuning
    std::int32_t unreached_ = 0;  // the label of points with a row of 0 in U
};

/// n x d points (precomputed: the n x n affinities), or the problem's graph (also precomputed), 1 <= clusters <= n.
/// labels() is predict(points), except for duplicates that have different rows in U.
/// The result has a warning if there are fewer than k distinct points, more components than clusters, isolated points,
/// or fewer than `neighbors` other points.
/// Throws BadArgument (options), BadData (values; precomputed affinities that are not square, not symmetric or
/// negative), ResourceError, Cancelled.
/// The report's objective is the inertia of k-means in U. Its details: "eigenvalues", "eigen_residual", "components",
/// "isolated", "unreached", "edges" (pairs of points with an affinity), and if they apply "neighbors" and "width".
struct COTERIE_API SpectralMethod {
    using Options = SpectralOptions;
    using Model = SpectralModel;
    static constexpr std::string_view name = "spectral";
    static constexpr std::string_view summary =
        "spectral clustering: k-means on eigenvectors of a neighbour graph, an rbf kernel or given affinities";
    static constexpr Takes takes = {.graph = true};
    static constexpr About about = {.compare = {.most_rows = 10000}};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<SpectralMethod> fit_spectral{};

}  // namespace coterie
