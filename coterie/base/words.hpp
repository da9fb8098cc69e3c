#pragma once
// Words: what was probably meant.

#include <cstddef>
#include <string_view>

#include "coterie/base/export.hpp"

namespace coterie {

/// Letters to insert, delete or replace to make one word the other (Levenshtein).
COTERIE_API std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace coterie
