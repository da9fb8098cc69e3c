// Space, linear map, nearest centroid, all in double. Training points and new points use the same path, so the labels
// of a fit that uses it equal those of predict, bit for bit.

#include "coterie/deformation/projected_model.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"
#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {

Matrix<double> ProjectedModel::projected(const Matrix<double>& rows, int threads) const {
    Matrix<double> out = deformation::internal::product(rows, directions_, threads);
    out.rowwise() -= offset_.transpose();
    return out;
}

Matrix<double> ProjectedModel::output_checked(Output which, PointsView points, const Run& run) const {
    Matrix<double> y = projected(space_->transform(points, run), run.threads);
    return which == Output::distances ? euclidean_distances(y, centroids_, run.threads) : y;
}

Labels ProjectedModel::predict_checked(PointsView points, const Run& run) const {
    return nearest_centroids(output_checked(Output::embedding, points, run), centroids_, run.threads).labels;
}

void ProjectedModel::parts(Parts& parts) {
    parts.add("directions", directions_, "p x c", "the directions of the projection, in the space");
    auto space = space_ ? std::const_pointer_cast<PointSpace>(space_) : std::make_shared<PointSpace>();
    space->parts(parts, kernel());
    space_ = std::move(space);
    parts.add("offset", offset_, "c", "the values subtracted from every projected row");
    parts.add("centroids", centroids_, "k x c", "the projected centroid of each cluster");
}

int internal::dimensions_of(std::optional<int> given, int clusters, Index most, std::string_view why) {
    if (!given) return static_cast<int>(std::clamp<Index>(clusters - 1, 1, std::max<Index>(1, most)));
    if (*given <= most) return *given;
    const std::string accepted = filled("from 1 to {}, or `auto`", most);
    throw BadArgument(Code::not_accepted, filled("{} is above the limit of {} ({})", *given, most, why),
                      "Use " + accepted,
                      {.option = "dimensions", .value = std::to_string(*given), .accepted = accepted});
}

}  // namespace coterie
