#pragma once
// Words in messages: similarity of spellings, and counts with their noun.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"

namespace coterie {

/// Number of letters to insert, delete or replace to turn one word into the other (Levenshtein).
COTERIE_API std::size_t edit_distance(std::string_view a, std::string_view b);

/// "1 row", "2 rows": for a noun whose plural ends in s.
COTERIE_API std::string counted(std::int64_t count, std::string_view noun);

}  // namespace coterie
