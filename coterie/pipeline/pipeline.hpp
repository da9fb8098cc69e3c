#pragma once
// Pipeline: a fitted method with the columns that it takes and their preparation. It is saved and loaded as a whole, so
// a model always gets its points prepared as in the fit.
//
//   const auto fitted = Pipeline::fit({.points = points}, KMeansOptions{.clusters = 3},
//                                     {.preparation = {.scale = Scale::zscore}}, run);
//   fitted.save("model.coterie");
//   const auto loaded = Pipeline::load("model.coterie");
//   const Labels clusters = loaded.predict(new_points);

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/model/model.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/outlier_scores.hpp"
#include "coterie/pipeline/preparation.hpp"
#include "coterie/pipeline/prepared_problem.hpp"

namespace coterie {

/// New rows as the model takes them: the model's columns in its order, prepared as in the fit.
struct PreparedRows {
    Points points;
    /// Warnings for the caller: rows that could not be scaled, columns taken by position, values filled in.
    std::vector<Message> warnings;
    /// Numbers of the rows with a missing value, which are not among the points (`missing=drop`), ascending.
    std::vector<Index> left_out = {};
    /// The kept rows before centring and scaling: numbers in the columns of prepared_names().
    Points coded = {};

    /// The number of this process's rows, including those left out: predict gives this many labels.
    Index own_rows(const Run& run) const;
};

class COTERIE_API Pipeline {
public:
    /// Learns how to prepare the problem, prepares it, and fits. Throws what Preparation::fit and the method throw.
    ///
    /// With a sample smaller than the number of rows, the method sees only rows drawn with the seed, without
    /// replacement and each equally likely. The model labels the other rows. So methods that need all rows in memory,
    /// or whose time grows faster than the number of rows, work for any number of rows, in blocks and in several
    /// processes. The preparation is learned from all rows. Throws BadArgument with labels, shares or sizes, because
    /// these apply to all rows, and with affinities instead of points.
    ///
    /// Outlier scores are learned from the rows that the method saw (outlier_scores.hpp), unless the method has its
    /// own.
    ///
    /// With a noise share X, the round(n X) rows of the fit with the largest outlier scores get the label -1, noise. n
    /// counts the rows of weight above 0. A row is noise if its score is above noise_beyond(), the largest score of the
    /// other rows. So rows with equal scores are all noise, or none of them is. Scores are those of output(), for the
    /// clusters that the model predicts. New rows are noise by the same threshold. Clusters, means and the objective
    /// are those of the fit on all rows. Throws BadArgument if the method finds noise itself, for affinities instead of
    /// points, and with labels, shares, sizes or pairs, because noise would violate them.
    static Pipeline fit(const Problem& problem, const MethodOptions& method, const Settings& settings = {},
                        const Run& run = Run());
    /// The same for a problem that is prepared already; only sample and noise_share of the settings are used.
    static Pipeline fit(const PreparedProblem& problem, const MethodOptions& method, const Settings& settings = {},
                        const Run& run = Run());

    /// Wraps a model that was fitted on unprepared points without names, to save it.
    template <std::derived_from<Model> M>
    explicit Pipeline(M model) : model_(std::make_shared<const M>(std::move(model))) {}
    explicit Pipeline(std::unique_ptr<Model> model) : model_(std::move(model)) {}

    /// Throws BadData, naming the file, if it is not a valid model.
    static Pipeline load(const std::string& path);
    /// Reads an archive that is already in memory. `source`: its file, for messages, or empty.
    static Pipeline from(const Archive& archive, const std::string& source = {});
    /// Writes the whole file or nothing.
    void save(const std::string& path) const;
    Archive archive() const;

    const Model& model() const { return *model_; }
    /// Labels of this process's rows of the fit, -1 for rows left out. Empty after load.
    const Labels& labels() const { return left_out_.empty() ? labels_of_prepared() : labels_; }
    /// Labels of prepared(), the rows that were not left out.
    const Labels& labels_of_prepared() const { return own_labels_ ? *own_labels_ : model_->labels(); }
    /// Numbers of the rows of the fit that were left out for a missing value, ascending. Empty after load.
    const std::vector<Index>& left_out() const { return left_out_; }
    /// The model's report. Points and sizes count all rows except noise; the objective and the rest are those of the
    /// sample.
    const FitReport& fit_report() const { return report_ ? *report_ : model_->fit_report(); }
    /// The number of rows in the sample; 0 without a sample and after load.
    Index sample() const { return sample_; }
    const ColumnCoding& coding() const { return coding_; }
    const Preparation& preparation() const { return preparation_; }
    /// "missing mean, center, scale zscore"; "none".
    std::string preparation_text() const;
    /// Names of the columns that rows must have, in the model's order. Empty if the points had no names.
    const std::vector<std::string>& column_names() const { return column_names_; }
    /// d names of the columns that the model sees: "colour=red" for a word of a column of words.
    std::vector<std::string> prepared_names() const { return coding_.names_out(column_names_); }
    /// The number of columns that rows must have.
    Index columns() const { return coding_.identity() ? model_->dimensions() : coding_.columns_in(); }
    /// Sets how a file of rows is read for this model: its columns, by name if they have names, and their kinds.
    void read_by(ReadOptions& options) const;
    /// 2 x d: the minimum and maximum of each prepared column over the rows of the fit. Empty for a fit on affinities.
    const Matrix<double>& column_range() const { return column_range_; }
    /// Computes the outlier scores. Empty if the model has its own, or if the file is older than outlier scores.
    const OutlierScores& outlier_scores() const { return outlier_scores_; }
    /// Rows with a larger outlier score are noise; none: no noise share was set.
    std::optional<double> noise_beyond() const { return noise_beyond_; }
    /// Whether the model has the output; outlier scores may also come from the pipeline.
    bool has(Output which) const;
    Index output_columns(Output which) const;
    /// The parts of the model and those that the pipeline adds to its file.
    std::vector<PartDescription> part_descriptions() const;
    /// Warnings of the preparation, to show next to those of the fit report. Empty after load.
    const std::vector<Message>& warnings() const { return warnings_; }
    /// The prepared points that the method saw. Empty after load and for a graph.
    const Points& prepared() const { return prepared_; }
    /// Releases prepared(). Call this when the pipeline outlives the points.
    void release_prepared() { prepared_ = coded_ = Points(); }
    /// The rows of the fit, while prepared() holds them.
    PreparedRows fitted_rows() const { return {prepared_, {}, left_out_, coded_}; }
    /// Seconds of the preparation and of the model's fit; 0 after load.
    double preparation_seconds() const { return preparation_seconds_; }
    double fit_seconds() const { return fit_seconds_; }

    /// Prepares raw rows with the columns `column_names` (empty: no names). If both sides have names, columns are found
    /// by name in any order, and other columns are ignored; throws BadData that names the missing columns. Otherwise
    /// columns are taken by position, with a warning if the model has names; throws BadData on a wrong number of
    /// columns. `categories`: the words of columns of words, as in a problem.
    PreparedRows prepare(const Points& rows, const std::vector<std::string>& column_names, const Run& run = Run(),
                         const std::vector<std::vector<std::string>>& categories = {}) const;
    PreparedRows prepare(const Points& rows, const Run& run = Run()) const { return prepare(rows, {}, run); }

    /// Labels of raw rows: prepare() and predict() in one call.
    Labels predict(const Points& rows, const Run& run = Run()) const { return predict(prepare(rows, run), run); }
    Labels predict(const Points& rows, const std::vector<std::string>& column_names, const Run& run = Run()) const {
        return predict(prepare(rows, column_names, run), run);
    }
    Matrix<double> output(Output which, const Points& rows, const Run& run = Run()) const {
        return output(which, prepare(rows, run), run);
    }

    /// A cluster in 0..k-1 for each row; -1 for noise and for rows left out. Throws BadData, naming the row, on NaN,
    /// infinity or values too large.
    Labels predict(const PreparedRows& rows, const Run& run = Run()) const;
    /// Throws BadArgument if the output does not exist (has()). Rows left out are NaN.
    Matrix<double> output(Output which, const PreparedRows& rows, const Run& run = Run()) const;
    /// Labels and outputs at once, block by block: see Model::apply. Rows left out have the label -1 and outputs of
    /// NaN.
    void apply(const PreparedRows& rows, const Wanted& wanted, const Run& run,
               FunctionRef<void(const RowResults&)> take) const;

private:
    Pipeline() = default;
    void fit_sample(const MethodOptions& method, const Problem& prepared, Index sample, const Run& run);
    void learn_of_rows(const Problem& prepared, bool samples, double noise_share, const Run& run);
    void find_noise(double share, const Problem& prepared, const Run& run);
    void apply_to_kept(const Points& rows, const Wanted& wanted, const Run& run,
                       FunctionRef<void(const RowResults&)> take) const;
    std::vector<double> scores_of_kept(const Points& rows, const Run& run) const;
    void own_parts(Parts& parts);
    // Every process applies the model only to its own rows, so this works for any method.
    void admit(const Run& run) const;

    std::shared_ptr<const Model> model_;
    ColumnCoding coding_;
    Preparation preparation_;
    std::vector<std::string> column_names_;
    Matrix<double> column_range_;
    OutlierScores outlier_scores_;
    std::optional<double> noise_beyond_;
    std::vector<Message> warnings_;
    Points prepared_, coded_;
    Index sample_ = 0;
    std::vector<Index> left_out_;
    Labels labels_;                     // set if rows are left out
    std::optional<Labels> own_labels_;  // set with a sample or noise
    std::optional<FitReport> report_;   // set with a sample or noise
    double preparation_seconds_ = 0;
    double fit_seconds_ = 0;
};

}  // namespace coterie
