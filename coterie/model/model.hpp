#pragma once
// Model: what every fit returns. It labels the points it was fitted on, labels new ones, tells about its fit, and is
// saved and loaded.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/report.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"

namespace coterie {

/// The labels that clusters belong to, when the fit was given partial labels; both empty otherwise.
struct ClusterLabels {
    std::vector<std::string> names;      // L
    std::vector<std::int32_t> label_of;  // k: 0..L-1, or -1: a free cluster, of no label

    bool empty() const { return label_of.empty(); }
    /// "O" for a cluster of label O, "cluster-7" for the free cluster number 7.
    std::string name_of(int cluster) const;
    /// k: the number each cluster goes by where the clusters of a label are one: the label's, and from L on the free
    /// clusters in their order.
    std::vector<std::int32_t> numbers() const;
};

class Model {
public:
    virtual ~Model() = default;

    /// The method's name in the list of methods.
    virtual std::string_view method() const = 0;
    /// d: what points given to predict must have.
    virtual Index dimensions() const = 0;
    /// k.
    virtual int clusters() const = 0;
    /// n labels in 0..k-1 of the points the model was fitted on; empty after load.
    const Labels& labels() const { return labels_; }
    const FitReport& fit_report() const { return report_; }
    /// Which label each cluster belongs to.
    const ClusterLabels& cluster_labels() const { return cluster_labels_; }

    /// A label in 0..k-1 for each row, the same whatever the batch a row comes in. Points are taken in either scalar
    /// type and computed in the model's own. BadArgument on a wrong number of columns, BadData on NaN or infinity.
    Labels predict(PointsView points, const Run& run) const;
    Labels predict(PointsView points) const { return predict(points, Run()); }

    /// Whether the method sees the points in a space of its own.
    virtual bool has_transform() const { return false; }
    /// n x p: the points in that space. BadArgument where there is none, else as predict.
    virtual Matrix<double> transform(PointsView points, const Run& run) const;

    /// Whether label_scores() is there.
    virtual bool has_label_scores() const { return false; }
    /// n x L, for models fitted with partial labels that have them: how well each label fits a point, larger is better
    /// (what the number is, the method says). Methods with probabilities have them without partial labels, too: n x k.
    /// BadArgument where there are none, else as predict.
    virtual Matrix<double> label_scores(PointsView points, const Run& run) const;

    /// Everything predict needs, plus options and the fit report's facts.
    virtual void store(Archive& archive) const = 0;

protected:
    virtual Labels predict_checked(PointsView points, const Run& run) const = 0;
    /// What predict, transform and the like check first: BadArgument, naming `what`, on a wrong number of columns, else
    /// check_points. False when there are no points.
    bool accept(std::string_view what, PointsView points, const Run& run) const;

    void store_cluster_labels(Archive& archive) const;
    /// Reads what store_cluster_labels wrote; BadData when it does not fit k.
    void load_cluster_labels(const Archive& archive, int clusters);

    Labels labels_;
    FitReport report_;
    ClusterLabels cluster_labels_;
};

void save(const Model& model, const std::string& path);

/// What every fit and predict checks before anything else: at least one row and column, all values finite, squared
/// distances that do not overflow the scalar type. BadData, naming `what`. Returns the largest magnitude.
double check_points(PointsView points, std::string_view what, int threads);
/// Weights: as many as rows, each 0 or from 1e-30 to 1e30, not all zero.
void check_weights(std::span<const double> weights, Index rows);

}  // namespace coterie
