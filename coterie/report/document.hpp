#pragma once
// What is said about a finished fit, and about points that a fitted model was applied to. The text that a person reads,
// the JSON document that a program reads and the page (report/page.hpp) are views of these.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/methods.hpp"
#include "coterie/model/fit_report.hpp"
#include "coterie/pipeline/description.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/model_comparison.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/selection/cluster_choice.hpp"
#include "coterie/selection/origin.hpp"

namespace coterie {

using Seconds = std::vector<std::pair<std::string, double>>;  // wall-clock seconds of stages, in their order

/// What both have.
struct ClusteringResult : Origin {
    std::string source;                      // where the points are from
    std::string preprocessing;               // Preparation::text()
    LabelColumn labels;                      // merged_by_label; empty after transform
    std::vector<Index> sizes;                // points per cluster
    Index noise = 0;                         // points in none
    Index rows_left_out = 0;                 // for missing values: beside the points, without a label
    std::optional<double> noise_beyond;      // the outlier score beyond which points are; none: no share was asked for
    std::vector<LabelGroup> groups;          // with partial labels
    std::optional<Description> description;  // the caller's to fill: of describe, or with profiles alone
    std::optional<Agreement> agreement;
    std::optional<ModelComparison> comparison;  // the caller's to fill: another model's clusters of the same rows
    std::string truth_source;
    Seconds seconds;
    std::vector<std::string> warnings;
    std::vector<std::string> notes;  // the caller's
};

struct FitResult : ClusteringResult {
    const Method* method = nullptr;
    OptionValues options;  // all of them, defaults too
    std::string scalar;    // "float32"
    FitReport report;
    std::optional<SizeBounds> size_bounds;  // as the problem had them
    Index sample = 0;                       // rows that the method saw where it did not see all
    std::optional<ClusterChoice> choice;    // the caller's: how many clusters, where that was to be found
    bool interrupted = false;
};

struct AppliedResult : ClusteringResult {
    std::string method;
    std::string model;     // where it is from
    Index points = 0;      // n
    Index dimensions = 0;  // d that the model takes
    Index moved_to = 0;    // dimensions after transform; 0 after predict
    int clusters = 0;      // k of the model
    int threads = 1;
};

/// The AppliedResult of describe: sizes, description and its warnings.
COTERIE_API AppliedResult description_result(const Pipeline& pipeline, Description description,
                                             const PreparedRows& rows, const std::string& source);

/// Of a pipeline that `method` was fitted in with the options `given`, and the n labels of all its points, which may be
/// left out (none) where there is no truth; scored where there is one, noise as a group of its own. Seconds:
/// preprocess, fit, the stages of the fit, score. BadData when the truth does not fit (compare).
COTERIE_API FitResult fit_result(const Pipeline& pipeline, const Labels& labels, const Method& method,
                                 const OptionValues& given, const Problem& problem, const std::string& source,
                                 const std::optional<Truth>& truth = {});

/// Of so many points per cluster, and in none, as the pipeline predicts them; scored where there is a truth, which
/// needs the labels of all points. Rows that are `left_out` are not scored.
COTERIE_API AppliedResult predict_result(const Pipeline& pipeline, std::vector<Index> sizes, const Labels& clusters,
                                         const std::string& source, const std::optional<Truth>& truth = {},
                                         Index noise = 0, const std::vector<Index>& left_out = {});
/// Of these rows, and the dimensions of their embedding.
COTERIE_API AppliedResult transform_result(const Pipeline& pipeline, const PreparedRows& rows, Index dimensions,
                                           const std::string& source);

/// One line: "kmeans on data:digits: 1797 points, 64 dimensions, 10 clusters".
COTERIE_API std::string title(const FitResult& result);
COTERIE_API std::string text_document(const FitResult& result);
COTERIE_API std::string text_document(const AppliedResult& result);
/// Keys stand in the order in which they are documented; bytes that are no UTF-8 are replaced.
COTERIE_API std::string json_document(const FitResult& result);
COTERIE_API std::string json_document(const AppliedResult& result);

}  // namespace coterie
