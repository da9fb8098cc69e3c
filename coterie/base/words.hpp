#pragma once
// Words: what was probably meant.

#include <cstddef>
#include <string_view>

namespace coterie {

/// Letters to insert, delete or replace to make one word the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace coterie
