#pragma once
// Internal: detects how a text file is written, before its numbers are read: encoding and line ends, comment lines,
// separator, decimal sign, and words for missing values.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/io/formats.hpp"

namespace coterie::io::internal {

using namespace coterie::formats;
using namespace coterie::internal;

/// As a separator: any run of blanks and tabs.
inline constexpr char run_of_blanks = ' ';

/// Whether c is a blank to ignore around a field: not a tab if tabs separate fields.
inline bool is_blank(char c, char separator) { return c == ' ' || c == '\r' || (c == '\t' && separator != '\t'); }

/// Text as UTF-8 whose lines end with '\n'.
struct DecodedText {
    std::string_view text;
    std::shared_ptr<const std::string> owner;  // holds text that had to be converted
    std::vector<std::string> conversions;      // "encoding UTF-16", "old Mac line ends"
};
/// Converts UTF-16 (recognised by a byte order mark or zero bytes) to UTF-8. Other text that is not UTF-8 is read as
/// Windows-1252, which includes Latin-1. Also converts line ends '\r'. Throws BadData if the file is not text.
DecodedText decode_text(const Bytes& bytes, std::string_view source);

/// The records of a text and the fields of a record.
struct Records {
    std::string_view text;
    std::string source;  // the file, for messages
    char separator = 0;
    bool quotes = false;    // the text has a '"'
    bool comments = false;  // lines that begin with '#' are not records

    /// The position after the record's '\n', or the end of the text.
    std::size_t end_of(std::size_t begin) const;
    bool is_empty(std::size_t begin, std::size_t end) const;
    bool is_comment(std::size_t begin) const { return comments && text[begin] == '#'; }
    /// Splits the record [begin, end) into raw fields (with quotes, blanks trimmed). Throws BadData for text after a
    /// closing quote.
    void split(std::size_t begin, std::size_t end, std::vector<std::string_view>& fields) const;
};
/// A field without its outer quotes; doubled quotes inside stay doubled.
std::string_view inside_quotes(std::string_view field);
/// The same with doubled quotes made single.
std::string without_quotes(std::string_view field);

/// Whether a word stands for a missing value: empty, NA, NaN, null, ?, - and a few more, in upper or lower case.
bool is_missing_word(std::string_view word);
/// inf and infinity, with or without a sign.
bool is_infinite_word(std::string_view word);
/// Whether a word has only characters of numbers (digits, blanks, points, commas, signs, percent): not a name.
bool is_like_a_number(std::string_view word);

struct Dialect {
    char decimal = '.';
    std::size_t first = 0;             // position of the first record, which is a header or a row
    std::string_view last_comment;     // last comment before the first record, without its '#'
    std::vector<std::string> guesses;  // "fields separated by ;", ...
};
/// Sets `records.separator` and `records.comments`. Does not guess what `options` give. `words`: the file holds labels,
/// in which '#' is an ordinary character.
Dialect find_dialect(Records& records, const ReadOptions& options, bool tab_separated, bool words);

/// ";", "a tab", "blanks"
std::string separator_text(char separator);

}  // namespace coterie::io::internal
