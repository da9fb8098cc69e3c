// Runs the first `count` steps of the Fisher-Yates shuffle and stores only the swapped places.

#include "coterie/base/sample.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace coterie {

std::vector<Index> sample_rows(Index rows, Index count, RandomStream& random) {
    std::vector<Index> out(static_cast<std::size_t>(std::min(rows, count)));
    if (count >= rows) {
        std::iota(out.begin(), out.end(), Index{0});
        return out;
    }
    std::unordered_map<Index, Index> moved;  // the value at a place, if it differs from the place's number
    const auto at = [&](Index place) {
        const auto found = moved.find(place);
        return found == moved.end() ? place : found->second;
    };
    for (Index i = 0; i < count; ++i) {
        const auto other = i + static_cast<Index>(random.below(static_cast<std::uint64_t>(rows - i)));
        out[static_cast<std::size_t>(i)] = at(other);
        moved[other] = at(i);
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace coterie
