// Runs the methods one after the other, each with all threads, so that their times can be compared. Each method states
// for how many rows it is compared by default (About::compare).

#include "coterie/selection/compare_methods.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "coterie/base/checks.hpp"
#include "coterie/base/text_format.hpp"
#include "coterie/metrics/criteria.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "coterie/selection/internal/many_fits.hpp"

namespace coterie {
namespace {

constexpr Index most_of_silhouette = 5000;

void judge(ComparedMethod& method, const Pipeline& pipeline, LabelSpan truth, const Run& run) {
    // labels_of_prepared() covers the rows that were not left out.
    const Labels& labels = pipeline.labels_of_prepared();
    Labels known, classes;
    for (std::size_t i = 0; i < method.labels.size() && !truth.empty(); ++i) {
        if (truth[i] < 0 || std::ranges::binary_search(pipeline.left_out(), static_cast<Index>(i))) continue;
        known.push_back(method.labels[i]);
        classes.push_back(truth[i]);
    }
    if (!known.empty()) method.scores = score(known, classes);
    std::vector<Index> inside;
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] >= 0) inside.push_back(static_cast<Index>(i));
    const std::set<std::int32_t> distinct(labels.begin(), labels.end());
    const std::size_t clusters = distinct.size() - distinct.count(-1);
    if (clusters < 2 || clusters >= inside.size()) return;
    const bool all = inside.size() == labels.size();
    if (!all && !pipeline.prepared().resident()) return;
    const Points points = all ? pipeline.prepared() : rows_of(pipeline.prepared(), inside);
    const Labels of = all ? labels : internal::entries_of(LabelSpan(labels), inside);
    try {
        method.silhouette = silhouette(points, of, run, points.rows() > most_of_silhouette ? most_of_silhouette : 0);
    } catch (const BadArgument&) {  // all drawn rows are in one cluster
        method.warnings.push_back(
            {.code = Code::note, .problem = "no silhouette: all rows drawn for it are in one cluster"});
    }
    method.calinski_harabasz = calinski_harabasz(points, of, run);
    method.davies_bouldin = davies_bouldin(points, of, run);
}

}  // namespace

DefaultMethods default_methods(Index rows, Index columns) {
    DefaultMethods out;
    for (const Method& method : methods()) {
        const ByDefault& limits = method.about.compare;
        const auto skip = [&](const std::string& why) { out.left_out.emplace_back(method.name, why); };
        if (limits.most_rows == 0)
            skip(std::string(limits.why_not));
        else if (rows < limits.least_rows)
            skip("is for at least " + internal::count_text(limits.least_rows) + " rows");
        else if (rows > limits.most_rows)
            skip("slow above " + internal::count_text(limits.most_rows) + " rows");
        else if (columns > limits.most_columns)
            skip("slow above " + internal::count_text(limits.most_columns) + " columns");
        else
            out.methods.push_back(method.name);
    }
    return out;
}

namespace {

void require_comparison(const Problem& problem, const CompareOptions& options, const Run& run) {
    if (options.clusters < 1) throw refused_option("clusters", std::int64_t{options.clusters}, "at least 1");
    if (problem.graph)
        throw BadArgument(Code::not_supported, "compare needs rows, not affinities", "", {.option = "graph"});
    if (run.communicator().size() > 1) throw BadArgument(Code::not_supported, "compare works in one process only");
    for (auto name = options.methods.begin(); name != options.methods.end(); ++name) {
        find_method(*name);
        if (std::find(options.methods.begin(), name, *name) != name)
            throw BadArgument(Code::duplicate, *name + " is named twice", "Name each method once",
                              {.option = "methods"});
    }
}

Matrix<double> agreement_of(const std::vector<Labels>& found) {
    const auto count = static_cast<Index>(found.size());
    Matrix<double> out = Matrix<double>::Constant(count, count, ComparedMethod::unknown);
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b) {
            const Labels& left = found[internal::at(a)];
            const Labels& right = found[internal::at(b)];
            if (!left.empty() && !right.empty()) out(a, b) = adjusted_rand_index(left, right);
        }
    return out;
}

// Fits one method. Returns the labels of the rows without missing values; empty if the method failed.
Labels fit_one(ComparedMethod& one, const PreparedProblem& problem, const Method& method, int clusters, LabelSpan truth,
               const Run& run) {
    OptionValues values;
    if (takes_clusters(method)) values["clusters"] = std::int64_t{clusters};
    Run own = method.takes.device ? run : run.within();
    own.on_progress = nullptr;
    Labels found;
    Stopwatch watch;
    const std::exception_ptr failure = selection::internal::recorded([&] {
        run.throw_if_stopped("compare");
        const Pipeline pipeline = Pipeline::fit(problem, {method, values}, {}, own);
        one.seconds = watch.seconds();
        if (pipeline.fit_report().stopped == StopReason::interrupted) throw Cancelled::during(method.name);
        one.labels = pipeline.labels();
        one.sizes = pipeline.fit_report().sizes;
        one.warnings = pipeline.fit_report().warnings;
        for (const Message& warning : pipeline.warnings())
            if (std::ranges::find(problem.warnings, warning) == problem.warnings.end()) one.warnings.push_back(warning);
        judge(one, pipeline, truth, own);
        found = pipeline.labels_of_prepared();
    });
    if (!failure) return found;
    one.error = selection::internal::message_of(failure);
    one.seconds = watch.seconds();
    return {};
}

}  // namespace

Comparison compare_methods(const Problem& problem, const CompareOptions& options, const Settings& settings,
                           const Run& run, LabelSpan truth) {
    require_comparison(problem, options, run);
    return compare_methods(PreparedProblem::of(problem, settings, run), options, run, truth);
}

Comparison compare_methods(const PreparedProblem& problem, const CompareOptions& options, const Run& run,
                           LabelSpan truth) {
    require_comparison(problem.problem, options, run);
    check_points(problem.problem.points, points_of_fit(), run);
    if (!truth.empty()) selection::internal::require_truth_per_row(problem.all_rows(), truth);
    Comparison out;
    out.rows_left_out = static_cast<Index>(problem.left_out.size());
    out.points = problem.problem.rows();
    out.clusters = options.clusters;
    out.warnings = problem.warnings;
    if (out.points > most_of_silhouette) out.silhouette_sample = most_of_silhouette;
    std::vector<std::string> names = options.methods;
    if (names.empty()) {
        DefaultMethods chosen = default_methods(out.points, problem.problem.columns());
        names = std::move(chosen.methods);
        out.left_out = std::move(chosen.left_out);
    }
    std::vector<Labels> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
        run.report({.stage = names[i],
                    .fraction = static_cast<double>(i) / static_cast<double>(names.size()),
                    .objective = ComparedMethod::unknown});
        ComparedMethod one;
        one.method = names[i];
        try {
            found.push_back(fit_one(one, problem, find_method(names[i]), options.clusters, truth, run));
        } catch (const Cancelled&) {
            if (out.methods.empty()) throw;
            out.interrupted = true;
            break;
        }
        out.methods.push_back(std::move(one));
    }
    out.agreement = agreement_of(found);
    return out;
}

std::vector<Message> warnings_of_methods(const Comparison& comparison) {
    std::vector<std::pair<Message, std::vector<std::string>>> found;  // the methods of each warning
    std::size_t fitted = 0;
    for (const ComparedMethod& method : comparison.methods) {
        fitted += method.error.empty();
        for (const Message& warning : method.warnings) {
            auto place =
                std::find_if(found.begin(), found.end(), [&](const auto& each) { return each.first == warning; });
            if (place == found.end()) place = found.insert(found.end(), {warning, {}});
            if (place->second.empty() || place->second.back() != method.method) place->second.push_back(method.method);
        }
    }
    std::vector<Message> out;
    for (auto& [warning, methods] : found) {
        if (methods.size() < fitted || fitted < 2) warning.context = internal::join(methods);
        out.push_back(std::move(warning));
    }
    return out;
}

}  // namespace coterie
