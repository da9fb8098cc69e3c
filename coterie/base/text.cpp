// Levenshtein distance, one row of the table at a time: |a| |b| steps, |b| numbers of memory. It compares bytes, so a
// letter beyond ASCII counts as several letters.

#include "coterie/base/text.hpp"

#include <algorithm>
#include <numeric>

namespace coterie::internal {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::vector<std::string> nearest_first(std::vector<std::string> words, std::string_view word) {
    std::ranges::stable_sort(words, {}, [&](const std::string& each) { return edit_distance(each, word); });
    return words;
}

}  // namespace coterie::internal
