// Shortest augmenting paths, on a full matrix of costs or on a list of gains. The list is for labelings with nearly as
// many labels as points, whose full table would not fit into memory. Its gains are whole numbers, so there is no
// rounding. There are at most as many rows as columns. Ties go to the lowest column.

#include "coterie/metrics/internal/assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {
// Shortest augmenting paths, one row after another (Jonker and Volgenant 1987; Crouse 2016). rows <= columns.
std::vector<Index> assign_rows(const Matrix<double>& cost) {
    const Index rows = cost.rows();
    const Index columns = cost.cols();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> row_dual(static_cast<std::size_t>(rows), 0.0);
    std::vector<double> column_dual(static_cast<std::size_t>(columns), 0.0);
    std::vector<double> distance(static_cast<std::size_t>(columns));
    std::vector<Index> column_of(static_cast<std::size_t>(rows), -1);
    std::vector<Index> row_of(static_cast<std::size_t>(columns), -1);
    std::vector<Index> previous_row(static_cast<std::size_t>(columns), -1);
    std::vector<Index> open(static_cast<std::size_t>(columns));  // the first `open_count` columns are not final yet
    std::vector<Index> tree_rows;
    std::vector<Index> tree_columns;

    for (Index start = 0; start < rows; ++start) {
        // Columns in descending order: among equal columns the lowest comes last and wins.
        for (Index j = 0; j < columns; ++j) open[static_cast<std::size_t>(j)] = columns - 1 - j;
        Index open_count = columns;
        std::fill(distance.begin(), distance.end(), infinity);
        tree_rows.clear();
        tree_columns.clear();
        double shortest = 0.0;
        Index row = start;
        Index sink = -1;
        while (sink < 0) {
            tree_rows.push_back(row);
            const double* const row_cost = cost.data() + row * columns;
            const double offset = shortest - row_dual[static_cast<std::size_t>(row)];
            Index best_position = -1;
            double best = infinity;
            for (Index position = 0; position < open_count; ++position) {
                const auto column = static_cast<std::size_t>(open[static_cast<std::size_t>(position)]);
                const double candidate = offset + row_cost[column] - column_dual[column];
                if (candidate < distance[column]) {
                    distance[column] = candidate;
                    previous_row[column] = row;
                }
                // A free column ends the path, so among equal columns it comes first.
                if (distance[column] < best || (distance[column] == best && row_of[column] < 0)) {
                    best = distance[column];
                    best_position = position;
                }
            }
            shortest = best;
            const Index column = open[static_cast<std::size_t>(best_position)];
            open[static_cast<std::size_t>(best_position)] = open[static_cast<std::size_t>(--open_count)];
            if (row_of[static_cast<std::size_t>(column)] < 0) {
                sink = column;
            } else {
                tree_columns.push_back(column);
                row = row_of[static_cast<std::size_t>(column)];
            }
        }
        row_dual[static_cast<std::size_t>(start)] += shortest;
        for (const Index i : tree_rows) {
            if (i == start) continue;
            row_dual[static_cast<std::size_t>(i)] +=
                shortest - distance[static_cast<std::size_t>(column_of[static_cast<std::size_t>(i)])];
        }
        for (const Index j : tree_columns)
            column_dual[static_cast<std::size_t>(j)] -= shortest - distance[static_cast<std::size_t>(j)];
        for (Index column = sink; column >= 0;) {
            const Index i = previous_row[static_cast<std::size_t>(column)];
            row_of[static_cast<std::size_t>(column)] = i;
            std::swap(column_of[static_cast<std::size_t>(i)], column);
            if (i == start) break;
        }
    }
    return column_of;
}
}  // namespace

std::vector<Index> minimum_cost_assignment(const Matrix<double>& cost) {
    if (!cost.allFinite()) throw BadArgument(Code::not_finite, "minimum_cost_assignment: a cost is not finite");
    if (cost.rows() <= cost.cols()) return assign_rows(cost);
    const std::vector<Index> row_of = assign_rows(cost.transpose());
    std::vector<Index> column_of(static_cast<std::size_t>(cost.rows()), -1);
    for (std::size_t j = 0; j < row_of.size(); ++j)
        column_of[static_cast<std::size_t>(row_of[j])] = static_cast<Index>(j);
    return column_of;
}

namespace metrics::internal {
namespace {
// The same method on lists: the cost of a listed pair is -gain. A row may also stay unmatched at cost 0, as if it had a
// private column. A heap holds the distances, so the time for a path depends only on the pairs that it visits.
std::vector<Index> match_rows(std::span<const Gain> gains, Index rows, Index columns) {
    constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();
    std::vector<std::size_t> first(static_cast<std::size_t>(rows) + 1, 0);
    for (const Gain& gain : gains) ++first[static_cast<std::size_t>(gain.row) + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];

    std::vector<std::int64_t> row_dual(static_cast<std::size_t>(rows), 0);
    std::vector<std::int64_t> column_dual(static_cast<std::size_t>(columns), 0);
    std::vector<std::int64_t> distance(static_cast<std::size_t>(columns), unreached);
    std::vector<bool> closed(static_cast<std::size_t>(columns), false);
    std::vector<Index> column_of(static_cast<std::size_t>(rows), -1);
    std::vector<Index> row_of(static_cast<std::size_t>(columns), -1);
    std::vector<Index> previous_row(static_cast<std::size_t>(columns), -1);
    std::vector<Index> touched;
    std::vector<Index> tree_rows;
    std::vector<Index> tree_columns;
    using Entry = std::pair<std::int64_t, Index>;
    std::vector<Entry> heap;

    for (Index start = 0; start < rows; ++start) {
        heap.clear();
        touched.clear();
        tree_rows.clear();
        tree_columns.clear();
        std::int64_t shortest = 0;
        std::int64_t unmatched_distance = unreached;  // least cost of leaving a row of the tree unmatched
        Index unmatched_row = -1;
        Index row = start;
        Index sink = -1;
        while (true) {
            tree_rows.push_back(row);
            const std::int64_t offset = shortest - row_dual[static_cast<std::size_t>(row)];
            if (offset < unmatched_distance) {
                unmatched_distance = offset;
                unmatched_row = row;
            }
            for (std::size_t at = first[static_cast<std::size_t>(row)]; at < first[static_cast<std::size_t>(row) + 1];
                 ++at) {
                const auto column = static_cast<std::size_t>(gains[at].column);
                if (closed[column]) continue;
                const std::int64_t candidate = offset - gains[at].gain - column_dual[column];
                if (candidate >= distance[column]) continue;
                // If leaving a row unmatched costs less, the path cannot be the shortest.
                if (candidate > unmatched_distance) continue;
                if (distance[column] == unreached) touched.push_back(gains[at].column);
                distance[column] = candidate;
                previous_row[column] = row;
                heap.emplace_back(candidate, gains[at].column);
                std::push_heap(heap.begin(), heap.end(), std::greater<>());
            }
            Index next = -1;
            while (!heap.empty()) {
                const auto [length, column] = heap.front();
                if (length >= unmatched_distance) break;
                std::pop_heap(heap.begin(), heap.end(), std::greater<>());
                heap.pop_back();
                if (closed[static_cast<std::size_t>(column)] || length > distance[static_cast<std::size_t>(column)])
                    continue;
                next = column;
                break;
            }
            if (next < 0) {
                shortest = unmatched_distance;
                break;
            }
            shortest = distance[static_cast<std::size_t>(next)];
            closed[static_cast<std::size_t>(next)] = true;
            if (row_of[static_cast<std::size_t>(next)] < 0) {
                sink = next;
                break;
            }
            tree_columns.push_back(next);
            row = row_of[static_cast<std::size_t>(next)];
        }
        row_dual[static_cast<std::size_t>(start)] += shortest;
        for (const Index i : tree_rows) {
            if (i == start) continue;
            row_dual[static_cast<std::size_t>(i)] +=
                shortest - distance[static_cast<std::size_t>(column_of[static_cast<std::size_t>(i)])];
        }
        for (const Index j : tree_columns)
            column_dual[static_cast<std::size_t>(j)] -= shortest - distance[static_cast<std::size_t>(j)];
        Index column = sink;
        if (sink < 0) {
            column = std::exchange(column_of[static_cast<std::size_t>(unmatched_row)], -1);
            if (unmatched_row == start) column = -1;
        }
        while (column >= 0) {
            const Index i = previous_row[static_cast<std::size_t>(column)];
            row_of[static_cast<std::size_t>(column)] = i;
            std::swap(column_of[static_cast<std::size_t>(i)], column);
            if (i == start) break;
        }
        for (const Index j : touched) {
            distance[static_cast<std::size_t>(j)] = unreached;
            closed[static_cast<std::size_t>(j)] = false;
        }
    }
    return column_of;
}
}  // namespace

std::vector<Index> maximum_gain_match(std::span<const Gain> gains, Index rows, Index columns) {
    if (rows <= columns) return match_rows(gains, rows, columns);
    std::vector<std::size_t> first(static_cast<std::size_t>(columns) + 1, 0);
    for (const Gain& gain : gains) ++first[static_cast<std::size_t>(gain.column) + 1];
    for (std::size_t j = 1; j < first.size(); ++j) first[j] += first[j - 1];
    std::vector<Gain> transposed(gains.size());
    for (const Gain& gain : gains)
        transposed[first[static_cast<std::size_t>(gain.column)]++] = {gain.column, gain.row, gain.gain};
    const std::vector<Index> row_of = match_rows(transposed, columns, rows);
    std::vector<Index> column_of(static_cast<std::size_t>(rows), -1);
    for (std::size_t j = 0; j < row_of.size(); ++j)
        if (row_of[j] >= 0) column_of[static_cast<std::size_t>(row_of[j])] = static_cast<Index>(j);
    return column_of;
}
}  // namespace metrics::internal

}  // namespace coterie
