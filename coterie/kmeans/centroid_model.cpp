// Assignment to the nearest centroid, in the scalar type of the model.
// The checks that all fits of the module share are here too, so that every fit reports an error in the same words.

#include "coterie/kmeans/centroid_model.hpp"

#include <algorithm>

#include "coterie/base/checks.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {

CentroidModel::CentroidModel(Points centroids, Labels labels, FitReport report) : centroids_(std::move(centroids)) {
    labels_ = std::move(labels);
    report_ = std::move(report);
}

Labels CentroidModel::predict_checked(PointsView points, const Run& run) const {
    if (points.scalar() == centroids_.scalar()) return nearest_centroids(points, centroids_, run).labels;
    const auto as_centroids = [&]<class T>(T) {
        if (const SparsePoints* sparse = as_sparse(points))
            return Points(std::make_shared<const SparsePoints>(internal::values_as<T>(*sparse)));
        return Points(to_matrix<T>(points));
    };
    const Points converted =
        centroids_.scalar() == ScalarType::float32 ? as_centroids(float()) : as_centroids(double());
    check_points(converted, given_points(), run);  // a finite float64 value may be infinite in float32
    return nearest_centroids(converted, centroids_, run).labels;
}

Matrix<double> CentroidModel::output_checked(Output, PointsView points, const Run& run) const {
    return euclidean_distances(points, centroids_, run.threads);
}

double check_clustering_input(PointsView points, int clusters, std::span<const double> weights, const Run& run) {
    const double largest = check_points(points, points_of_fit(), run);
    const double least = points.scalar() == ScalarType::float32 ? 1e-15 : 1e-100;
    if (largest > 0 && largest < least)
        throw BadData(Code::overflow,
                      "the largest magnitude is " + to_text(largest) + ", so small that squared distances vanish in " +
                          std::string(name(points.scalar())) + "; at least " + to_text(least) + " is accepted",
                      "Rescale the columns",
                      {.option = "points",
                       .value = to_text(largest),
                       .accepted = "largest magnitudes of at least " + to_text(least)});
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
