// The only path from raw rows to labels. All interfaces (the command, Python, the page) use it, so names, preparation
// and model always belong together: one file holds what a fit learned about the columns and about the clusters.

#include "coterie/pipeline/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/checks.hpp"
#include "coterie/base/derived_rows.hpp"
#include "coterie/base/load_rows.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/same_work.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/io/column_choice.hpp"
#include "coterie/io/json_text.hpp"
#include "coterie/pipeline/left_out.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

constexpr const char* names_key = "column_names";
constexpr double infinity = std::numeric_limits<double>::infinity();

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t most = 12;
    const std::string out = internal::listed(names, most, internal::shown);
    return names.size() > most ? filled("{} ({})", out, names.size()) : out;
}

// Positions of the model's columns among the given ones. Throws BadData that names the missing columns.
std::vector<std::size_t> positions_of(const std::vector<std::string>& wanted, const std::vector<std::string>& given) {
    std::vector<std::string> missing;
    std::vector<std::size_t> out = formats::positions_of_names(wanted, given, "", missing);
    if (!missing.empty()) {
        const std::vector<std::string> more(missing.begin() + 1, missing.end());
        throw BadData(Code::unknown_column,
                      "the model needs this column" + (more.empty() ? "" : ", and also " + listed(more)) +
                          ", but the rows have only " + listed(given),
                      "Give all columns of the model: " + listed(wanted),
                      {.option = "points", .accepted = listed(wanted), .column = formats::shown(missing.front())});
    }
    return out;
}

Points columns_of(const Points& points, const std::vector<std::size_t>& which) {
    const auto pick = [which](PointsView rows, Index, void* to) {
        rows.visit([&]<class Scalar>(const Rows<Scalar>& from) {
            auto* out = static_cast<Scalar*>(to);
            std::vector<Scalar> row(which.size());  // buffer: `to` may be the storage of `rows`
            for (Index i = 0; i < from.rows; ++i) {
                for (std::size_t j = 0; j < which.size(); ++j) row[j] = from.row(i)[which[j]];
                out = std::copy(row.begin(), row.end(), out);
            }
        });
    };
    return internal::derived_copy(points, static_cast<Index>(which.size()),
                                  "a copy of the rows with the model's columns", pick);
}

// Constraints on all rows do not hold for rows outside a sample, nor for noise.
void require_nothing_of_all_rows(const Method& method, const OptionValues& options, const Problem& problem,
                                 const std::string& option) {
    const auto refuse = [&](const std::string& inputs, const std::string& why) {
        throw BadArgument(Code::conflict, "`" + option + "` cannot be combined with " + inputs + ", because " + why,
                          "Leave one out", {.option = option});
    };
    const auto affinity = options.find("affinity");
    if (problem.graph || (method.takes.graph && affinity != options.end() &&
                          affinity->second == OptionValue(std::string("precomputed"))))
        refuse("affinities", "it needs rows");
    if (!problem.partial_labels.empty() || !problem.label_shares.empty() || problem.sizes)
        refuse("`partial_labels`, `label_share` or `sizes`", "they apply to all rows");
    if (!problem.must_links.empty() || !problem.cannot_links.empty()) refuse("`pairs`", "they apply to all rows");
}

void require_noise(const Method& method, const OptionValues& options, const Problem& problem) {
    // Methods without the option `clusters` find noise themselves.
    if (method.options->find("clusters") == nullptr)
        throw BadArgument(Code::conflict, "method " + method.name + " itself finds which rows are noise",
                          "Leave this option out", {.option = "noise_share"});
    require_nothing_of_all_rows(method, options, problem, "noise_share");
}

void require_samples(const Method& method, const OptionValues& options, const Problem& problem, const Run& run) {
    require_nothing_of_all_rows(method, options, problem, "sample");
    if (!run.checkpoint.empty() && run.communicator().size() > 1)
        throw BadArgument(Code::conflict,
                          "`sample` cannot be combined with `checkpoint` in several processes, because "
                          "every process fits the sample",
                          "Leave one out", {.option = "sample"});
}

// Throws BadArgument if the method or the problem does not support a sample or a noise share.
void require_settings(const Problem& problem, const MethodOptions& method, const Settings& settings, const Run& run) {
    if (settings.sample && *settings.sample < problem.rows())
        require_samples(method.method(), method.values(), problem, run);
    if (settings.noise_share > 0) require_noise(method.method(), method.values(), problem);
}

// The minimum and maximum of each column, over all processes.
Matrix<double> range_of(PointsView points, const Run& run) {
    const Index d = points.columns();
    // Ranges are d minima, then d maxima.
    const auto clear = [d](double* range) {
        std::fill_n(range, d, infinity);
        std::fill_n(range + d, d, -infinity);
    };
    const auto take = [d](double* range, Index p, double low, double high) {
        range[p] = std::min(range[p], low);
        range[d + p] = std::max(range[d + p], high);
    };
    Matrix<double> out(2, d);
    if (const SparsePoints* const sparse = as_sparse(points)) {  // values that are not stored are 0
        std::vector<Index> stored(at(d), 0);
        clear(out.data());
        points.with_scalar([&]<class Scalar>() {
            for (Index i = 0; i < sparse->rows(); ++i) {
                const SparseRow<Scalar> row = sparse->row<Scalar>(i);
                for (Index e = 0; e < row.count; ++e) {
                    const auto value = static_cast<double>(row.values[e]);
                    take(out.data(), row.column(e), value, value);
                    ++stored[at(row.column(e))];
                }
            }
        });
        for (Index p = 0; p < d; ++p)
            if (stored[at(p)] < sparse->rows()) take(out.data(), p, 0, 0);
        return out;
    }
    internal::BlockSums ranges(2 * d, clear, [d, take](double* left, const double* right) {
        for (Index p = 0; p < d; ++p) take(left, p, right[p], right[d + p]);
    });
    points.with_scalar([&]<class Scalar>() {
        const Stage stage{.name = "ranges", .operations = 2.0 * static_cast<double>(points.rows() * d)};
        const auto total =
            ranges.over<Scalar>(points, run, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                for (Index i = 0; i < block.rows.rows; ++i)
                    for (Index p = 0; p < d; ++p) {
                        const auto value = static_cast<double>(block.rows.row(i)[p]);
                        take(sum, p, value, value);
                    }
            });
        std::ranges::copy(total, out.data());
    });
    return out;
}

Matrix<double> column_of(const std::vector<double>& numbers) {
    return Eigen::Map<const eigen::Vector<double>>(numbers.data(), static_cast<Index>(numbers.size()));
}

// Tells which left-out rows belong to which kept row: those before it; the last kept row also has those after it.
class Gaps {
public:
    Gaps(const std::vector<Index>& left_out, Index kept) : left_out_(left_out), kept_(kept) {}

    struct Place {
        internal::Range kept;
        internal::Range all;
    };
    Place around(internal::Range kept) const {
        const Index all = kept_ + static_cast<Index>(left_out_.size());
        const Index begin = kept.begin == 0 ? 0 : number(kept.begin - 1) + 1;
        if (kept.count() == 0) return {kept, {begin, begin}};
        return {kept, {begin, kept.end == kept_ ? all : number(kept.end - 1) + 1}};
    }
    Labels filled(const Labels& labels, const Place& place) const {
        Labels out(at(place.all.count()), -1);
        for (Index k = place.kept.begin; k < place.kept.end; ++k)
            out[at(number(k) - place.all.begin)] = labels[at(k - place.kept.begin)];
        return out;
    }
    Matrix<double> filled(const Matrix<double>& rows, const Place& place) const {
        Matrix<double> out(place.all.count(), rows.cols());
        out.setConstant(std::numeric_limits<double>::quiet_NaN());
        for (Index k = place.kept.begin; k < place.kept.end; ++k)
            out.row(number(k) - place.all.begin) = rows.row(k - place.kept.begin);
        return out;
    }

private:
    Index number(Index kept) const { return internal::number_among_all(kept, left_out_); }

    const std::vector<Index>& left_out_;
    Index kept_;
};

}  // namespace

Pipeline Pipeline::fit(const Problem& problem, const MethodOptions& method, const Settings& settings, const Run& run) {
    if (run.communicator().size() > 1) {
        internal::Work work("fit " + method.method().name);
        work.add(run).add(method.values()).add(PreparationOptions::described().values(&settings.preparation));
        work.add(Settings::described().values(&settings)).add(ColumnOptions::described().values(&settings.columns));
        for (const std::string& name : problem.column_names) work.add("column `" + name + "`", "given");
        internal::require_same_work(work.add(problem.points), run.communicator());
    }
    check_settings(settings);
    require_settings(problem, method, settings, run);
    return fit(PreparedProblem::of(problem, settings, run), method, settings, run);
}

Pipeline Pipeline::fit(const PreparedProblem& given, const MethodOptions& method, const Settings& settings,
                       const Run& run) {
    check_settings(settings);
    require_settings(given.problem, method, settings, run);
    const bool samples = settings.sample && *settings.sample < given.problem.rows();
    Pipeline out;
    out.column_names_ = given.column_names;
    out.coding_ = given.coding;
    out.preparation_ = given.preparation;
    out.left_out_ = given.left_out;
    out.warnings_ = given.warnings;
    out.coded_ = given.coded;
    Stopwatch watch;
    Problem prepared = given.problem;
    if (!prepared.graph && !samples) prepared.points = hold_own_rows(prepared.points, run);
    out.prepared_ = prepared.points;
    out.preparation_seconds_ = given.seconds + watch.restart();
    if (samples) {
        out.fit_sample(method, prepared, *settings.sample, run);
    } else {
        try {
            out.model_ = method.method().fit(prepared, method.values(), run);
        } catch (NotEnoughMemory& error) {
            if (!prepared.graph)
                error.amend([](Message& message) { message.remedy = "Use `sample` to fit on some of the rows"; });
            throw;
        }
    }
    out.fit_seconds_ = watch.seconds();
    out.model_->require_sound();
    out.learn_of_rows(prepared, samples, settings.noise_share, run);
    const double objective = out.model_->fit_report().objective;
    if (!std::isfinite(objective))
        out.warnings_.push_back(
            {.code = Code::overflow,
             .problem = "the objective overflowed to " + to_text(objective) + ", so it is meaningless",
             .remedy = "Rescale the columns, or change the options"});
    return out;
}

// Outlier scores, noise, labels of all rows and the ranges of the columns.
void Pipeline::learn_of_rows(const Problem& prepared, bool samples, double noise_share, const Run& run) {
    const Run after = run.unstopped();  // a fit that was asked to stop still has a result
    const bool own_columns = !prepared.graph && prepared.columns() == model_->dimensions();
    if (!samples && !has(Output::outlier_score) && own_columns)
        outlier_scores_ = OutlierScores::fit(*model_, prepared.points, prepared.weights, after);
    if (noise_share > 0) find_noise(noise_share, prepared, after);
    if (!left_out_.empty()) {
        const Gaps gaps(left_out_, prepared.rows());
        labels_ = gaps.filled(labels_of_prepared(), gaps.around(internal::own_rows(prepared.points, run)));
    }
    if (own_columns) column_range_ = range_of(prepared.points, after);
}

void Pipeline::fit_sample(const MethodOptions& method, const Problem& prepared, Index sample, const Run& run) {
    const Index rows = prepared.rows();
    RandomStream random = run.random("pipeline.sample");
    const std::vector<Index> drawn = sample_rows(rows, sample, random);
    if (as_sparse(prepared.points) == nullptr)
        require_memory(internal::double_product(sample, prepared.columns(), size_of(prepared.points.scalar())),
                       filled("the sample of {} rows", sample));
    // The rows are gathered from the processes that hold them. Data given per row are available on all processes.
    Problem known = prepared;
    known.points = Points::borrow(PointsView(static_cast<const double*>(nullptr), rows, 0));
    Problem problem = known.subset(drawn);
    const SparsePoints* const sparse = as_sparse(prepared.points);
    problem.points = sparse != nullptr ? Points(std::make_shared<const SparsePoints>(sparse->subset(drawn)))
                                       : internal::gather_rows(prepared.points, drawn, run);
    try {
        internal::together(run.communicator(), [&] { check_points(problem.points, points_of_fit(), run.alone()); });
    } catch (const BadData&) {  // checks all rows, so that the message has the caller's row number
        check_points(prepared.points, points_of_fit(), run);
        throw;
    }
    Stopwatch watch;
    internal::together(run.communicator(),
                       [&] { model_ = method.method().fit(problem, method.values(), run.alone()); });
    const double fitted = watch.restart();
    if (!has(Output::outlier_score))
        outlier_scores_ = OutlierScores::fit(*model_, problem.points, problem.weights, run.alone().unstopped());
    // A fit that was asked to stop still has a result.
    const bool stopped = model_->fit_report().stopped == StopReason::interrupted;
    try {
        own_labels_ = model_->predict(prepared.points, stopped ? run.unstopped() : run);
    } catch (const BadData&) {  // the message of a fit also names the options for missing values
        if (run.communicator().size() == 1) check_points(prepared.points, points_of_fit(), run);
        throw;
    }
    // The rows of the sample keep the labels that the fit gave them.
    const internal::Range own = internal::own_rows(prepared.points, run);
    for (std::size_t i = 0; i < drawn.size(); ++i)
        if (own.has(drawn[i])) (*own_labels_)[at(drawn[i] - own.begin)] = model_->labels()[i];
    sample_ = sample;
    FitReport& report = report_.emplace(model_->fit_report());
    report.points = rows;
    count_clusters(report, *own_labels_, model_->clusters(), run);
    report.details.emplace_back("sample", static_cast<std::int64_t>(sample));
    report.seconds.emplace_back("fit the sample", fitted);
    report.seconds.emplace_back("label", watch.seconds());
}

void Pipeline::find_noise(double share, const Problem& prepared, const Run& run) {
    Stopwatch watch;
    const internal::Range own = internal::own_rows(prepared.points, run);
    const std::vector<double> scores = scores_of_kept(prepared.points, run);
    std::vector<double> counted;  // rows of weight 0 are absent
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (internal::weight_of(prepared.weights, own.begin + static_cast<Index>(i)) > 0) counted.push_back(scores[i]);
    const Index rows = internal::add_up(run.communicator(), {static_cast<Index>(counted.size())}).front();
    const auto noise = static_cast<Index>(std::llround(share * static_cast<double>(rows)));
    noise_beyond_ = threshold_beyond(counted, std::min(noise, rows - 1), run);
    Labels labels = labels_of_prepared();
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores[i] > *noise_beyond_) labels[i] = -1;
    own_labels_ = std::move(labels);
    FitReport report = fit_report();
    count_clusters(report, *own_labels_, model_->clusters(), run);
    report.details.emplace_back("noise_share", share);
    report.details.emplace_back("noise_beyond", *noise_beyond_);
    report.seconds.emplace_back("noise", watch.seconds());
    report_ = std::move(report);
}

bool Pipeline::has(Output which) const {
    return model_->outputs().has(which) || (which == Output::outlier_score && !outlier_scores_.empty());
}

Index Pipeline::output_columns(Output which) const {
    if (which == Output::outlier_score && !outlier_scores_.empty()) return 1;
    return model_->output_columns(which);
}

void Pipeline::apply_to_kept(const Points& rows, const Wanted& wanted, const Run& run,
                             FunctionRef<void(const RowResults&)> take) const {
    const auto asked = std::ranges::count(wanted.outputs, Output::outlier_score);
    const bool makes_noise = noise_beyond_ && wanted.labels;
    if (outlier_scores_.empty() || (asked == 0 && !makes_noise)) return model_->apply(rows, wanted, run, take);
    // Scores need the clusters, and the embedding or the rows.
    Wanted of_model{.labels = true, .outputs = wanted.outputs};
    std::erase(of_model.outputs, Output::outlier_score);
    const auto place = at(std::ranges::find(of_model.outputs, Output::embedding) - of_model.outputs.begin());
    if (outlier_scores_.of_embedding() && place == of_model.outputs.size())
        of_model.outputs.push_back(Output::embedding);
    const SparsePoints* const sparse = as_sparse(rows);
    RowBuffer buffer;
    model_->apply(rows, of_model, run, [&](const RowResults& found) {
        const auto scores_of = [&] {
            if (outlier_scores_.of_embedding()) return outlier_scores_.of(found.outputs[place], found.labels);
            // Rows that are not in memory are read again.
            const Index end = found.first + static_cast<Index>(found.labels.size());
            if (sparse == nullptr) return outlier_scores_.of(rows.view().block(found.first, end, buffer), found.labels);
            return outlier_scores_.of(PointsView(sparse->slice(found.first, end)), found.labels);
        };
        const std::vector<double> scores = scores_of();
        RowResults out{.first = found.first, .labels = {}, .outputs = {}};
        if (wanted.labels) out.labels = found.labels;
        for (std::size_t i = 0; makes_noise && i < scores.size(); ++i)
            if (scores[i] > *noise_beyond_) out.labels[i] = -1;
        std::size_t next = 0;
        for (const Output which : wanted.outputs) {
            if (which != Output::outlier_score) {
                out.outputs.push_back(found.outputs[next++]);
                continue;
            }
            for (std::size_t i = 0; i < scores.size(); ++i)
                if (!std::isfinite(scores[i]))
                    throw BadData(
                        Code::overflow,
                        "the outlier score is not finite, because values of the row or of the model are too large", "",
                        {.option = "points", .row = found.first + static_cast<Index>(i) + 1});
            out.outputs.push_back(column_of(scores));
        }
        take(out);
    });
}

std::vector<double> Pipeline::scores_of_kept(const Points& rows, const Run& run) const {
    std::vector<double> out;
    apply_to_kept(rows, {.labels = false, .outputs = {Output::outlier_score}}, run, [&](const RowResults& results) {
        const Matrix<double>& scores = results.outputs.front();
        out.insert(out.end(), scores.data(), scores.data() + scores.size());
    });
    return out;
}

PreparedRows Pipeline::prepare(const Points& rows, const std::vector<std::string>& column_names, const Run& run,
                               const std::vector<std::vector<std::string>>& categories) const {
    if (run.communicator().size() > 1)
        internal::require_same_work(internal::Work(filled("apply a model of {}", model_->method())).add(rows),
                                    run.communicator());
    PreparedRows out{rows, {}};
    std::vector<std::vector<std::string>> words = categories;
    const bool by_name =
        !column_names_.empty() && !column_names.empty() && static_cast<Index>(column_names.size()) == rows.columns();
    if (by_name) {
        if (column_names != column_names_) {
            const std::vector<std::size_t> positions = positions_of(column_names_, column_names);
            out.points = columns_of(rows, positions);
            if (!categories.empty()) {
                words.clear();
                for (const std::size_t j : positions) words.push_back(categories[j]);
            }
        }
    } else {
        if (rows.columns() != columns())
            throw BadData(Code::wrong_shape,
                          filled("{}, but the model was fitted on {}", counted(rows.columns(), "column"), columns()),
                          column_names_.empty() ? "" : "Give the columns " + listed(column_names_),
                          {.option = "points"});
        if (!column_names_.empty())
            out.warnings.push_back(
                {.code = Code::columns_by_order,
                 .problem = "the rows have no column names, so their columns are matched to the model's by order",
                 .remedy = "Check that the order is " + listed(column_names_)});
    }
    if (coding_.identity())
        for (std::size_t j = 0; j < words.size(); ++j)
            if (!words[j].empty())
                throw internal::bad_column(Code::wrong_type, j, column_names_,
                                           "this column holds words, but the model was fitted on numbers");
    require_values(out.points, coding_.kinds(), words, column_names_, coding_.options(), "predict", run);
    if (coding_.options().missing == Missing::drop) {
        out.left_out = rows_with_missing(out.points, run);
        if (!out.left_out.empty()) out.warnings.push_back(internal::rows_left_out(out.left_out.size(), rows.rows()));
        out.points = without_rows(out.points, out.left_out);
    }
    out.points = out.coded = coding_.apply(out.points, words, column_names_, run, out.warnings);
    Index zero_rows = 0;
    out.points = preparation_.apply(out.points, run, &zero_rows);
    if (zero_rows > 0) out.warnings.push_back(Preparation::zero_rows_warning(zero_rows));
    return out;
}

Index PreparedRows::own_rows(const Run& run) const {
    return Gaps(left_out, points.rows()).around(internal::own_rows(points, run)).all.count();
}

void Pipeline::read_by(ReadOptions& options) const {
    coding_.options().read_by(options);
    options.advises = false;  // no hints: the columns were chosen with the fit
    options.wanted_columns = column_names_;
    options.wanted_kinds = coding_.kinds();
}

std::string Pipeline::preparation_text() const {
    const std::string coding = coding_.text();
    if (coding.empty()) return preparation_.text();
    return preparation_.identity() ? coding : coding + ", " + preparation_.text();
}

void Pipeline::admit(const Run& run) const {
    internal::admit(model_->method(), find_method(model_->method()).takes, run.alone());
}

Labels Pipeline::predict(const PreparedRows& rows, const Run& run) const {
    admit(run);
    const auto labels = [&] {
        if (!noise_beyond_) return model_->predict(rows.points, run);
        Labels out;
        apply_to_kept(rows.points, {}, run, [&](const RowResults& results) {
            out.insert(out.end(), results.labels.begin(), results.labels.end());
        });
        return out;
    };
    if (rows.left_out.empty()) return labels();
    const Gaps gaps(rows.left_out, rows.points.rows());
    const Labels kept = rows.points.empty() ? Labels() : labels();
    return gaps.filled(kept, gaps.around(internal::own_rows(rows.points, run)));
}

Matrix<double> Pipeline::output(Output which, const PreparedRows& rows, const Run& run) const {
    admit(run);
    if (which == Output::outlier_score && !has(which))
        throw BadArgument(Code::not_supported,
                          filled("this model of method {} has no outlier_score, because it was fitted on affinities or "
                                 "by an older version of coterie",
                                 model_->method()),
                          "Fit again on rows");
    const auto output = [&] {
        if (which != Output::outlier_score || outlier_scores_.empty()) return model_->output(which, rows.points, run);
        return column_of(scores_of_kept(rows.points, run));
    };
    if (rows.left_out.empty()) return output();
    const Gaps gaps(rows.left_out, rows.points.rows());
    const Matrix<double> kept = rows.points.empty() ? Matrix<double>(0, output_columns(which)) : output();
    return gaps.filled(kept, gaps.around(internal::own_rows(rows.points, run)));
}

void Pipeline::apply(const PreparedRows& rows, const Wanted& wanted, const Run& run,
                     FunctionRef<void(const RowResults&)> take) const {
    admit(run);
    if (rows.left_out.empty()) return apply_to_kept(rows.points, wanted, run, take);
    if (rows.points.empty())
        throw BadData(Code::missing_value, "every row has a missing value, and the model leaves such rows out", "",
                      {.option = "points"});
    const Gaps gaps(rows.left_out, rows.points.rows());
    apply_to_kept(rows.points, wanted, run, [&](const RowResults& kept) {
        const Index count = kept.labels.empty() ? (kept.outputs.empty() ? 0 : kept.outputs.front().rows())
                                                : static_cast<Index>(kept.labels.size());
        const auto place = gaps.around({kept.first, kept.first + count});
        RowResults all{.first = place.all.begin, .labels = {}, .outputs = {}};
        if (!kept.labels.empty()) all.labels = gaps.filled(kept.labels, place);
        for (const auto& rows_of_one : kept.outputs) all.outputs.push_back(gaps.filled(rows_of_one, place));
        take(all);
    });
}

Archive Pipeline::archive() const {
    Archive out{std::string(model_->method())};
    model_->store(out);
    coding_.store(out);
    preparation_.store(out);
    Parts writing(&out);
    const_cast<Pipeline*>(this)->own_parts(writing);  // parts() only reads the pipeline while an archive is written
    if (!column_names_.empty())
        out.set_text(names_key,
                     nlohmann::json(column_names_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    // How the model was made, for people who find the file later.
    const FitReport& report = fit_report();
    if (report.points > 0) {
        out.set_text("points", std::to_string(report.points));
        if (sample_ > 0) out.set_text("sample", std::to_string(sample_));
        out.set_text("seed", std::to_string(report.seed));
        out.set_text("iterations", std::to_string(report.iterations));
        out.set_text("stopped", std::string(name(report.stopped)));
        out.set_text("objective", to_text(report.objective));
    }
    return out;
}

void Pipeline::own_parts(Parts& parts) {
    parts.bind('d', model_->dimensions());
    if (parts.present("column_range", column_range_.size() > 0))
        parts.add("column_range", column_range_, "2 x d",
                  "the smallest and the largest value of each prepared column in the training data");
    outlier_scores_.parts(parts, *model_);
    if (!parts.present("noise_beyond", noise_beyond_.has_value())) return;
    double beyond = noise_beyond_.value_or(0);
    parts.add("noise_beyond", beyond, "rows with a larger outlier score are noise", at_least(0));
    noise_beyond_ = beyond;
    if (parts.reading() && outlier_scores_.empty())
        throw BadData(Code::malformed, "the model has noise_beyond, but it has no outlier_centroids");
}

std::vector<PartDescription> Pipeline::part_descriptions() const {
    std::vector<PartDescription> out = model_->part_descriptions();
    Parts listing;
    const_cast<Pipeline*>(this)->own_parts(listing);
    out.insert(out.end(), listing.descriptions().begin(), listing.descriptions().end());
    return out;
}

void Pipeline::save(const std::string& path) const { archive().save(path); }

Pipeline Pipeline::from(const Archive& archive, const std::string& source) try {
    Pipeline out;
    out.model_ = model_of(archive);
    out.coding_ = ColumnCoding::from(archive);
    out.preparation_ = Preparation::from(archive);
    if (!out.coding_.identity() && out.coding_.columns_out() != out.model_->dimensions())
        throw BadData(Code::malformed, filled("the columns give {} numbers per row, but the model takes {}",
                                              out.coding_.columns_out(), out.model_->dimensions()));
    Parts reading(&archive);
    out.own_parts(reading);
    const auto stored = archive.texts().find(names_key);
    if (stored == archive.texts().end()) return out;
    const auto refuse = [](const std::string& why) {
        throw BadData(Code::malformed, "the text 'column_names' " + why);
    };
    const auto names = formats::parse_json(stored->second, refuse);
    if (!names.is_array() || static_cast<Index>(names.size()) != out.columns() ||
        !std::ranges::all_of(names, [](const auto& name) { return name.is_string(); }))
        refuse("is not a list of " + counted(out.columns(), "name"));
    for (const auto& name : names) out.column_names_.push_back(name.template get<std::string>());
    return out;
} catch (BadData& error) {
    if (!source.empty()) error.amend([&](Message& message) { message.file = source; });
    throw;
}

Pipeline Pipeline::load(const std::string& path) { return from(Archive::load(path), path); }

}  // namespace coterie
