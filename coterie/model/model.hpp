#pragma once
// Model: what every fit returns. It labels the points it was fitted on, labels new ones, tells about its fit, and is
// saved and loaded.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/checks.hpp"
#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/model/fit_report.hpp"
#include "coterie/model/parts.hpp"

namespace coterie {

/// The labels that clusters belong to, when the fit was given partial labels; both empty otherwise.
struct COTERIE_API ClusterLabels {
    std::vector<std::string> names;      // L
    std::vector<std::int32_t> label_of;  // k: 0..L-1, or -1: a free cluster, of no label

    bool empty() const { return label_of.empty(); }
    /// "O" for a cluster of label O, "cluster-7" for the free cluster number 7.
    std::string name_of(int cluster) const;
    /// k: the number each cluster goes by where the clusters of a label are one: the label's, and from L on the free
    /// clusters in their order.
    std::vector<std::int32_t> numbers() const;
};

/// What a model may give of points, beside their labels. A new output is one line here and one name in model.cpp.
enum class Output {
    embedding,     // n x p: the points in the space in which the method sees them
    memberships,   // n x k: the probability of each cluster; rows sum to 1, to less where a row may be noise
    label_scores,  // n x L: how well each label of the partial labels fits, larger is better; the method says what it
                   // is
    distances,     // n x k: Euclidean distance to each centroid, in the space in which the method compares them
    outlier_score  // n x 1: how little a point belongs to any cluster; larger is more of an outlier
};
inline constexpr int output_count = 5;
/// "embedding".
COTERIE_API std::string_view name(Output output);
/// "n x p: the points in the space ...", for the texts of every face.
COTERIE_API std::string_view meaning(Output output);

/// A set of outputs.
class OutputSet {
public:
    constexpr OutputSet() = default;
    constexpr OutputSet(std::initializer_list<Output> list) {
        for (const Output each : list) bits_ |= bit(each);
    }
    constexpr bool has(Output output) const { return (bits_ & bit(output)) != 0; }

private:
    static constexpr unsigned bit(Output output) { return 1U << static_cast<unsigned>(output); }
    unsigned bits_ = 0;
};

/// What is asked of a model about rows.
struct Wanted {
    bool labels = true;
    std::vector<Output> outputs = {};
};
/// What it gives of consecutive rows.
struct RowResults {
    Index first = 0;                      // number of the first row among all
    Labels labels;                        // a cluster per row; empty where none are wanted
    std::vector<Matrix<double>> outputs;  // those wanted, in their order
};

class COTERIE_API Model {
public:
    virtual ~Model() = default;

    /// The method's name in the list of methods.
    virtual std::string_view method() const = 0;
    /// d: what points given to predict must have.
    virtual Index dimensions() const = 0;
    /// k; 0 where a method that knows noise found nothing else.
    virtual int clusters() const = 0;
    /// n labels in 0..k-1, or -1: noise, of the points the model was fitted on; empty after load.
    const Labels& labels() const { return labels_; }
    const FitReport& fit_report() const { return report_; }
    /// Which label each cluster belongs to.
    const ClusterLabels& cluster_labels() const { return cluster_labels_; }

    /// A label in 0..k-1, or -1: noise, for each row of this process, the same whatever the batch a row comes in:
    /// points that are not resident are labelled block by block. Points are taken in either scalar type and computed in
    /// the model's own. BadArgument on a wrong number of columns, BadData on NaN or infinity.
    Labels predict(PointsView points, const Run& run) const;
    Labels predict(PointsView points) const { return predict(points, Run()); }

    /// What the model gives of points beside their labels.
    virtual OutputSet outputs() const { return {}; }
    /// n numbers or n rows of them, as Output says. BadArgument where the model does not have it, else as predict.
    Matrix<double> output(Output which, PointsView points, const Run& run = Run()) const;
    /// The same as Output::embedding.
    Matrix<double> transform(PointsView points, const Run& run = Run()) const {
        return output(Output::embedding, points, run);
    }

    /// Columns of an output that the model has.
    Index output_columns(Output which) const;

    /// Labels and outputs of this process' rows in one pass: calls take(results) for consecutive rows, in their order,
    /// some at a time, so that neither points nor results need fit into memory. Numbers and errors are those of predict
    /// and output.
    void apply(PointsView points, const Wanted& wanted, const Run& run,
               FunctionRef<void(const RowResults&)> take) const;

    /// As given, what was automatic replaced by the values used.
    virtual OptionValues option_values() const = 0;
    /// Everything predict needs: options, parts, the labels of the clusters.
    void store(Archive& archive) const;
    /// BadArgument where the fit left the range of numbers: a model that could not be loaded again.
    void require_sound() const;
    /// The parts that this model has, with their shapes and meanings.
    std::vector<PartDescription> part_descriptions() const;

protected:
    /// Whether the two below take sparse points as they are; to the others they come with their zeros, some rows at a
    /// time.
    virtual bool takes_sparse() const { return false; }
    virtual Labels predict_checked(PointsView points, const Run& run) const = 0;
    /// One of outputs(), of points that are there and were checked.
    virtual Matrix<double> output_checked(Output which, PointsView points, const Run& run) const;

private:
    void require_output(Output which) const;
    /// One output of rows that were checked; BadData where it is not finite. `first`: number of the first row.
    Matrix<double> finite_output(Output which, PointsView rows, Index first, const Run& run) const;
    /// Checks the points: BadArgument, naming `what`, on a wrong number of columns, else check_points. Then calls
    /// part(rows, number of the first, run) for parts of them that are resident, with a run that is this process' own.
    void in_parts(std::string_view what, PointsView points, const Run& run,
                  FunctionRef<void(PointsView rows, Index first, const Run& reading)> part) const;

protected:
    /// Lists the parts, which is to write them, to read them and to check what was read; k is bound. Options are there
    /// before.
    virtual void parts(Parts& parts) = 0;
    /// The parts and the labels of `clusters` clusters, from what store() wrote. BadData when they do not fit.
    void load(const Archive& archive, std::optional<int> clusters);

    Labels labels_;
    FitReport report_;
    ClusterLabels cluster_labels_;
};

}  // namespace coterie
