#pragma once
// Internal: rows that are left out (`missing=drop`) and those that are kept. `left_out`: their numbers among all rows,
// ascending.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"

namespace coterie::internal {

/// Among all rows, of a row that is kept.
inline Index number_among_all(Index kept, const std::vector<Index>& left_out) {
    // How many are left out before it: the first of them that has more kept rows before it.
    Index low = 0, high = static_cast<Index>(left_out.size());
    while (low < high) {
        const Index middle = (low + high) / 2;
        if (left_out[static_cast<std::size_t>(middle)] - middle <= kept)
            low = middle + 1;
        else
            high = middle;
    }
    return kept + low;
}

/// What there is one of for every row, for those that are kept alone; nothing stays nothing.
template <class T>
void erase_rows(std::vector<T>& values, const std::vector<Index>& left_out) {
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

/// Pairs of rows, for those of which both are kept, by their numbers among these.
inline void erase_pairs(std::vector<RowPair>& pairs, const std::vector<Index>& left_out) {
    const auto place = [&](Index row) { return std::lower_bound(left_out.begin(), left_out.end(), row); };
    const auto is_kept = [&](Index row) { return place(row) == left_out.end() || *place(row) != row; };
    std::erase_if(pairs, [&](const RowPair& pair) { return !is_kept(pair.first) || !is_kept(pair.second); });
    for (RowPair& pair : pairs)
        for (Index* row : {&pair.first, &pair.second}) *row -= place(*row) - left_out.begin();
}

}  // namespace coterie::internal
