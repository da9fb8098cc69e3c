#pragma once
// Internal: how a text file is written, found out before its numbers are read: characters and line ends, comment lines,
// what separates fields, the decimal sign, and which word stands for a value that is missing.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/io/formats.hpp"

namespace coterie::formats {

/// As a separator: any run of blanks and tabs.
inline constexpr char run_of_blanks = ' ';

/// Blanks that mean nothing beside a field; a tab that separates is none.
inline bool is_blank(char c, char separator) { return c == ' ' || c == '\r' || (c == '\t' && separator != '\t'); }

/// Text as UTF-8 whose lines end with '\n'.
struct DecodedText {
    std::string_view text;
    std::shared_ptr<const std::string> owner;  // of text that had to be converted
    std::string said;                          // how it was converted; empty where it was not
};
/// UTF-16 (with a byte order mark, or by its zero bytes) and what is no UTF-8 (taken for Windows-1252, of which Latin-1
/// is a part) are converted, and line ends of '\r' alone. BadData on what is no text.
DecodedText decode_text(const Bytes& bytes, std::string_view source);

/// The records of a text and the fields of a record.
struct Records {
    std::string_view text;
    std::string source;  // for messages
    char separator = 0;
    bool quotes = false;    // there is a '"'
    bool comments = false;  // lines that begin with '#' are none

    /// Just behind the record's '\n', or the end of the text.
    std::size_t end_of(std::size_t begin) const;
    bool is_empty(std::size_t begin, std::size_t end) const;
    bool is_comment(std::size_t begin) const { return comments && text[begin] == '#'; }
    /// Raw fields (quotes kept, blanks trimmed) of the record [begin, end). BadData on text behind a closing quote.
    void split(std::size_t begin, std::size_t end, std::vector<std::string_view>& fields) const;
};
/// A field without its quotes; doubled ones inside stay doubled.
std::string_view inside_quotes(std::string_view field);
/// And made single.
std::string without_quotes(std::string_view field);

/// Words that stand for a value that is not there: empty, NA, NaN, null, ?, - and a few more, in any case of letters.
bool is_missing_word(std::string_view word);
/// inf and infinity, with or without a sign.
bool is_infinite_word(std::string_view word);
/// Digits and what may stand between or beside them (blanks, points, commas, signs, percent): no name of a column.
bool is_like_a_number(std::string_view word);

struct Dialect {
    char decimal = '.';
    std::size_t first = 0;          // where the first record begins, a header or a row
    std::string_view last_comment;  // of the lines above it, without its '#'
    std::vector<std::string> said;  // what was guessed
};
/// Sets `records.separator` and `records.comments`. `options` overrule what is guessed. `words`: the file holds labels,
/// in which '#' is a letter like any other.
Dialect find_dialect(Records& records, const ReadOptions& options, bool tab_separated, bool words);

/// ";", "a tab", "blanks"
std::string separator_text(char separator);

}  // namespace coterie::formats
