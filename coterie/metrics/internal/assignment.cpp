// Shortest augmenting paths, on a full matrix of costs or on a list of gains. The list is for labelings with nearly as
// many labels as points, whose full table would not fit into memory. Its gains are whole numbers, so there is no
// rounding. There are at most as many rows as columns. Ties go to the lowest column.

#include "coterie/metrics/internal/assignment.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "coterie/metrics/metrics.hpp"

namespace coterie {

using internal::at;

namespace {

// Moves each row of the path that ends at `column` to the next column of the path, back to the row `start`.
void reassign(Index start, Index column, const std::vector<Index>& previous_row, std::vector<Index>& column_of,
              std::vector<Index>& row_of) {
    while (column >= 0) {
        const Index i = previous_row[at(column)];
        row_of[at(column)] = i;
        std::swap(column_of[at(i)], column);
        if (i == start) return;
    }
}

// Shortest augmenting paths, one row after another (Jonker and Volgenant 1987; Crouse 2016). rows <= columns.
std::vector<Index> assign_rows(const Matrix<double>& cost) {
    const Index rows = cost.rows();
    const Index columns = cost.cols();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> row_dual(at(rows), 0.0);
    std::vector<double> column_dual(at(columns), 0.0);
    std::vector<double> distance(at(columns));
    std::vector<Index> column_of(at(rows), -1), row_of(at(columns), -1), previous_row(at(columns), -1);
    std::vector<Index> open(at(columns));  // the first `open_count` columns are not final yet
    std::vector<Index> tree_rows, tree_columns;

    for (Index start = 0; start < rows; ++start) {
        // Columns in descending order: among equal columns the lowest comes last and wins.
        for (Index j = 0; j < columns; ++j) open[at(j)] = columns - 1 - j;
        Index open_count = columns;
        std::ranges::fill(distance, infinity);
        tree_rows.clear();
        tree_columns.clear();
        double shortest = 0.0;
        Index row = start, sink = -1;
        while (sink < 0) {
            tree_rows.push_back(row);
            const double* const row_cost = cost.data() + row * columns;
            const double offset = shortest - row_dual[at(row)];
            Index best_position = -1;
            double best = infinity;
            for (Index position = 0; position < open_count; ++position) {
                const auto column = at(open[at(position)]);
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
            const Index column = open[at(best_position)];
            open[at(best_position)] = open[at(--open_count)];
            if (row_of[at(column)] < 0) {
                sink = column;
            } else {
                tree_columns.push_back(column);
                row = row_of[at(column)];
            }
        }
        row_dual[at(start)] += shortest;
        for (const Index i : tree_rows)
            if (i != start) row_dual[at(i)] += shortest - distance[at(column_of[at(i)])];
        for (const Index j : tree_columns) column_dual[at(j)] -= shortest - distance[at(j)];
        reassign(start, sink, previous_row, column_of, row_of);
    }
    return column_of;
}

}  // namespace

std::vector<Index> minimum_cost_assignment(const Matrix<double>& cost) {
    if (!cost.allFinite()) throw BadArgument(Code::not_finite, "minimum_cost_assignment: a cost is not finite");
    if (cost.rows() <= cost.cols()) return assign_rows(cost);
    const std::vector<Index> row_of = assign_rows(cost.transpose());
    std::vector<Index> column_of(at(cost.rows()), -1);
    for (std::size_t j = 0; j < row_of.size(); ++j) column_of[at(row_of[j])] = static_cast<Index>(j);
    return column_of;
}

namespace metrics::internal {
namespace {
// For each of `count` rows or columns, the number of gains in those before it; at the end, the number of all gains.
std::vector<std::size_t> starts_of(std::span<const Gain> gains, Index count, Index Gain::*number) {
    std::vector<std::size_t> out(at(count) + 1, 0);
    for (const Gain& gain : gains) ++out[at(gain.*number) + 1];
    std::partial_sum(out.begin(), out.end(), out.begin());
    return out;
}

// The same method on lists: the cost of a listed pair is -gain. A row may also stay unmatched at cost 0, as if it had a
// private column. A heap holds the distances, so the time for a path depends only on the pairs that it visits.
std::vector<Index> match_rows(std::span<const Gain> gains, Index rows, Index columns) {
    constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();
    const std::vector<std::size_t> first = starts_of(gains, rows, &Gain::row);
    std::vector<std::int64_t> row_dual(at(rows), 0);
    std::vector<std::int64_t> column_dual(at(columns), 0);
    std::vector<std::int64_t> distance(at(columns), unreached);
    std::vector<bool> closed(at(columns), false);
    std::vector<Index> column_of(at(rows), -1), row_of(at(columns), -1), previous_row(at(columns), -1);
    std::vector<Index> touched, tree_rows, tree_columns;
    std::vector<std::pair<std::int64_t, Index>> heap;

    for (Index start = 0; start < rows; ++start) {
        heap.clear();
        touched.clear();
        tree_rows.clear();
        tree_columns.clear();
        std::int64_t shortest = 0;
        std::int64_t unmatched_distance = unreached;  // least cost of leaving a row of the tree unmatched
        Index unmatched_row = -1, row = start, sink = -1;
        while (true) {
            tree_rows.push_back(row);
            const std::int64_t offset = shortest - row_dual[at(row)];
            if (offset < unmatched_distance) {
                unmatched_distance = offset;
                unmatched_row = row;
            }
            for (const Gain& pair : gains.subspan(first[at(row)], first[at(row) + 1] - first[at(row)])) {
                const auto column = at(pair.column);
                if (closed[column]) continue;
                const std::int64_t candidate = offset - pair.gain - column_dual[column];
                // If leaving a row unmatched costs less, the path cannot be the shortest.
                if (candidate >= distance[column] || candidate > unmatched_distance) continue;
                if (distance[column] == unreached) touched.push_back(pair.column);
                distance[column] = candidate;
                previous_row[column] = row;
                heap.emplace_back(candidate, pair.column);
                std::push_heap(heap.begin(), heap.end(), std::greater<>());
            }
            Index next = -1;
            while (!heap.empty()) {
                const auto [length, column] = heap.front();
                if (length >= unmatched_distance) break;
                std::pop_heap(heap.begin(), heap.end(), std::greater<>());
                heap.pop_back();
                if (closed[at(column)] || length > distance[at(column)]) continue;
                next = column;
                break;
            }
            shortest = next < 0 ? unmatched_distance : distance[at(next)];
            if (next < 0) break;
            closed[at(next)] = true;
            if (row_of[at(next)] < 0) {
                sink = next;
                break;
            }
            tree_columns.push_back(next);
            row = row_of[at(next)];
        }
        row_dual[at(start)] += shortest;
        for (const Index i : tree_rows)
            if (i != start) row_dual[at(i)] += shortest - distance[at(column_of[at(i)])];
        for (const Index j : tree_columns) column_dual[at(j)] -= shortest - distance[at(j)];
        if (sink < 0) {
            sink = std::exchange(column_of[at(unmatched_row)], -1);
            if (unmatched_row == start) sink = -1;
        }
        reassign(start, sink, previous_row, column_of, row_of);
        for (const Index j : touched) {
            distance[at(j)] = unreached;
            closed[at(j)] = false;
        }
    }
    return column_of;
}
}  // namespace

std::vector<Index> maximum_gain_match(std::span<const Gain> gains, Index rows, Index columns) {
    if (rows <= columns) return match_rows(gains, rows, columns);
    std::vector<std::size_t> first = starts_of(gains, columns, &Gain::column);
    std::vector<Gain> transposed(gains.size());
    for (const Gain& gain : gains) transposed[first[at(gain.column)]++] = {gain.column, gain.row, gain.gain};
    const std::vector<Index> row_of = match_rows(transposed, columns, rows);
    std::vector<Index> column_of(at(rows), -1);
    for (std::size_t j = 0; j < row_of.size(); ++j)
        if (row_of[j] >= 0) column_of[at(row_of[j])] = static_cast<Index>(j);
    return column_of;
}
}  // namespace metrics::internal

}  // namespace coterie
