#pragma once
// Internal: checks whether text is UTF-8, and shortens it for messages. Offsets are bytes.

#include <cstddef>
#include <string>
#include <string_view>

#include "coterie/base/export.hpp"

namespace coterie::internal {

/// Length in bytes of the valid sequence at `at`; 0 if there is none. Valid means table 3-7 of the Unicode standard: no
/// overlong forms, no surrogates, nothing above U+10FFFF.
COTERIE_API std::size_t utf8_sequence(std::string_view text, std::size_t at);
/// Offset of the first byte that is not part of valid UTF-8; npos if there is none.
COTERIE_API std::size_t broken_utf8(std::string_view text);
/// A name, field or key for use in a message: control characters and broken UTF-8 become ?, and long text is cut.
COTERIE_API std::string shown(std::string_view text);
inline bool is_utf8(std::string_view text) { return broken_utf8(text) == std::string_view::npos; }

}  // namespace coterie::internal
