#pragma once
// Pipeline: a fitted method with everything that stands between a user's rows and it: which columns are taken and how
// they are prepared. It is the one thing that is saved and loaded, so that no model is ever applied to points prepared
// in another way than those it was fitted on.
//
//   const auto fitted = Pipeline::fit(find_method("kmeans"), {{"clusters", std::int64_t{3}}}, {.points = points},
//                                     {.scale = Scale::zscore}, run);
//   fitted.save("model.coterie");
//   const auto loaded = Pipeline::load("model.coterie");
//   const Labels clusters = loaded.predict(loaded.prepare(new_points));

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

namespace coterie {

/// New rows as the model takes them: its columns in its order, prepared as those of the fit were.
struct PreparedRows {
    Points points;
    /// What the caller should know: rows that could not be scaled, columns taken by position, values filled in.
    std::vector<std::string> warnings;
    /// Numbers of the rows that miss a value and are not among the points (`missing=drop`), ascending.
    std::vector<Index> left_out = {};
    /// The rows that are not left out before they were centred and scaled: numbers in the columns of prepared_names().
    Points coded = {};

    /// Of this process, those left out among them: as many as predict gives labels.
    Index own_rows(const Run& run) const;
};

/// How a method is fitted, whichever it is.
struct COTERIE_API FitOptions {
    std::optional<int> sample;  // fit on so many rows; automatic: on all
    double noise_share = 0;     // make noise of this share of the rows, below 0.5; 0: of none

    static const OptionSet& described();
};

class COTERIE_API Pipeline {
public:
    /// Prepares the problem, learning how from it, and fits. Throws what Preparation::fit and the method throw.
    ///
    /// With a sample, of fewer rows than there are, the method sees only rows drawn by the seed, without replacement
    /// and each equally likely, and the model labels the others: so methods that need all rows in memory, or time that
    /// grows faster than their number, serve for any number of rows, in blocks and in several processes. What is
    /// learned to prepare rows is learned of all. BadArgument where labels, shares or sizes are given, which are of all
    /// rows, or affinities in place of points.
    ///
    /// Outlier scores are learned of the rows that the method saw (outlier_scores.hpp), but for methods with their own.
    ///
    /// With a noise share X, the round(n X) rows of the fit with the largest outlier scores, of n with a weight above
    /// 0, get the label -1, noise: those whose score is above noise_beyond(), which is the largest of the others, so
    /// that rows of equal scores are all noise or none is. Scores are those of output(), of the clusters that the model
    /// predicts. Later rows are noise by the same threshold. Clusters, means and the objective are those of the fit of
    /// all rows. BadArgument where the method finds noise by itself, for affinities in place of points, and where
    /// labels, shares, sizes or pairs are given, which noise would not keep.
    static Pipeline fit(const Method& method, const OptionValues& options, const Problem& problem,
                        const PreparationOptions& preparation = {}, const Run& run = Run(),
                        const FitOptions& fit_options = {}, const ColumnOptions& columns = {});

    /// A model fitted on points as they are, without names: a way to save it.
    template <std::derived_from<Model> M>
    explicit Pipeline(M model) : model_(std::make_shared<const M>(std::move(model))) {}
    explicit Pipeline(std::unique_ptr<Model> model) : model_(std::move(model)) {}

    /// BadData, naming the file, on what is no sound model.
    static Pipeline load(const std::string& path);
    /// Of an archive read already; messages begin with `source` where that is given.
    static Pipeline from(const Archive& archive, const std::string& source = {});
    /// Whole or not at all.
    void save(const std::string& path) const;
    Archive archive() const;

    const Model& model() const { return *model_; }
    /// Labels of all rows of the fit that are this process', -1 for those left out; empty after load.
    const Labels& labels() const { return left_out_.empty() ? labels_of_prepared() : labels_; }
    /// Labels of prepared(): of the rows that were not left out.
    const Labels& labels_of_prepared() const { return own_labels_ ? *own_labels_ : model_->labels(); }
    /// Numbers of the rows of the fit that miss a value and were left out, ascending; empty after load.
    const std::vector<Index>& left_out() const { return left_out_; }
    /// The model's; points and sizes are those of all rows, noise left out, the objective and what else there is of the
    /// sample.
    const FitReport& fit_report() const { return report_ ? *report_ : model_->fit_report(); }
    /// How many rows the method saw where they are a sample; else, and after load, 0.
    Index sample() const { return sample_; }
    const ColumnCoding& coding() const { return coding_; }
    const Preparation& preparation() const { return preparation_; }
    /// "missing mean, center, scale zscore"; "none".
    std::string preparation_text() const;
    /// Names of the columns that rows must have, in the model's order; empty where the points had none.
    const std::vector<std::string>& column_names() const { return column_names_; }
    /// d names of the columns the model sees: "colour=red" for a word of a column of words.
    std::vector<std::string> prepared_names() const { return coding_.names_out(column_names_); }
    /// How many columns rows must have.
    Index columns() const { return coding_.identity() ? model_->dimensions() : coding_.columns_in(); }
    /// How a file of rows is read for this model: its columns, by name where it has names, and what they are.
    void read_by(ReadOptions& options) const;
    /// 2 x d: the least and the largest value of each column, prepared, among the rows of the fit; empty where it was
    /// fitted on affinities.
    const Matrix<double>& column_range() const { return column_range_; }
    /// What the outlier scores are computed by; empty where the model has its own, or was written before there were
    /// any.
    const OutlierScores& outlier_scores() const { return outlier_scores_; }
    /// Rows with a larger outlier score are noise; none: no noise was asked for.
    std::optional<double> noise_beyond() const { return noise_beyond_; }
    /// The model's outputs, and outlier scores.
    bool has(Output which) const;
    Index output_columns(Output which) const;
    /// Of the model and of what the pipeline adds to its file.
    std::vector<PartDescription> part_descriptions() const;
    /// Of the preparation, to be told beside the fit report's own; empty after load.
    const std::vector<std::string>& warnings() const { return warnings_; }
    /// The points the method saw, prepared; empty after load and for a graph.
    const Points& prepared() const { return prepared_; }
    /// Lets go of prepared(): for who keeps the pipeline longer than the points.
    void release_prepared() { prepared_ = coded_ = Points(); }
    /// The rows of the fit, as long as prepared() is there.
    PreparedRows fitted_rows() const { return {prepared_, {}, left_out_, coded_}; }
    /// Seconds that the preparation and the fit of the model took; 0 after load.
    double preparation_seconds() const { return preparation_seconds_; }
    double fit_seconds() const { return fit_seconds_; }

    /// Rows as they come, from `column_names` (empty: they have none). Where both sides have names, columns are found
    /// by name, whatever their order, and others are left out; BadData names those that are missing. Else columns are
    /// taken by position, with a warning where the model has names; BadData when there are not as many as the model
    /// takes. `categories`: the words of columns of words, as a problem has them.
    PreparedRows prepare(const Points& rows, const std::vector<std::string>& column_names, const Run& run = Run(),
                         const std::vector<std::vector<std::string>>& categories = {}) const;
    PreparedRows prepare(const Points& rows, const Run& run = Run()) const { return prepare(rows, {}, run); }

    /// A cluster in 0..k-1 for each row, -1 for noise and those left out. BadData, naming the row, on NaN, infinity or
    /// values too large.
    Labels predict(const PreparedRows& rows, const Run& run = Run()) const;
    /// BadArgument where there is none such (has()). Rows left out are NaN.
    Matrix<double> output(Output which, const PreparedRows& rows, const Run& run = Run()) const;
    /// Both at once, block by block: Model::apply. Rows left out have the label -1 and outputs of NaN.
    void apply(const PreparedRows& rows, const Wanted& wanted, const Run& run,
               FunctionRef<void(const RowResults&)> take) const;

private:
    Pipeline() = default;
    void fit_sample(const Method& method, const OptionValues& options, const Problem& prepared, Index sample,
                    const Run& run);
    void find_noise(double share, const Problem& prepared, const Run& run);
    void apply_to_kept(const Points& rows, const Wanted& wanted, const Run& run,
                       FunctionRef<void(const RowResults&)> take) const;
    void own_parts(Parts& parts);
    // Every process applies the model to its own rows alone, so that any method's does in several.
    void admit(const Run& run) const;

    std::shared_ptr<const Model> model_;
    ColumnCoding coding_;
    Preparation preparation_;
    std::vector<std::string> column_names_;
    Matrix<double> column_range_;
    OutlierScores outlier_scores_;
    std::optional<double> noise_beyond_;
    std::vector<std::string> warnings_;
    Points prepared_, coded_;
    Index sample_ = 0;
    std::vector<Index> left_out_;
    Labels labels_;                     // where rows are left out
    std::optional<Labels> own_labels_;  // with a sample, or noise
    std::optional<FitReport> report_;   // the same
    double preparation_seconds_ = 0;
    double fit_seconds_ = 0;
};

}  // namespace coterie
