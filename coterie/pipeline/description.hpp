#pragma once
// What the clusters of some rows are: how large, which columns set them apart, which rows are typical and which are
// doubtful. For the columns as the user has them, whatever the method does to them first.
//
// Of cluster j and column p, with weights w_i (1 where there are none):
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
// Distances are those of the space in which the method sees the rows where it has one (Output::embedding), else of the
// rows as they were prepared; means are those of the rows described.

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
    std::string name;  // "column 3" (counted from 1) where columns have no names
    /// d_jp; infinite where the column has one value in the cluster and another one elsewhere; 0 where no row is
    /// elsewhere.
    double difference = 0;
    double mean = 0;                                 // in the cluster, in the column's own units, as the quartiles
    std::optional<double> elsewhere;                 // none where no row is elsewhere
    std::optional<std::array<double, 3>> quartiles;  // lower, median, upper, exact; see describe
    bool is_date = false;                            // of days since 1970-01-01

    /// One of these numbers as people read it: a date as one, else four digits and all of a whole part.
    COTERIE_API std::string text(double value) const;
};

struct ClusterProfile {
    std::string name;  // "2"; of a fit with labels as ClusterLabels::name_of
    Index rows = 0;    // of weight above 0
    double share = 0;  // 0..1
    /// Those with |difference| of at least 0.2, at most five, the largest first; none of an empty cluster. The first
    /// five of a cluster that has all rows.
    std::vector<ColumnProfile> columns;
    // By describe alone:
    std::vector<Index> typical;        // at most three rows, counted from 0: see describe
    std::vector<Index> doubtful;       // the same
    std::optional<double> silhouette;  // mean of the cluster's rows; none unless two clusters have rows
    std::optional<int> nearest;        // the cluster whose mean is nearest
};

/// A row, counted from 0, and how far out it lies: Output::outlier_score.
struct OutlierRow {
    Index row = 0;
    double score = 0;
};

struct Description {
    std::vector<ClusterProfile> clusters;  // k, some of which may be empty
    // By describe alone:
    std::string silhouettes;                     // "exact", "simplified": which ones are told; empty: none
    std::optional<double> silhouette;            // mean of all rows
    std::optional<std::pair<int, int>> closest;  // the two clusters whose means are nearest to each other
    std::string space;                           // where distances are taken, in words
    Index noise = 0;                             // rows in no cluster
    Labels row_labels;                           // of this process' rows, of those that are not left out; -1: noise
    std::vector<double> row_silhouettes;     // s_i of this process' rows; 1 where there is no other cluster, 0 of noise
    std::vector<double> row_outlier_scores;  // of this process' rows; empty where the pipeline has none
    std::vector<OutlierRow> outliers;        // at most ten, the largest scores of all rows first
    /// All rows in one cluster, or noise; rows that lie far from every row of the fit (far_rows_warning).
    std::vector<std::string> warnings;
};

/// The warning where rows lie, in some column, farther beyond all rows of the fit than these lie from each other there;
/// else empty.
COTERIE_API std::string far_rows_warning(const Pipeline& pipeline, const PreparedRows& rows, const Run& run);

/// Sizes, shares and columns of the clusters of a fit alone: one pass over its rows (Pipeline::fitted_rows), which may
/// be read and lie with several processes. weights: of all rows, those left out among them, or empty. A row of weight 0
/// counts as absent, and so does noise; empty where there is nothing else. A column that stands for a word is told by
/// the share of the rows that have it.
COTERIE_API std::vector<ClusterProfile> profile(const Pipeline& pipeline, const PreparedRows& rows, const Run& run,
                                                std::span<const double> weights = {});

/// Everything, of any rows (Pipeline::prepare). weights: of all rows, those left out among them, or empty. Labels are
/// the model's, unless those of its fit are given, of the rows that are not left out. Rows are numbered among all.
///
/// typical: the rows with the highest membership in their cluster where the method has memberships, and among equals,
/// or where it has none, those nearest to the mean. doubtful: those with the smallest s_i or, with memberships, the
/// smallest lead over the next. Silhouettes are exact (metrics.hpp) for up to 5,000 rows without weights, else
/// simplified: Quartiles take two or three passes
/// more. Memory: some 32 n bytes of the process' rows, and their embedding. What rows cannot be predicted is refused as
/// by Pipeline::predict.
COTERIE_API Description describe(const Pipeline& pipeline, const PreparedRows& rows, const Run& run,
                                 std::span<const double> weights = {}, const Labels* labels = nullptr);

/// What sets a cluster apart: "low petal_length (1.462, elsewhere 4.906)" per column, joined by "; ". Empty: nothing.
COTERIE_API std::string columns_text(const ClusterProfile& cluster, std::size_t most);

}  // namespace coterie
