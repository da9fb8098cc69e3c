#pragma once
// ProjectedModel: a model that assigns points to the nearest of k centroids after a linear map,
//
//     y(x) = W' s(x) - b,    s(x): the point in the space of the fit (relative to an origin, or kernel components)

#include "coterie/base/export.hpp"
#include "coterie/deformation/point_space.hpp"

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
    /// y of rows that are already in the space.
    Matrix<double> projected(const Matrix<double>& rows, int threads) const;
    /// The nearest centroid; ties go to the lowest.
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    virtual SpaceKernel kernel() const = 0;
    void parts(Parts& parts) override;

    std::shared_ptr<const PointSpace> space_;
    Matrix<double> directions_;
    Vector<double> offset_;  // b
    Matrix<double> centroids_;
};

/// A projected model with the options of its fit. A method derives its model from it and gives the name.
template <class Options>
class COTERIE_API ProjectedModelOf : public ModelOf<Options, ProjectedModel> {
protected:
    ProjectedModelOf() = default;
    explicit ProjectedModelOf(const Archive& archive) { this->read(archive); }
    SpaceKernel kernel() const override { return this->options_.kernel; }
};

namespace internal {

/// The number of directions: `given`, or by default min(k - 1, `most`). k - 1 directions can separate k clusters.
/// Throws BadArgument with `dimensions` if `given` is above `most`; `why` says what limits it.
COTERIE_API int dimensions_of(std::optional<int> given, int clusters, Index most, std::string_view why);

}  // namespace internal
}  // namespace coterie
