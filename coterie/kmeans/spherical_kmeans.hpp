#pragma once
// Spherical k-means (Dhillon and Modha 2001): rows are scaled to length 1, u_i = x_i / || x_i ||. Unit centroids and
// labels minimise
//
//     sum_i w_i (1 - cos(x_i, c_{a_i})),   cos(x, c) = u . c,
//     so that  c_j = s_j / || s_j ||,  s_j = sum_{i in j} w_i u_i
//
// Sparse points (base/sparse_points.hpp) are used entry by entry; the scaled values are a copy.

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

struct COTERIE_API SphericalKMeansOptions {
    int clusters = 8;
    int restarts = 1;
    int max_iterations = 300;
    double tolerance = 1e-4;
    Seeding seeding = Seeding::automatic;
    std::optional<int> seeding_candidates = {};

    static const OptionSet& described();
};

/// Centroids have length 1. Distances are those of rows scaled to length 1, sqrt(2 - 2 cosine). predict returns the
/// cluster whose centroid has the largest cosine, and throws BadData for a row of zeros, with its number.
class COTERIE_API SphericalKMeansModel : public CentroidModelOf<SphericalKMeansOptions> {
public:
    using CentroidModelOf::CentroidModelOf;

    std::string_view method() const override { return "spherical-kmeans"; }

    static SphericalKMeansModel from(const Archive& archive) { return SphericalKMeansModel(archive); }

protected:
    Labels predict_checked(PointsView points, const Run& run) const override {
        return CentroidModel::predict_checked(unit_points(points, run), run);
    }
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override {
        return CentroidModel::output_checked(which, unit_points(points, run), run);
    }

private:
    Points unit_points(PointsView points, const Run& run) const;  // rows of length 1, in the scalar type of the model
};

/// n x d points, 1 <= clusters <= n. A row of zeros throws BadData, with its number. Initial centroids are scaled to
/// length 1.
/// labels() is predict(points) unless the fit was interrupted. Then the centroids are the directions of the labels'
/// rows. The objective never rises.
/// An empty cluster gets the row that adds most to the objective. Fewer distinct directions than clusters give a
/// result with a warning: the surplus clusters are empty. A cluster whose rows cancel out keeps its centroid. The fit
/// makes a scaled copy of the points.
struct COTERIE_API SphericalKMeansMethod {
    using Options = SphericalKMeansOptions;
    using Model = SphericalKMeansModel;
    static constexpr std::string_view name = "spherical-kmeans";
    static constexpr std::string_view summary = "k-means by cosine similarity: rows and centroids have length 1";
    static constexpr Takes takes = {
        .blocks = true, .sparse = true, .weights = true, .initial_centroids = true, .checkpoint = true};
    static constexpr About about = {
        .compare = {.most_rows = 100000}, .rule = LabelRule::nearest_direction, .python = "SphericalKMeans"};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<SphericalKMeansMethod> fit_spherical_kmeans{};

}  // namespace coterie
