// The command, Python and the page are views of the results made here, so they all report the same.

#include "coterie/report/document.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

void label_and_score(ClusteringResult& result, const Labels& clusters, const ClusterLabels& of_clusters,
                     const std::optional<Truth>& truth, const std::vector<Index>& left_out,
                     LabelSpan partial_labels = {}) {
    result.groups = label_groups(of_clusters, result.sizes, partial_labels);
    result.labels = merged_by_label(clusters, of_clusters);
    if (!truth) return;
    result.truth_source = truth->source;
    if (result.noise == 0) {
        result.agreement = compare(result.labels, result.source, *truth, partial_labels);
        return;
    }
    // As usual in the field, noise is scored as one more cluster.
    LabelColumn scored = result.labels;
    const auto noise = static_cast<std::int32_t>(std::max(result.sizes.size(), scored.names.size()));
    std::replace(scored.labels.begin(), scored.labels.end(), -1, noise);
    for (const Index row : left_out) scored.labels[at(row)] = -1;
    result.agreement = compare(scored, result.source, *truth, partial_labels);
    auto& names = result.agreement->confusion.clusters;
    std::replace(names.begin(), names.end(), std::to_string(noise), std::string("noise"));
}

void warn_of_other_names(ClusteringResult& result) {
    if (result.agreement && !result.groups.empty() && !result.agreement->label_accuracy)
        result.warnings.push_back(no_name_in_common(result.truth_source));
}

// Warns if `pretrained` names a model whose points were prepared differently.
void warn_of_other_preprocessing(FitResult& result) {
    const auto found = result.options.find("pretrained");
    if (found == result.options.end() || std::get<std::string>(found->second).empty()) return;
    const std::string& path = std::get<std::string>(found->second);
    try {
        const std::string before = Preparation::from(Archive::load(path)).text();
        if (before != result.preprocessing)
            result.warnings.push_back({.code = Code::model_mismatch,
                                       .problem = "the network was trained on rows with other preprocessing (" +
                                                  before + "; here: " + result.preprocessing + ")",
                                       .remedy = "Use the same `center` and `scale`",
                                       .option = "pretrained",
                                       .file = path});
    } catch (const BadData&) {  // from another program, or invalid: the fit reports it
    }
}

AppliedResult applied(const Pipeline& pipeline, Index points, const std::vector<Index>& left_out,
                      const std::string& source) {
    AppliedResult result;
    result.source = source;
    result.preprocessing = pipeline.preparation_text();
    result.method = pipeline.model().method();
    result.points = points;
    result.rows_left_out = static_cast<Index>(left_out.size());
    result.dimensions = pipeline.model().dimensions();
    result.clusters = pipeline.model().clusters();
    return result;
}

std::string share_percent(double share) { return fixed_text(100 * share, 1) + " %"; }

void add_sizes(Facts& rows, const ClusteringResult& result) {
    if (!result.sizes.empty()) rows.emplace_back("sizes", sizes_text(result.sizes));
    if (result.noise > 0 || result.noise_beyond) {
        const Index all = std::accumulate(result.sizes.begin(), result.sizes.end(), result.noise);
        rows.emplace_back(
            "noise",
            count_text(result.noise) + " (" +
                share_percent(static_cast<double>(result.noise) / static_cast<double>(all)) + ")" +
                (result.noise_beyond ? ", of outlier scores above " + formatted("%.4g", *result.noise_beyond) : ""));
    }
    if (result.rows_left_out > 0) rows.emplace_back("left out", left_out_text(result.rows_left_out));
    if (!result.groups.empty()) rows.emplace_back("labels", label_groups_text(result.groups, result.sizes));
}

void add_scores(Facts& rows, const ClusteringResult& result) {
    if (result.preprocessing != "none") rows.emplace_back("prepared by", result.preprocessing);
    if (result.agreement) rows.emplace_back("scores", scores_text(*result.agreement));
}

void add_seconds_and_written(Facts& rows, const ClusteringResult& result) {
    std::string seconds;
    for (const auto& [stage, value] : result.seconds)
        seconds += (seconds.empty() ? "" : ", ") + stage + " " + seconds_text(value);
    rows.emplace_back("seconds", seconds);
    for (auto [what, path] : result.written) {
        std::replace(what.begin(), what.end(), '_', ' ');
        rows.emplace_back(what, path);
    }
}

constexpr std::size_t most_clusters_told = 20;

std::string clusters_more(std::size_t clusters) {
    if (clusters <= most_clusters_told) return "";
    const auto more = static_cast<Index>(clusters - most_clusters_told);
    return "and " + counted_text(more, "cluster") + " more\n";
}

// One line per cluster.
std::string short_description(const Description& description) {
    if (description.clusters.empty()) return "";
    TextRows rows;
    for (const ClusterProfile& cluster : description.clusters) {
        if (rows.size() == most_clusters_told) break;
        rows.push_back(
            {cluster.name, count_text(cluster.rows), share_percent(cluster.share), columns_text(cluster, 2)});
    }
    return table({"cluster", "rows", "share", "set apart by"}, rows, {1, 2}) +
           clusters_more(description.clusters.size());
}

// The rows that moved compared with another model.
std::string moves_text(const ModelComparison& comparison) {
    constexpr std::size_t most = 5;
    std::string out = comparison.method + " of " + comparison.model + ": " + count_text(comparison.moved) + " of " +
                      count_text(comparison.agreement.scored) + (comparison.moved == 1 ? " row moved" : " rows moved") +
                      " (ARI " + share_text(comparison.agreement.scores.ari) + ")";
    for (std::size_t m = 0; m < std::min(most, comparison.moves.size()); ++m) {
        const ModelComparison::Move& move = comparison.moves[m];
        out += filled("{}{} from its {} to {} (row {}{})", m == 0 ? ": " : ", ", count_text(move.rows), move.from,
                      move.to, rows_text(move.some), static_cast<Index>(move.some.size()) < move.rows ? " ..." : "");
    }
    if (comparison.moves.size() > most) out += ", ...";
    return out;
}

// One block per cluster.
std::string long_description(const Description& description) {
    std::string out;
    std::size_t told = 0;
    for (const ClusterProfile& cluster : description.clusters) {
        if (told++ == most_clusters_told) break;
        out += "\ncluster " + cluster.name + ": " + counted_text(cluster.rows, "row") + " (" +
               share_percent(cluster.share) + ")";
        if (cluster.silhouette) out += ", silhouette " + fixed_text(*cluster.silhouette, 3);
        if (cluster.nearest) out += ", nearest to cluster " + description.clusters[at(*cluster.nearest)].name;
        out += "\n";
        TextRows rows;
        for (const ColumnProfile& column : cluster.columns) {
            rows.push_back({"  " + formats::shown(column.name),
                            !column.elsewhere                  ? "-"
                            : std::isfinite(column.difference) ? formatted("%+.2f", column.difference)
                            : column.difference > 0            ? "always higher"
                                                               : "always lower",
                            column.text(column.mean), column.elsewhere ? column.text(*column.elsewhere) : "-"});
            for (const double quartile : *column.quartiles) rows.back().push_back(column.text(quartile));
        }
        if (!rows.empty())
            out += table({"  column", "difference", "mean", "elsewhere", "25 %", "median", "75 %"}, rows,
                         {1, 2, 3, 4, 5, 6});
        if (!cluster.typical.empty()) out += "  typical rows " + rows_text(cluster.typical);
        if (!cluster.doubtful.empty()) out += "; doubtful rows " + rows_text(cluster.doubtful);
        if (!cluster.typical.empty()) out += "\n";
    }
    return out + clusters_more(description.clusters.size());
}

}  // namespace

FitResult fit_result(const Pipeline& pipeline, const Labels& labels, const Method& method, const OptionValues& given,
                     const Problem& problem, const std::string& source, const std::optional<Truth>& truth) {
    const Model& model = pipeline.model();
    FitResult result;
    result.source = source;
    result.method = &method;
    for (const auto& option : method.options->options()) result.options[option.name] = option.default_value;
    for (const auto& [name, value] : given) result.options[name] = value;
    if (const auto clusters = result.options.find("clusters"); clusters != result.options.end())
        clusters->second = std::int64_t{model.clusters()};
    result.scalar = std::string(name(problem.graph ? ScalarType::float64 : problem.points.scalar()));
    result.preprocessing = pipeline.preparation_text();
    result.report = pipeline.fit_report();
    result.sample = pipeline.sample();
    result.size_bounds = problem.sizes;
    result.sizes = result.report.sizes;
    result.noise = result.report.points - std::accumulate(result.sizes.begin(), result.sizes.end(), Index{0});
    result.noise_beyond = pipeline.noise_beyond();
    result.rows_left_out = static_cast<Index>(pipeline.left_out().size());
    result.interrupted = result.report.stopped == StopReason::interrupted;
    if (result.preprocessing != "none") result.seconds.emplace_back("preprocess", pipeline.preparation_seconds());
    result.seconds.emplace_back("fit", pipeline.fit_seconds());
    for (const auto& stage : result.report.seconds)
        if (std::none_of(result.seconds.begin(), result.seconds.end(),
                         [&](const auto& each) { return each.first == stage.first; }))
            result.seconds.push_back(stage);
    result.warnings = pipeline.warnings();
    warn_of_other_preprocessing(result);
    result.warnings.insert(result.warnings.end(), result.report.warnings.begin(), result.report.warnings.end());

    Stopwatch watch;
    label_and_score(result, labels, model.cluster_labels(), truth, pipeline.left_out(), problem.partial_labels);
    for (LabelGroup& group : result.groups)
        for (const LabelShare& share : problem.label_shares)
            if (share.label == group.name) group.asked = std::pair(share.low, share.high);
    if (!truth) return result;
    // Rows that the fit left out have no label, even if their truth is known.
    Index unknown = result.agreement->unknown;
    for (const Index row : pipeline.left_out())
        if (problem.partial_labels.empty() || problem.partial_labels[at(row)] < 0) --unknown;
    if (unknown > 0)
        result.warnings.push_back({.code = Code::note,
                                   .problem = count_text(unknown) + " of " + count_text(result.report.points) +
                                              (unknown == 1 ? " rows has no truth and is left out of the scores"
                                                            : " rows have no truth and are left out of the scores")});
    warn_of_other_names(result);
    result.seconds.emplace_back("score", watch.seconds());
    return result;
}

AppliedResult predict_result(const Pipeline& pipeline, std::vector<Index> sizes, const Labels& clusters,
                             const std::string& source, const std::optional<Truth>& truth, Index noise,
                             const std::vector<Index>& left_out) {
    AppliedResult result = applied(pipeline, std::accumulate(sizes.begin(), sizes.end(), noise), left_out, source);
    result.sizes = std::move(sizes);
    result.noise = noise;
    result.noise_beyond = pipeline.noise_beyond();
    label_and_score(result, clusters, pipeline.model().cluster_labels(), truth, left_out);
    warn_of_other_names(result);
    return result;
}

AppliedResult description_result(const Pipeline& pipeline, Description description, const PreparedRows& rows,
                                 const std::string& source) {
    AppliedResult result = applied(pipeline, rows.points.rows(), rows.left_out, source);
    for (const ClusterProfile& cluster : description.clusters) result.sizes.push_back(cluster.rows);
    result.noise = description.noise;
    result.noise_beyond = pipeline.noise_beyond();
    result.warnings = description.warnings;
    result.description = std::move(description);
    return result;
}

AppliedResult transform_result(const Pipeline& pipeline, const PreparedRows& rows, Index dimensions,
                               const std::string& source) {
    AppliedResult result = applied(pipeline, rows.points.rows(), rows.left_out, source);
    result.moved_to = dimensions;
    return result;
}

std::string FitResult::title() const {
    std::string clusters = counted_text(report.clusters_found, "cluster");
    if (report.clusters_found != report.clusters_requested)
        clusters += filled(" ({} asked for)", report.clusters_requested);
    return method->name + " on " + source + ": " + counted_text(report.points, "row") + ", " +
           counted_text(report.dimensions, "column") + ", " + clusters;
}

std::string text_document(const FitResult& result) {
    const FitReport& report = result.report;
    std::string objective = number_text(report.objective);
    if (report.stopped == StopReason::exact) {
        objective += " (exact)";
    } else {
        objective += filled(" after {} ({})", counted(report.iterations, "iteration"), name(report.stopped));
    }
    Facts rows;
    add_sizes(rows, result);
    if (result.sample > 0)
        rows.emplace_back("fitted on", count_text(result.sample) + " of " + count_text(report.points) + " rows");
    if (result.choice)
        rows.emplace_back("k", filled("chosen among {}, {}; {}", result.choice->why_these,
                                      name(result.choice->sureness), votes_text(*result.choice)));
    rows.emplace_back("objective", objective);
    add_scores(rows, result);
    if (result.agreement) rows.emplace_back("truth", truth_text(*result.agreement, result.truth_source));
    add_seconds_and_written(rows, result);
    return result.title() + "\n" + facts(rows) +
           (result.description ? "\n" + short_description(*result.description) : "");
}

std::string text_document(const AppliedResult& result) {
    Facts rows;
    add_sizes(rows, result);
    if (result.description) {
        const Description& description = *result.description;
        if (description.silhouette)
            rows.emplace_back("silhouette", fixed_text(*description.silhouette, 3) + " (" + description.silhouettes +
                                                ", of " + description.space + ")");
        if (description.closest)
            rows.emplace_back("nearest", "clusters " + description.clusters[at(description.closest->first)].name +
                                             " and " + description.clusters[at(description.closest->second)].name);
        if (!description.outliers.empty())
            rows.emplace_back("outliers", (description.outliers.size() == 1 ? "row " : "rows ") +
                                              outliers_text(description.outliers));
    }
    if (result.moved_to > 0) rows.emplace_back("columns", filled("{} to {}", result.dimensions, result.moved_to));
    add_scores(rows, result);
    if (result.comparison) rows.emplace_back("compared with", moves_text(*result.comparison));
    add_seconds_and_written(rows, result);
    return result.method + " of " + result.model + " on " + result.source + ": " + counted_text(result.points, "row") +
           "\n" + facts(rows) + (result.description ? long_description(*result.description) : "");
}

}  // namespace coterie
