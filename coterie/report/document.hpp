#pragma once
// The result of a finished fit, or of a fitted model that was applied to points. The text for people, the JSON document
// for programs and the page (report/page.hpp) show this result.

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

using Seconds = std::vector<std::pair<std::string, double>>;  // wall-clock seconds per stage, in order

/// The common part of both kinds of results.
struct ClusteringResult : Origin {
    std::string source;                  // source of the points
    std::string preprocessing;           // Preparation::text()
    LabelColumn labels;                  // merged_by_label; empty after transform
    std::vector<Index> sizes;            // points per cluster
    Index noise = 0;                     // number of noise points
    Index rows_left_out = 0;             // rows left out for missing values; not counted as points, without a label
    std::optional<double> noise_beyond;  // points with a larger outlier score are noise; none: no noise share was set
    std::vector<LabelGroup> groups;      // set with partial labels
    std::optional<Description> description;  // the caller sets it: by describe, or only the profiles
    std::optional<Agreement> agreement;
    std::optional<ModelComparison> comparison;  // the caller sets it: another model's clusters of the same rows
    std::string truth_source;
    Seconds seconds;
    std::vector<Message> warnings;
    std::vector<Message> notes;  // set by the caller
};

struct FitResult : ClusteringResult {
    const Method* method = nullptr;
    OptionValues options;  // all options, including defaults
    std::string scalar;    // "float32"
    FitReport report;
    std::optional<SizeBounds> size_bounds;  // as in the problem
    Index sample = 0;                       // rows that the method saw, if not all; else 0
    std::optional<ClusterChoice> choice;    // set by the caller if the number of clusters was chosen
    bool interrupted = false;

    /// One line: "kmeans on data:digits: 1,797 rows, 64 columns, 10 clusters".
    COTERIE_API std::string title() const;
};

struct AppliedResult : ClusteringResult {
    std::string method;
    std::string model;     // source of the model
    Index points = 0;      // n
    Index dimensions = 0;  // d that the model requires
    Index moved_to = 0;    // dimensions after transform; 0 after predict
    int clusters = 0;      // k of the model
    int threads = 1;
};

/// The result of `coterie describe`: sizes, description and its warnings.
COTERIE_API AppliedResult description_result(const Pipeline& pipeline, Description description,
                                             const PreparedRows& rows, const std::string& source);

/// The result of a fit of `method` with the options `given`. labels: n labels of all points; may be empty without a
/// truth. With a truth, scores the labels; noise counts as one more cluster. Seconds: preprocess, fit, the stages of
/// the fit, score. Throws BadData if the truth does not fit (compare).
COTERIE_API FitResult fit_result(const Pipeline& pipeline, const Labels& labels, const Method& method,
                                 const OptionValues& given, const Problem& problem, const std::string& source,
                                 const std::optional<Truth>& truth = {});

/// The result of a prediction. sizes: points per cluster; noise: number of noise points. With a truth, scores the
/// labels of all points in `clusters`. Rows in `left_out` are not scored.
COTERIE_API AppliedResult predict_result(const Pipeline& pipeline, std::vector<Index> sizes, const Labels& clusters,
                                         const std::string& source, const std::optional<Truth>& truth = {},
                                         Index noise = 0, const std::vector<Index>& left_out = {});
/// The result of transforming these rows to `dimensions` dimensions.
COTERIE_API AppliedResult transform_result(const Pipeline& pipeline, const PreparedRows& rows, Index dimensions,
                                           const std::string& source);

COTERIE_API std::string text_document(const FitResult& result);
COTERIE_API std::string text_document(const AppliedResult& result);
/// Keys are in the documented order. Bytes that are not UTF-8 are replaced.
COTERIE_API std::string json_document(const FitResult& result);
COTERIE_API std::string json_document(const AppliedResult& result);

}  // namespace coterie
