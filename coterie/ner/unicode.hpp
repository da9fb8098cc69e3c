#pragma once
// Internal: the functions on Unicode text that this module needs. Offsets are bytes of UTF-8.

#include <cstdint>
#include <vector>

#include "coterie/base/utf8.hpp"

namespace coterie::ner::internal {

using coterie::internal::broken_utf8;
/// Number of code points in valid UTF-8.
std::size_t count_code_points(std::string_view text);
/// A code point at a byte of valid UTF-8, and its number of bytes.
struct CodePoint {
    std::uint32_t value = 0;
    std::size_t bytes = 1;
};
CodePoint code_point_at(std::string_view text, std::size_t at);
/// Calls f with each code point and its bytes.
template <class F>
void for_each_code_point(std::string_view text, F&& f) {
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint point = code_point_at(text, at);
        f(point.value, text.substr(at, point.bytes));
        at += point.bytes;
    }
}
/// Whether the code point is white space in Unicode.
bool is_space(std::uint32_t value);

/// Borders of sentences, and of words, by UAX 29. Each list includes 0 and text.size(). These and the functions below
/// throw BadArgument if the library was built without ICU.
std::vector<std::size_t> sentence_borders(std::string_view text);
std::vector<std::size_t> word_borders(std::string_view text);

/// Classes of a code point that BERT's tokeniser uses. They are those of Unicode 8, which the crate tokenizers uses.
enum class CharacterClass { other, punctuation, control, mark };
CharacterClass character_class(std::uint32_t value);
/// Lower case of each code point, by the full mapping without context; and the canonical decomposition of a text.
std::string lower_case(std::string_view text);
std::string decomposed(std::string_view text);

}  // namespace coterie::ner::internal
