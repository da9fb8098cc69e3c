#pragma once
// Words: what was probably meant, and how many there are.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"

namespace coterie {

/// Letters to insert, delete or replace to make one word the other (Levenshtein).
COTERIE_API std::size_t edit_distance(std::string_view a, std::string_view b);

/// "1 row", "2 rows": of a noun whose plural ends in s.
COTERIE_API std::string counted(std::int64_t count, std::string_view noun);

}  // namespace coterie
