// Assignment to the nearest centroid, in the scalar type of the model.
// The checks that all fits of the module share are here too, so that every fit reports an error in the same words.

#include "coterie/kmeans/centroid_model.hpp"

#include <algorithm>

#include "coterie/base/checks.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {

Labels CentroidModel::predict_checked(PointsView points, const Run& run) const {
    return nearest_centroids(internal::in_scalar(points, centroids_.scalar(), run), centroids_, run).labels;
}

Matrix<double> CentroidModel::output_checked(Output, PointsView points, const Run& run) const {
    return euclidean_distances(points, centroids_, run.threads);
}

double check_clustering_input(PointsView points, int clusters, std::span<const double> weights, const Run& run) {
    const double largest = check_points(points, points_of_fit(), run);
    internal::require_squares(largest, points.scalar() == ScalarType::float32 ? 1e-15 : 1e-100,
                              " in " + std::string(name(points.scalar())));
    Index usable = points.rows();
    if (!weights.empty()) {
        check_weights(weights, points.rows());
        usable = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
    }
    if (clusters > usable)
        throw BadArgument(
            Code::too_few_rows,
            counted(clusters, "cluster") + " requested, but there " + (usable == 1 ? "is" : "are") + " only " +
                counted(usable, "row") + (weights.empty() ? "" : " with a weight above 0"),
            "Use at most " + counted(usable, "cluster"),
            {.option = "clusters", .value = std::to_string(clusters), .accepted = "at most " + std::to_string(usable)});
    return largest;
}

}  // namespace coterie
