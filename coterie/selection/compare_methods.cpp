// Runs one method after the other, each with all threads, so that their times can be compared. A table gives the
// default list: the number of rows up to which a method is fast enough, or why it is not in the list.

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
#include "coterie/selection/internal/recorded.hpp"

namespace coterie {
namespace {

constexpr Index most_of_silhouette = 5000;
constexpr Index any_number = std::numeric_limits<Index>::max();

struct DefaultMethod {
    const char* name;
    Index least_rows, most_rows;
    Index most_columns = any_number;
};
constexpr DefaultMethod in_default_list[] = {
    {"kmeans", 0, any_number},  {"minibatch-kmeans", 20000, any_number},
    {"soft-kmeans", 0, 100000}, {"spherical-kmeans", 0, 100000},
    {"ward", 0, 20000},         {"kernel-kmeans", 0, 3000},
    {"spectral", 0, 10000},     {"subspace", 0, 50000, 1000},
    {"hdbscan", 0, 50000},
};

constexpr std::pair<const char*, const char*> why_not[] = {
    {"cpd", "its options must be chosen for the points"},
    {"fme", "its kernel's width must be chosen"},
    {"aml", "its options must be chosen for the points"},
    {"rpca-om", "its options must be chosen for the points"},
    {"entropy", "its options must be chosen for the points"},
    {"mi", "its rates must be chosen"},
    {"sela", "its options must be chosen for the points"},
    {"miadm", "its rates must be chosen"},
    {"wmc", "solves a problem for each row"},
    {"ssc", "solves a problem for each row"},
    {"ensc", "solves a problem for each row"},
    {"ssc-omp", "solves a problem for each row"},
    {"smce", "solves a problem for each row"},
};

std::string why_left_out(const Method& method) {
    for (const auto& [name, why] : why_not)
        if (method.name == name) return why;
    return method.takes.device ? "trains a network" : "is not in the default list";
}

template <class T>
std::vector<T> entries(const std::vector<T>& all, const std::vector<Index>& rows) {
    std::vector<T> out;
    for (const Index i : rows) out.push_back(all[static_cast<std::size_t>(i)]);
    return out;
}

void judge(ComparedMethod& method, const Pipeline& pipeline, LabelSpan truth, const Run& run) {
    // labels_of_prepared() covers the rows that were not left out.
    const Labels& labels = pipeline.labels_of_prepared();
    Labels known, classes;
    for (std::size_t i = 0; i < method.labels.size() && !truth.empty(); ++i) {
        const bool dropped =
            std::binary_search(pipeline.left_out().begin(), pipeline.left_out().end(), static_cast<Index>(i));
        if (dropped || truth[i] < 0) continue;
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
    const Labels of = all ? labels : entries(labels, inside);
    try {
        method.silhouette = silhouette(points, of, run, points.rows() > most_of_silhouette ? most_of_silhouette : 0);
    } catch (const BadArgument&) {  // all drawn rows are in one cluster
        method.warnings.push_back("the rows drawn for the silhouette are of one cluster");
    }
    method.calinski_harabasz = calinski_harabasz(points, of, run);
    method.davies_bouldin = davies_bouldin(points, of, run);
}

}  // namespace

DefaultMethods default_methods(Index rows, Index columns) {
    DefaultMethods out;
    for (const Method& method : methods()) {
        const auto entry = std::find_if(std::begin(in_default_list), std::end(in_default_list),
                                        [&](const DefaultMethod& each) { return method.name == each.name; });
        if (entry == std::end(in_default_list))
            out.left_out.emplace_back(method.name, why_left_out(method));
        else if (rows < entry->least_rows)
            out.left_out.emplace_back(method.name,
                                      "is for " + internal::count_text(entry->least_rows) + " rows and more");
        else if (rows > entry->most_rows)
            out.left_out.emplace_back(method.name,
                                      "takes long of more than " + internal::count_text(entry->most_rows) + " rows");
        else if (columns > entry->most_columns)
            out.left_out.emplace_back(method.name,
                                      "is slow above " + internal::count_text(entry->most_columns) + " columns");
        else
            out.methods.push_back(method.name);
    }
    return out;
}

Comparison compare_methods(const Problem& problem, const CompareOptions& options, const Run& run, LabelSpan truth) {
    if (options.clusters < 1) throw refused_option("clusters", std::int64_t{options.clusters}, "at least 1");
    check_options(options.preparation);
    check_options(options.columns);
    if (problem.graph) throw BadArgument("compare takes points; this problem is a graph of affinities");
    if (run.communicator().size() > 1) throw BadArgument("compare works in one process");
    const Index rows = problem.rows();
    if (!truth.empty() && static_cast<Index>(truth.size()) != rows)
        throw BadArgument("compare: truth has " + std::to_string(truth.size()) + " rows, there are " +
                          std::to_string(rows) + " points");
    Comparison out;
    if (options.columns.missing == Missing::drop)
        out.rows_left_out = static_cast<Index>(rows_with_missing(problem.points, run).size());
    const Index n = rows - out.rows_left_out;
    out.clusters = options.clusters;
    out.points = n;
    if (n > most_of_silhouette) out.silhouette_sample = most_of_silhouette;
    std::vector<std::string> names = options.methods;
    if (names.empty()) {
        DefaultMethods chosen = default_methods(n, problem.columns());
        names = std::move(chosen.methods);
        out.left_out = std::move(chosen.left_out);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        find_method(names[i]);
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i))
            throw BadArgument("option `methods`: " + names[i] + " is named twice", {.option = "methods"});
    }
    // A value that no method takes is the caller's error. It is reported once, not once per method.
    require_finite(problem.points, "points", run, true, options.columns.missing != Missing::refuse,
                   problem.column_names);
    std::vector<Labels> found;  // of the rows without missing values; empty where a method failed
    for (std::size_t i = 0; i < names.size() && !out.interrupted; ++i) {
        const Method& method = find_method(names[i]);
        ComparedMethod one;
        one.method = method.name;
        OptionValues values;
        if (takes_clusters(method)) values["clusters"] = std::int64_t{options.clusters};
        Run own = method.takes.device ? run : run.within();
        own.on_progress = nullptr;
        run.report({.stage = method.name,
                    .fraction = static_cast<double>(i) / static_cast<double>(names.size()),
                    .objective = ComparedMethod::unknown});
        found.emplace_back();
        Stopwatch watch;
        try {
            const std::exception_ptr failure = internal::recorded([&] {
                run.throw_if_stopped("compare");
                const Pipeline pipeline =
                    Pipeline::fit(method, values, problem, options.preparation, own, {}, options.columns);
                one.seconds = watch.seconds();
                if (pipeline.fit_report().stopped == StopReason::interrupted)
                    throw Cancelled("interrupted in " + method.name);
                one.labels = pipeline.labels();
                one.sizes = pipeline.fit_report().sizes;
                one.warnings = pipeline.warnings();
                const auto& said = pipeline.fit_report().warnings;
                one.warnings.insert(one.warnings.end(), said.begin(), said.end());
                judge(one, pipeline, truth, own);
                found.back() = pipeline.labels_of_prepared();
            });
            if (failure) one.error = internal::message_of(failure);
        } catch (const Cancelled&) {
            if (out.methods.empty()) throw;
            out.interrupted = true;
            break;
        }
        if (!one.error.empty()) one.seconds = watch.seconds();
        out.methods.push_back(std::move(one));
    }
    const auto count = static_cast<Index>(out.methods.size());
    out.agreement = Matrix<double>::Constant(count, count, ComparedMethod::unknown);
    for (Index a = 0; a < count; ++a)
        for (Index b = 0; b < count; ++b) {
            const Labels& left = found[static_cast<std::size_t>(a)];
            const Labels& right = found[static_cast<std::size_t>(b)];
            if (!left.empty() && !right.empty()) out.agreement(a, b) = adjusted_rand_index(left, right);
        }
    return out;
}

std::vector<std::string> warnings_of_methods(const Comparison& comparison) {
    std::vector<std::pair<std::string, std::vector<std::string>>> found;  // text, methods
    std::size_t fitted = 0;
    for (const ComparedMethod& method : comparison.methods) {
        fitted += method.error.empty();
        for (const std::string& warning : method.warnings) {
            auto place =
                std::find_if(found.begin(), found.end(), [&](const auto& each) { return each.first == warning; });
            if (place == found.end()) place = found.insert(found.end(), {warning, {}});
            if (place->second.empty() || place->second.back() != method.method) place->second.push_back(method.method);
        }
    }
    std::vector<std::string> out;
    for (const auto& [text, methods] : found)
        out.push_back((methods.size() == fitted && fitted > 1 ? "" : internal::join(methods) + ": ") + text);
    return out;
}

}  // namespace coterie
