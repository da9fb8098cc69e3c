#pragma once
// Problem: what is to be clustered and what is known about it. Every method takes one; what it cannot take it refuses
// by name (model/method.hpp).

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

/// What a column of a table holds. A category is a number, by the order of its words; a date the number of days since
/// 1970-01-01.
enum class ColumnKind { number, category, date };

/// How many clusters belong to a label.
struct ClustersOfLabel {
    std::string label;
    int clusters = 1;  // at least 1
};

/// The share of all points, labelled ones included, that the clusters of a label take together: low <= share <= high,
/// fractions of 1. Equal ends: exactly that share (of n points, hard assignments take floor(n share)).
struct LabelShare {
    std::string label;
    double low = 0.0;
    double high = 1.0;
};

/// How a share of n points that is no whole number of them becomes one, for hard assignments.
enum class ShareRounding { floor, nearest };

/// Every cluster takes at least `low` and at most `high` points.
struct SizeBounds {
    Index low = 0;
    Index high = std::numeric_limits<Index>::max();
};

/// Two rows of the points, numbers from 0 to n-1.
struct RowPair {
    Index first = 0;
    Index second = 0;
};

struct COTERIE_API Problem {
    /// n x d, owned, shared or borrowed (Points::borrow); empty where there is a graph.
    Points points = {};
    /// n x n affinities in place of points, for the methods that take them: symmetric, no entry negative.
    std::shared_ptr<const SparseMatrix> graph = {};
    /// d names, or empty.
    std::vector<std::string> column_names = {};
    /// What the columns hold (empty: numbers), and of each column the words of its categories, whose numbers the points
    /// have (of numbers none; empty: all are numbers). Methods know nothing of words: Pipeline makes numbers of them.
    std::vector<ColumnKind> column_kinds = {};
    std::vector<std::vector<std::string>> categories = {};

    /// n weights, each 0 or from 1e-30 to 1e30, not all 0; empty: every point weighs 1. Weight w acts as w copies of
    /// the point.
    std::vector<double> weights = {};
    /// k x d starting centroids (a warm start); empty: the method seeds itself.
    Points initial_centroids = {};

    /// Partial labels: n entries, the number of the point's label in 0..L-1, or -1: not known. A labelled point goes to
    /// a cluster of its label, whatever the distances; the other points to any cluster. Empty: nothing is known.
    Labels partial_labels = {};
    /// L words; empty: "0", "1", ... up to the largest in partial_labels. Clusters come in the order of their labels.
    std::vector<std::string> label_names = {};
    /// Labels that are not named here have one cluster.
    std::vector<ClustersOfLabel> clusters_per_label = {};
    /// At most one per label.
    std::vector<LabelShare> label_shares = {};
    std::optional<SizeBounds> sizes = {};

    /// Rows that belong to one cluster, and rows that do not (Wagstaff et al., ICML 2001).
    std::vector<RowPair> must_links = {};
    std::vector<RowPair> cannot_links = {};

    /// What messages call the rows: n numbers from 0, of the rows that the caller has; empty: 0 to n-1. Told where some
    /// rows were left out or drawn.
    std::vector<Index> row_numbers = {};

    /// n and d; of a graph d is n.
    Index rows() const { return graph ? graph->rows() : points.rows(); }
    Index columns() const { return graph ? graph->cols() : points.columns(); }

    Index row_number(Index row) const { return row_numbers.empty() ? row : row_numbers[static_cast<std::size_t>(row)]; }

    /// The problem of some of the rows, in the order given: their points, weights, labels and the pairs among them,
    /// under the numbers that they have here.
    /// Shares and what is known of labels stay; size bounds shrink in proportion, outwards. BadArgument for a graph,
    /// InternalError on a row that is not there.
    Problem subset(std::span<const Index> rows) const;
};

}  // namespace coterie
