#pragma once
// Internal: errors and numbering of rows if some are left out (`missing=drop`). `left_out`: the numbers of these rows
// among all rows, ascending.

#include <algorithm>
#include <vector>

#include "coterie/base/problem.hpp"
#include "coterie/base/text.hpp"
#include "coterie/base/utf8.hpp"

namespace coterie::internal {

inline BadData no_row_is_complete() {
    return BadData(Code::missing_value, "every row has a missing value, so `missing=drop` leaves none",
                   "Use `missing=median` to fill them in, or `exclude` to leave columns out", {.option = "points"});
}

/// The error about a column, counted from 0. `names`: those of the columns, or empty.
inline BadData bad_column(Code code, std::size_t column, const std::vector<std::string>& names, std::string problem,
                          std::string remedy = {}) {
    return BadData(code, std::move(problem), std::move(remedy),
                   {.option = "points",
                    .column = column < names.size() ? shown(names[column]) : "",
                    .column_number = static_cast<std::int64_t>(column) + 1});
}

/// The warning about rows that were left out.
inline Message rows_left_out(std::size_t rows, Index all) {
    return {.code = Code::rows_left_out,
            .problem = filled("{} of {}{}", counted(rows, "row"), all,
                              rows == 1 ? " has a missing value, was left out and has no label"
                                        : " have missing values, were left out and have no label")};
}

/// The number, among all rows, of the kept row number `kept`.
inline Index number_among_all(Index kept, const std::vector<Index>& left_out) {
    // Finds how many rows are left out before it: the index of the first one that has more kept rows before it.
    Index low = 0, high = static_cast<Index>(left_out.size());
    while (low < high) {
        const Index middle = (low + high) / 2;
        if (left_out[at(middle)] - middle <= kept)
            low = middle + 1;
        else
            high = middle;
    }
    return kept + low;
}

/// Reduces a vector with one entry per row to the kept rows. An empty vector stays empty.
template <class T>
void erase_rows(std::vector<T>& values, std::span<const Index> left_out) {
    if (values.empty()) return;
    std::size_t to = 0, next = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (next < left_out.size() && left_out[next] == static_cast<Index>(i))
            ++next;
        else
            values[to++] = values[i];
    }
    values.resize(to);
}

/// Keeps the pairs whose two rows are kept, and renumbers them among the kept rows.
inline void erase_pairs(std::vector<RowPair>& pairs, const std::vector<Index>& left_out) {
    const auto place = [&](Index row) { return std::lower_bound(left_out.begin(), left_out.end(), row); };
    const auto is_kept = [&](Index row) { return place(row) == left_out.end() || *place(row) != row; };
    std::erase_if(pairs, [&](const RowPair& pair) { return !is_kept(pair.first) || !is_kept(pair.second); });
    for (RowPair& pair : pairs)
        for (Index* row : {&pair.first, &pair.second}) *row -= place(*row) - left_out.begin();
}

}  // namespace coterie::internal
