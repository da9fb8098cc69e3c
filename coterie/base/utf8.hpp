#pragma once
// Internal: what is UTF-8 and what is not. Offsets are bytes.

#include <cstddef>
#include <string_view>

#include "coterie/base/export.hpp"

namespace coterie::internal {

/// Bytes of the sound sequence at `at` (table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing
/// above U+10FFFF); 0 where there is none.
COTERIE_API std::size_t utf8_sequence(std::string_view text, std::size_t at);
/// Where the first byte stands that is no part of UTF-8; npos where all are.
COTERIE_API std::size_t broken_utf8(std::string_view text);
inline bool is_utf8(std::string_view text) { return broken_utf8(text) == std::string_view::npos; }

}  // namespace coterie::internal
