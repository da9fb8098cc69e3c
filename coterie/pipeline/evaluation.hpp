#pragma once
// Compares labels with a truth: which rows count, how well they agree, and the names of the clusters.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

/// One label per row, and the names of the labels. -1: not known.
struct Truth {
    LabelColumn column;
    std::string source;
};
/// Rows: classes. Columns: the cluster matched to each class, in the order of the classes, then the unmatched clusters.
struct Confusion {
    std::vector<std::string> classes;
    std::vector<std::string> clusters;
    std::vector<std::string> matched;  // class of each column; empty: no class
    std::vector<std::vector<std::int64_t>> counts;
};

/// How labels agree with a truth, over the rows whose truth is known and was not given to the fit.
struct Agreement {
    Scores scores;
    /// The share of these rows whose label has the same name as the truth; none if labels and truth have no name in
    /// common.
    std::optional<double> label_accuracy;
    Confusion confusion;
    Index scored = 0;
    Index given = 0;    // rows left out because partial labels gave their label to the fit
    Index unknown = 0;  // rows left out because they have no truth or no label
};
/// Throws BadData, naming both, if labels and truth differ in length, and if no row is left to score. `partial_labels`:
/// the labels given to the fit; rows with such a label are left out.
COTERIE_API Agreement compare(const LabelColumn& labels, const std::string& labels_source, const Truth& truth,
                              LabelSpan partial_labels = {});
/// The warning for labels that have names but none in common with the truth.
COTERIE_API Message no_name_in_common(const std::string& truth_source);
/// Throws BadData, naming both, unless there is one label per row.
COTERIE_API void require_rows(const Labels& labels, const std::string& what, Index rows, const std::string& source);

/// Labels as files and scores show them. The clusters of a label become one, with the label's name and number. Then
/// follow free clusters (without a label), in order. If no cluster has a label, returns the clusters, without names.
COTERIE_API LabelColumn merged_by_label(const Labels& clusters, const ClusterLabels& of_clusters);

/// The result for one label. Counts are 0 if `sizes` is empty.
struct LabelGroup {
    std::string name;
    std::vector<int> clusters;
    Index points = 0;
    Index labelled = 0;                                   // rows with this partial label
    double share = 0;                                     // its points divided by all points
    std::optional<std::pair<double, double>> asked = {};  // the requested minimum and maximum share
};
/// One entry per label, in order. `sizes`: points per cluster, or empty.
COTERIE_API std::vector<LabelGroup> label_groups(const ClusterLabels& of_clusters, const std::vector<Index>& sizes,
                                                 LabelSpan partial_labels = {});

/// Points per cluster.
COTERIE_API std::vector<Index> cluster_sizes(const Labels& labels, int clusters);

}  // namespace coterie
