#pragma once
// Labels beside a truth: which rows are compared, how well they agree, and what labels of clusters are called.

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

/// One label per row, and what to call them. -1: not known.
struct Truth {
    LabelColumn column;
    std::string source;
};
/// Rows: classes. Columns: the cluster matched to each class, in the classes' order, then the clusters that no class is
/// left for.
struct Confusion {
    std::vector<std::string> classes;
    std::vector<std::string> clusters;
    std::vector<std::string> matched;  // class of each column; empty: none
    std::vector<std::vector<std::int64_t>> counts;
};

/// How labels agree with a truth, over the rows whose truth is known and was not given to the fit.
struct Agreement {
    Scores scores;
    /// Of these rows, the share whose label has the truth's name; none where labels and truth have no name in common.
    std::optional<double> label_accuracy;
    Confusion confusion;
    Index scored = 0;
    Index given = 0;    // rows left out because partial labels told the fit about them
    Index unknown = 0;  // rows left out because they have no truth, or no label
};
/// BadData when labels and truth differ in length, naming both, and when no row is left to score. `partial_labels`:
/// what the fit was given; rows it was told about are left out.
COTERIE_API Agreement compare(const LabelColumn& labels, const std::string& labels_source, const Truth& truth,
                              LabelSpan partial_labels = {});
/// The warning where label_accuracy is none though labels have names.
COTERIE_API std::string no_name_in_common(const std::string& truth_source);
/// BadData unless there is a label for each of the rows, naming both.
COTERIE_API void require_rows(const Labels& labels, const std::string& what, Index rows, const std::string& source);

/// Labels as files and scores show them: the clusters of a label are one, under its name and its number; free clusters
/// come after the labels, in their order. Where clusters have no labels, the clusters themselves, without names.
COTERIE_API LabelColumn merged_by_label(const Labels& clusters, const ClusterLabels& of_clusters);

/// What a label came to. Counts are there where points are.
struct LabelGroup {
    std::string name;
    std::vector<int> clusters;
    Index points = 0;
    Index labelled = 0;                                   // of the partial labels
    double share = 0;                                     // points over all points
    std::optional<std::pair<double, double>> asked = {};  // least and largest share that was asked for
};
/// One per label, in their order. `sizes`: points per cluster, or empty.
COTERIE_API std::vector<LabelGroup> label_groups(const ClusterLabels& of_clusters, const std::vector<Index>& sizes,
                                                 LabelSpan partial_labels = {});

/// Points per cluster.
COTERIE_API std::vector<Index> cluster_sizes(const Labels& labels, int clusters);

}  // namespace coterie
