#pragma once
// ProjectedModel: any model of this room whose clusters are the nearest of k centroids after a linear map,
//
//     y(x) = W' s(x) - b,    s(x) the point in the space it was fitted in (about an origin, or kernel components)

#include "coterie/base/export.hpp"
#include "coterie/deformation/point_space.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

class COTERIE_API ProjectedModel : public Model {
public:
    Index dimensions() const override { return space_->input_dimensions(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }

    /// Embedding: y. Distances: || y - c_j ||.
    OutputSet outputs() const override { return {Output::embedding, Output::distances}; }
    /// W, q x p (q: dimensions of the space).
    const Matrix<double>& directions() const { return directions_; }
    /// k x p.
    const Matrix<double>& centroids() const { return centroids_; }

protected:
    ProjectedModel() = default;
    /// y of rows that are in the space already.
    Matrix<double> projected(const Matrix<double>& rows, int threads) const;
    /// Nearest centroid; ties go to the lowest.
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    virtual SpaceKernel kernel() const = 0;
    void parts(Parts& parts) override;

    std::shared_ptr<const PointSpace> space_;
    Matrix<double> directions_;
    Vector<double> offset_;  // b
    Matrix<double> centroids_;
};

/// With the options it was fitted with; what it is called is left to the method.
template <class Options>
class COTERIE_API ProjectedModelOf : public ProjectedModel {
public:
    /// As given, what was 0 for "chosen" replaced by the value used.
    const Options& options() const { return options_; }
    OptionValues option_values() const override { return Options::described().values(&options_); }

protected:
    ProjectedModelOf() = default;
    explicit ProjectedModelOf(const Archive& archive) : options_(archive.options_as<Options>()) {
        load(archive, options_.clusters);
    }
    SpaceKernel kernel() const override { return options_.kernel; }
    Options options_;
};

namespace internal {

/// Directions that a method takes when `given` is 0: k - 1, which tell k clusters apart, but no more than `most`.
/// BadArgument naming `dimensions` when more than `most` are given; `why` says what limits them.
COTERIE_API int dimensions_of(std::optional<int> given, int clusters, Index most, std::string_view why);

}  // namespace internal
}  // namespace coterie
