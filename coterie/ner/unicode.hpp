#pragma once
// Internal: what the room needs to know of Unicode. Offsets are bytes of UTF-8.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/utf8.hpp"

namespace coterie::ner::internal {

using coterie::internal::broken_utf8;
/// Code points in sound UTF-8.
std::size_t count_code_points(std::string_view text);
/// The code point at a byte of sound UTF-8, and how many bytes it has.
struct CodePoint {
    std::uint32_t value = 0;
    std::size_t bytes = 1;
};
CodePoint code_point_at(std::string_view text, std::size_t at);
/// White space in Unicode's sense.
bool is_space(std::uint32_t value);

/// Borders of sentences, then of words, by UAX 29, each with 0 and text.size(). BadArgument where ICU is not built in.
std::vector<std::size_t> sentence_borders(std::string_view text);
std::vector<std::size_t> word_borders(std::string_view text);

/// Classes of a code point that BERT's tokeniser asks for, as Unicode 8 had them: that is what the crate tokenizers
/// knows.
enum class CharacterClass { other, punctuation, control, mark };
CharacterClass character_class(std::uint32_t value);
/// Lower case of every code point by itself, full mapping; canonical decomposition of a text.
std::string lower_case(std::string_view text);
std::string decomposed(std::string_view text);

}  // namespace coterie::ner::internal
