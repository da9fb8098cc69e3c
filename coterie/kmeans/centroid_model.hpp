#pragma once
// ModelOf: a model that holds the options of its fit. CentroidModel: a model that has k centroids and assigns each
// point to the nearest centroid.

#include "coterie/base/export.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

/// A model with the options of its fit. A method derives its model from it and gives the name.
template <class Options, class Base = Model>
class COTERIE_API ModelOf : public Base {
public:
    /// The options of the fit. Automatic values are replaced by the values that were used.
    const Options& options() const { return options_; }
    OptionValues option_values() const override { return Options::described().values(&options_); }

protected:
    /// Reads what store() wrote. Throws BadData if the parts do not match.
    void read(const Archive& archive) {
        options_ = archive.options_as<Options>();
        this->load(archive, options_.clusters);
    }

    Options options_;
};

class COTERIE_API CentroidModel : public Model {
public:
    Index dimensions() const override { return centroids_.columns(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }
    /// k x d, in the scalar type of the training points.
    const Points& centroids() const { return centroids_; }
    /// Distances: || x - c_j ||.
    OutputSet outputs() const override { return {Output::distances}; }

protected:
    bool takes_sparse() const override { return true; }
    /// The nearest centroid; ties go to the lowest number.
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override { parts.add("centroids", centroids_, "k x d", "the centroid of each cluster"); }

    Points centroids_;
};

/// A method derives its centroid model from it and gives the name.
template <class Options>
class COTERIE_API CentroidModelOf : public ModelOf<Options, CentroidModel> {
public:
    CentroidModelOf(Points centroids, Labels labels, FitReport report, const Options& options,
                    ClusterLabels cluster_labels = {}) {
        this->centroids_ = std::move(centroids);
        this->labels_ = std::move(labels);
        this->report_ = std::move(report);
        this->options_ = options;
        this->cluster_labels_ = std::move(cluster_labels);
    }

protected:
    explicit CentroidModelOf(const Archive& archive) { this->read(archive); }
};

/// The checks that all fits of this module share; the caller checks the options. Throws BadData (values) and
/// BadArgument (weights; more clusters than points of positive weight). Returns the largest magnitude of a value.
COTERIE_API double check_clustering_input(PointsView points, int clusters, std::span<const double> weights,
                                          const Run& run);

}  // namespace coterie
