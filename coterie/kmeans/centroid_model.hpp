#pragma once
// CentroidModel: any model whose clusters are k centroids and whose rule is "nearest centroid".

#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

class COTERIE_API CentroidModel : public Model {
public:
    Index dimensions() const override { return centroids_.columns(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }
    /// k x d, in the scalar type of the points the model was fitted on.
    const Points& centroids() const { return centroids_; }
    /// Distances: || x - c_j ||.
    OutputSet outputs() const override { return {Output::distances}; }

protected:
    bool takes_sparse() const override { return true; }
    CentroidModel() = default;
    CentroidModel(Points centroids, Labels labels, FitReport report);

    /// Nearest centroid; ties go to the lowest.
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override { parts.add("centroids", centroids_, "k x d", "the centroid of each cluster"); }

    Points centroids_;
};

/// With the options it was fitted with; what it is called is left to the method.
template <class Options>
class COTERIE_API CentroidModelOf : public CentroidModel {
public:
    CentroidModelOf(Points centroids, Labels labels, FitReport report, const Options& options,
                    ClusterLabels cluster_labels = {})
        : CentroidModel(std::move(centroids), std::move(labels), std::move(report)), options_(options) {
        cluster_labels_ = std::move(cluster_labels);
    }

    const Options& options() const { return options_; }
    OptionValues option_values() const override { return Options::described().values(&options_); }

protected:
    /// Reads what store() wrote; BadData when it does not fit together.
    explicit CentroidModelOf(const Archive& archive) : options_(archive.options_as<Options>()) {
        load(archive, options_.clusters);
    }

    Options options_;
};

/// What every fit in this room checks first: options are checked by the caller. Throws BadData (values), BadArgument
/// (more clusters than points with a positive weight, weights). Returns the largest magnitude.
COTERIE_API double check_clustering_input(PointsView points, int clusters, std::span<const double> weights,
                                          const Run& run);

}  // namespace coterie
