#pragma once
// Problem: the data to cluster and the constraints on the result. Every method takes one. If a method does not support
// a field, the fit throws an error that names it (model/method.hpp).

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

/// What a column of a table holds. A category is stored as the number of its value among the column's values; a date as
/// days since 1970-01-01.
enum class ColumnKind { number, category, date };

/// How many clusters belong to a label.
struct ClustersOfLabel {
    std::string label;
    int clusters = 1;  // at least 1
};

/// Share of all points (labelled points included) in the clusters of a label: low <= share <= high, fractions of 1. If
/// both ends are equal, exactly this share (hard assignments take floor(n share) of n points).
struct LabelShare {
    std::string label;
    double low = 0.0;
    double high = 1.0;
};

/// How hard assignments round a share of n points to a whole number of points.
enum class ShareRounding { floor, nearest };

/// Every cluster has at least `low` and at most `high` points.
struct SizeBounds {
    Index low = 0;
    Index high = std::numeric_limits<Index>::max();
};

/// Two rows of the points, numbers from 0 to n-1.
struct RowPair {
    Index first = 0;
    Index second = 0;
};

namespace internal {
/// The entries of some rows, in the given order; empty if there are no entries.
template <class T>
std::vector<T> entries_of(std::span<const T> all, std::span<const Index> rows) {
    std::vector<T> out;
    if (all.empty()) return out;
    out.reserve(rows.size());
    for (const Index i : rows) out.push_back(all[at(i)]);
    return out;
}
}  // namespace internal

struct COTERIE_API Problem {
    /// n x d, owned, shared or borrowed (Points::borrow); empty if a graph is given.
    Points points = {};
    /// n x n affinities instead of points, for methods that support them: symmetric, entries not negative.
    std::shared_ptr<const SparseMatrix> graph = {};
    /// d names, or empty.
    std::vector<std::string> column_names = {};
    /// Kind of each column (empty: all are numbers), and for each column the values of its categories (none for other
    /// kinds; empty: no column has categories). The points hold the numbers of the values. Methods do not read these
    /// fields; Pipeline codes categories as numbers.
    std::vector<ColumnKind> column_kinds = {};
    std::vector<std::vector<std::string>> categories = {};

    /// n weights, each 0 or from 1e-30 to 1e30, not all 0; empty: every point has weight 1. Weight w acts as w copies
    /// of the point.
    std::vector<double> weights = {};
    /// k x d starting centroids (a warm start); empty: the method chooses its own.
    Points initial_centroids = {};

    /// Partial labels: n entries, the label number of the point in 0..L-1, or -1 for an unlabelled point. A labelled
    /// point goes to a cluster of its label, whatever the distances; an unlabelled point to any cluster. Empty: no
    /// labels.
    Labels partial_labels = {};
    /// L names; empty: "0", "1", ... up to the largest in partial_labels. Clusters follow the order of their labels.
    std::vector<std::string> label_names = {};
    /// Labels that are not listed here have one cluster.
    std::vector<ClustersOfLabel> clusters_per_label = {};
    /// At most one entry per label.
    std::vector<LabelShare> label_shares = {};
    std::optional<SizeBounds> sizes = {};

    /// Pairs of rows that must share a cluster, and pairs that must not (Wagstaff et al., ICML 2001).
    std::vector<RowPair> must_links = {};
    std::vector<RowPair> cannot_links = {};

    /// For messages, if rows were left out or sampled: the numbers of the n rows among the caller's rows, from 0.
    std::vector<Index> row_numbers = {};

    /// n and d; for a graph d is n.
    Index rows() const { return graph ? graph->rows() : points.rows(); }
    Index columns() const { return graph ? graph->cols() : points.columns(); }

    Index row_number(Index row) const { return row_numbers.empty() ? row : row_numbers[internal::at(row)]; }

    /// The problem for some rows, in the given order: points, weights, labels and pairs (as positions in `rows`).
    ///
    /// Shares and label constraints stay unchanged. Size bounds shrink in proportion to the rows: `low` is rounded
    /// down, `high` up. Throws BadArgument for a graph, InternalError for a row that does not exist.
    Problem subset(std::span<const Index> rows) const;
};

}  // namespace coterie
