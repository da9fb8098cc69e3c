#pragma once
// Describes the clusters of some rows: their sizes, the columns that set them apart, and their typical and doubtful
// rows. Columns are described in the user's units, however the method prepares them.
//
// For cluster j and column p, with weights w_i (1 without weights):
//
//   share       sum of the cluster's weights over the sum of all
//   difference  d_jp = (mean in the cluster - mean elsewhere) / s,   s^2 = (Q_in + Q_out) / (W_in + W_out),
//               Q = sum w_i (x_ip - mean)^2 of either side, W = sum w_i: the standardised mean difference with the
//               pooled standard deviation (Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd ed. 1988,
//               section 2.2), with W in place of his n - 2, so that a weight acts as copies. Cohen calls 0.2 small,
//               0.5 medium, 0.8 large.
//   s_i         (b_i - a_i) / max(a_i, b_i), a_i the Euclidean distance of row i to the mean of its cluster, b_i to the
//               nearest mean of another: the simplified silhouette (Vendramin, Campello and Hruschka, Relative
//               clustering validity criteria, Statistical Analysis and Data Mining 3, 2010), in -1..1
//
// Distances are those of the space in which the method sees the rows (Output::embedding) or, if the method has no such
// space, of the prepared rows. Means are those of the described rows.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

struct ColumnProfile {
    Index column = 0;  // counted from 0
    std::string name;  // "column 3" (counted from 1) if columns have no names
    /// d_jp. Infinite if the column has one value in the cluster and another one elsewhere; 0 if no row is elsewhere.
    double difference = 0;
    double mean = 0;                                 // in the cluster; in the column's own units, like the quartiles
    std::optional<double> elsewhere;                 // none if no row is elsewhere
    std::optional<std::array<double, 3>> quartiles;  // lower, median, upper, exact; see describe
    bool is_date = false;                            // the numbers are days since 1970-01-01

    /// Formats one of these numbers for people: a date as a date; otherwise four digits, and every digit before the
    /// decimal point.
    COTERIE_API std::string text(double value) const;
};

struct ClusterProfile {
    std::string name;  // "2"; in a fit with labels, ClusterLabels::name_of
    Index rows = 0;    // with weight above 0
    double share = 0;  // 0..1
    /// The columns with |difference| >= 0.2, at most five, largest first. Empty for an empty cluster. For a cluster
    /// with all rows, the first five columns.
    std::vector<ColumnProfile> columns;
    // Only set by describe:
    std::vector<Index> typical;        // at most three rows, counted from 0: see describe
    std::vector<Index> doubtful;       // the same for doubtful rows
    std::optional<double> silhouette;  // mean over the cluster's rows; none unless two clusters have rows
    std::optional<int> nearest;        // the cluster whose mean is nearest
};

/// A row, counted from 0, and its Output::outlier_score.
struct OutlierRow {
    Index row = 0;
    double score = 0;
};

struct Description {
    std::vector<ClusterProfile> clusters;  // k, some of which may be empty
    // Only set by describe:
    std::string silhouettes;                     // "exact" or "simplified"; empty: none
    std::optional<double> silhouette;            // mean over all rows
    std::optional<std::pair<int, int>> closest;  // the two clusters whose means are nearest to each other
    std::string space;                           // the space of the distances, in words
    Index noise = 0;                             // number of noise rows
    Labels row_labels;                           // labels of this process's rows that are not left out; -1: noise
    std::vector<double> row_silhouettes;         // s_i of this process's rows; 1 if there is one cluster, 0 for noise
    std::vector<double> row_outlier_scores;      // of this process's rows; empty if the pipeline has no scores
    std::vector<OutlierRow> outliers;            // at most ten rows of all processes, largest score first
    /// If all rows are in one cluster or noise, and if rows are far from all training data (far_rows_warning).
    std::vector<Message> warnings;
};

/// A warning if rows lie, in some column, outside the range of the training data by more than the width of that range.
COTERIE_API std::optional<Message> far_rows_warning(const Pipeline& pipeline, const PreparedRows& rows, const Run& run);

/// Sizes, shares and columns of the clusters of a fit. Makes one pass over the rows of the fit (Pipeline::fitted_rows),
/// which may be read in blocks and spread over several processes. weights: of all rows, including those left out, or
/// empty. Rows of weight 0 and noise count as absent; if there are no other rows, the result is empty. A column that
/// stands for a word is described by the share of the rows with that word.
COTERIE_API std::vector<ClusterProfile> profile(const Pipeline& pipeline, const PreparedRows& rows, const Run& run,
                                                std::span<const double> weights = {});

/// The complete description, for any rows (Pipeline::prepare). weights: of all rows, including those left out, or
/// empty. labels: those of the model's fit, for the rows that are not left out; nullptr: the model predicts them. Row
/// numbers count all rows.
///
/// typical: the rows with the highest membership in their cluster, if the method has memberships. Among equals, or
/// without memberships, the rows nearest to the mean. doubtful: the rows with the smallest s_i or, with memberships,
/// the smallest lead over the next cluster. Silhouettes are exact (metrics.hpp) for up to 5,000 rows without weights,
/// otherwise simplified. Quartiles take two or three more passes. Memory: about 32 n bytes for the process's n rows,
/// and their embedding. Throws the errors of Pipeline::predict.
COTERIE_API Description describe(const Pipeline& pipeline, const PreparedRows& rows, const Run& run,
                                 std::span<const double> weights = {}, const Labels* labels = nullptr);

/// The columns that set a cluster apart: "low petal_length (1.462, elsewhere 4.906)" per column, joined by "; ". Empty:
/// there are none.
COTERIE_API std::string columns_text(const ClusterProfile& cluster, std::size_t most);

}  // namespace coterie
