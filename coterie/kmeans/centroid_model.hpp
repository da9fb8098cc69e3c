#pragma once
// CentroidModel: any model whose clusters are k centroids and whose rule is "nearest centroid".

#include <string_view>

#include "coterie/io/model.hpp"

namespace coterie {

class CentroidModel : public Model {
public:
    Index dimensions() const override { return centroids_.columns(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }
    /// k x d, in the scalar type of the points the model was fitted on.
    const Points& centroids() const { return centroids_; }

protected:
    CentroidModel() = default;
    CentroidModel(Points centroids, Labels labels, FitReport report);

    /// Nearest centroid; ties go to the lowest.
    Labels predict_checked(PointsView points, const Run& run) const override;
    void store_centroids(Archive& archive) const { archive.set_points("centroids", centroids_); }
    void load_centroids(const Archive& archive) { centroids_ = archive.points("centroids"); }

    Points centroids_;
};

/// What every fit in this room checks first: options are checked by the caller. Throws BadData (values), BadArgument
/// (more clusters than points with a positive weight, weights, a communicator of several processes).
void check_clustering_input(PointsView points, int clusters, std::span<const double> weights, const Run& run);

}  // namespace coterie
