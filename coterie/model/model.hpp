#pragma once
// Model: the result of every fit. It holds the labels of the training data and the report of the fit, labels new
// points, and can be saved and loaded.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/model/fit_report.hpp"
#include "coterie/model/parts.hpp"

namespace coterie {

/// The labels of the clusters if the fit had partial labels; otherwise both vectors are empty.
struct COTERIE_API ClusterLabels {
    std::vector<std::string> names;      // L
    std::vector<std::int32_t> label_of;  // k: 0..L-1, or -1: a free cluster, without a label

    bool empty() const { return label_of.empty(); }
    /// "O" for a cluster of label O; "cluster-7" for free cluster 7.
    std::string name_of(int cluster) const;
    /// k numbers, with all clusters of a label counted as one: for a cluster with a label, the number of the label; for
    /// free clusters L, L + 1, ... in their order.
    std::vector<std::int32_t> numbers() const;
};

/// What a model can compute for points besides labels. For a new one, add a line here and its texts in model.cpp.
enum class Output {
    embedding,     // n x p: the points in the space in which the method compares them
    memberships,   // n x k: the probability of each cluster; rows sum to 1, or to less if a row may be noise
    label_scores,  // n x L: how well each label of the partial labels fits; larger is better; each method
                   // defines it
    distances,     // n x k: Euclidean distance to each centroid, in the space in which the method compares points
    outlier_score  // n x 1: how poorly a point fits any cluster; larger: more of an outlier
};
inline constexpr int output_count = 5;
/// "embedding".
COTERIE_API std::string_view name(Output output);
/// "n x p: the points in the space ...", for the texts of every interface.
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

/// What the caller requests for some rows.
struct Wanted {
    bool labels = true;
    std::vector<Output> outputs = {};
};
/// The results for consecutive rows.
struct RowResults {
    Index first = 0;                      // number of the first row among all rows
    Labels labels;                        // one cluster per row; empty if labels are not requested
    std::vector<Matrix<double>> outputs;  // the requested outputs, in their order
};

class COTERIE_API Model {
public:
    virtual ~Model() = default;

    /// The method's name in the list of methods.
    virtual std::string_view method() const = 0;
    /// d: the number of columns that predict requires.
    virtual Index dimensions() const = 0;
    /// k; 0 if the method labelled every row as noise.
    virtual int clusters() const = 0;
    /// n labels of the training data: 0..k-1, or -1 for noise. Empty after load.
    const Labels& labels() const { return labels_; }
    const FitReport& fit_report() const { return report_; }
    /// The label of each cluster.
    const ClusterLabels& cluster_labels() const { return cluster_labels_; }

    /// A label for each row of this process: 0..k-1, or -1 for noise. The label of a row does not depend on other rows;
    /// points that are not resident are labelled block by block. Points may have either scalar type; the model computes
    /// in its own type. Throws BadArgument for a wrong number of columns, BadData for NaN or infinity.
    Labels predict(PointsView points, const Run& run) const;
    Labels predict(PointsView points) const { return predict(points, Run()); }

    /// The outputs that the model has.
    virtual OutputSet outputs() const { return {}; }
    /// n rows of numbers, see Output. Throws BadArgument if the model does not have it, and like predict.
    Matrix<double> output(Output which, PointsView points, const Run& run = Run()) const;
    /// Same as output(Output::embedding, ...).
    Matrix<double> transform(PointsView points, const Run& run = Run()) const {
        return output(Output::embedding, points, run);
    }

    /// n x p: Output::embedding of the training data, if the model keeps it because it is as expensive to compute as
    /// the fit; otherwise empty.
    virtual Matrix<double> kept_embedding() const { return {}; }
    /// The number of columns of an output that the model has.
    Index output_columns(Output which) const;

    /// Computes labels and outputs of this process's rows in one pass. Calls take(results) with the results of some
    /// rows at a time, in order, so neither points nor results need to fit into memory. Results and errors: as in
    /// predict and output.
    void apply(PointsView points, const Wanted& wanted, const Run& run,
               FunctionRef<void(const RowResults&)> take) const;

    /// The given options, with the values that were used in place of automatic values.
    virtual OptionValues option_values() const = 0;
    /// Stores everything that predict needs: options, parts, the labels of the clusters.
    void store(Archive& archive) const;
    /// Throws BadArgument if the fit overflowed, because such a model could not be loaded again.
    void require_sound() const;
    /// The parts that this model has, with their shapes and meanings.
    std::vector<PartDescription> part_descriptions() const;

protected:
    Model() = default;
    Model(Labels labels, FitReport report, ClusterLabels cluster_labels = {})
        : labels_(std::move(labels)), report_(std::move(report)), cluster_labels_(std::move(cluster_labels)) {}

    /// Whether the next two functions accept sparse points. If not, they get dense rows, some at a time.
    virtual bool takes_sparse() const { return false; }
    virtual Labels predict_checked(PointsView points, const Run& run) const = 0;
    /// Computes one of outputs() for resident, checked points.
    virtual Matrix<double> output_checked(Output which, PointsView points, const Run& run) const;

private:
    void require_output(Output which) const;
    /// One output of checked rows. Throws BadData if the output is not finite.
    Matrix<double> finite_output(Output which, PointsView rows, const Run& run) const;
    /// Throws BadArgument for a wrong number of columns, then calls check_points. Then calls part(rows, number of the
    /// first row, run) for resident parts of the points, with a run for this process alone. If `part` throws BadData,
    /// it counts rows from the start of the part; in_parts() adds the position of the part.
    void in_parts(std::string_view what, PointsView points, const Run& run,
                  FunctionRef<void(PointsView rows, Index first, const Run& reading)> part) const;

protected:
    /// Lists the parts, for writing, reading and checking. Before the call, k is bound and the options are set.
    virtual void parts(Parts& parts) = 0;
    /// Loads the parts and the labels of `clusters` clusters that store() wrote. Throws BadData if they do not fit.
    void load(const Archive& archive, std::optional<int> clusters);

    Labels labels_;
    FitReport report_;
    ClusterLabels cluster_labels_;
};

/// The model of a method that adds only its options to `Base`: Options::method is the name of the method, and
/// Options::clusters is k. `Base` declares `virtual const Common& options() const = 0`, with a base class of the
/// options.
template <class Base, class Options>
class COTERIE_API ModelWith : public Base {
public:
    template <class... State>
    ModelWith(const Options& options, State&&... state) : Base(std::forward<State>(state)...), options_(options) {}

    std::string_view method() const override { return Options::method; }
    const Options& options() const override { return options_; }
    OptionValues option_values() const override { return Options::described().values(&options_); }
    static ModelWith from(const Archive& archive) {
        ModelWith out(archive.options_as<Options>());
        out.load(archive, out.options_.clusters);
        return out;
    }

private:
    Options options_;
};

}  // namespace coterie
