#pragma once
// Formats tables and numbers for people, and suggests the likely word for a misspelled one.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Rows of cells under a header; an empty header is left out. Columns listed in `right` are right-aligned.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  const std::vector<std::size_t>& right = {});
/// "name   value" lines. Long values wrap under their first line.
std::string facts(const std::vector<std::pair<std::string, std::string>>& rows);

/// 0.7930
std::string share_text(double share);
/// 0.7930, or 0.7930 to 0.8100 if the two differ.
std::string share_text(std::pair<double, double> shares);
/// 42.50: `digits` digits after the point.
std::string fixed_text(double value, int digits);
/// 1.165e+06 or 42.5: six significant digits.
std::string number_text(double value);
std::string seconds_text(double seconds);
/// 1,234,567
std::string count_text(long long count);
std::string bytes_text(double bytes);
/// The bytes of a size such as "2G", "1.5GiB" or "4096"; units are powers of 1024. 0 if the text is not a size.
double bytes_from_text(const std::string& text);
/// A number formatted with a printf pattern.
std::string formatted(const char* pattern, double value);
std::string join(const std::vector<std::string>& words, const std::string& between = ", ");
/// `text` broken at spaces into lines of at most `width` bytes. Its own line ends stay.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

/// "3 rows with missing values"
std::string left_out_text(Index rows);
/// The candidate that `word` most likely misspells, or empty. Among equally likely candidates, the first.
std::string likely_word(const std::string& word, const std::vector<std::string>& candidates);
/// Width of UTF-8 text in terminal columns: one per character.
std::size_t display_width(const std::string& text);

}  // namespace coterie::internal
