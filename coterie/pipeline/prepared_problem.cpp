// The preparation is learned from all rows, in blocks and over all processes, so that a fit, a search and a page see
// the same rows.

#include "coterie/pipeline/prepared_problem.hpp"

#include <utility>

#include "coterie/base/checks.hpp"
#include "coterie/base/text.hpp"
#include "coterie/pipeline/left_out.hpp"

namespace coterie {
namespace {

// Removes the rows with missing values from the points and from all data given per row.
std::vector<Index> leave_out_missing(Problem& problem, const ColumnOptions& columns, const Run& run,
                                     std::vector<Message>& warnings) {
    if (columns.missing != Missing::drop) return {};
    std::vector<Index> left_out = rows_with_missing(problem.points, run);
    if (left_out.empty()) return left_out;
    const Index all = problem.rows();
    if (static_cast<Index>(left_out.size()) == all) throw internal::no_row_is_complete();
    if (!problem.weights.empty()) check_weights(problem.weights, all);
    problem.points = without_rows(problem.points, left_out);
    internal::erase_rows(problem.weights, left_out);
    internal::erase_rows(problem.partial_labels, left_out);
    internal::erase_pairs(problem.must_links, left_out);
    internal::erase_pairs(problem.cannot_links, left_out);
    std::vector<Index> numbers;
    for (Index i = 0; i < all; ++i) numbers.push_back(problem.row_number(i));
    internal::erase_rows(numbers, left_out);
    problem.row_numbers = std::move(numbers);
    warnings.push_back(internal::rows_left_out(left_out.size(), all));
    return left_out;
}

}  // namespace

const OptionSet& Settings::described() {
    static const OptionSet set =
        OptionSetFor<Settings>()
            .integer<int>("sample", &Settings::sample, at_least(1),
                          "fit on this many random rows and label the others with the model; "
                          "`center` and `scale` are learned from all rows",
                          "all rows")
            .real("noise_share", &Settings::noise_share, {.low = 0, .high = 0.5, .low_open = false, .high_open = true},
                  "label this share of the rows as noise (-1), those with the largest outlier "
                  "scores; predict uses the same threshold for new rows; 0: no noise");
    return set;
}

void check_settings(const Settings& settings) {
    check_options(settings);
    check_options(settings.preparation);
    check_options(settings.columns);
}

PreparedProblem PreparedProblem::of(const Problem& problem, const Settings& settings, const Run& run) {
    check_settings(settings);
    if (!problem.column_names.empty() && static_cast<Index>(problem.column_names.size()) != problem.columns())
        throw BadArgument(
            Code::wrong_shape,
            counted(problem.column_names.size(), "column name") + " for " + counted(problem.columns(), "column"),
            "Give one name per column, or none", {.option = "points"});
    Stopwatch watch;
    PreparedProblem out{.problem = problem};
    out.column_names = problem.column_names;
    Problem& coded = out.problem;
    if (!problem.graph) {
        require_values(coded.points, coded.column_kinds, coded.categories, coded.column_names, settings.columns,
                       "points", run);
        out.left_out = leave_out_missing(coded, settings.columns, run, out.warnings);
        out.coding = ColumnCoding::fit(coded.points, coded.column_kinds, coded.categories, coded.column_names,
                                       settings.columns, run, coded.weights);
        if (!coded.initial_centroids.empty()) out.coding.require_no_words("initial_centroids");
        coded.points = out.coding.apply(coded.points, coded.categories, coded.column_names, run, out.warnings);
        out.preparation =
            Preparation::fit(coded.points, settings.preparation, run, coded.weights, out.coding.indicators());
        coded.column_names = out.coding.names_out(coded.column_names);
    }
    out.coded = coded.points;
    const auto& learned = out.preparation.warnings();
    out.warnings.insert(out.warnings.end(), learned.begin(), learned.end());
    Index zero_rows = 0;
    out.problem = out.preparation.apply(coded, run, &zero_rows);
    if (zero_rows > 0) out.warnings.push_back(Preparation::zero_rows_warning(zero_rows));
    out.seconds = watch.seconds();
    return out;
}

}  // namespace coterie
