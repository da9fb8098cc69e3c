#pragma once
// Tables and numbers as a person reads them.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Rows of cells under a header (left out when empty); columns named in `right` are aligned to the right.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  const std::vector<std::size_t>& right = {});
/// "name   value" lines; long values are wrapped under themselves.
std::string facts(const std::vector<std::pair<std::string, std::string>>& rows);

/// 0.7930
std::string share_text(double share);
/// 0.7930, or 0.7930 to 0.8100 where the two differ.
std::string share_text(std::pair<double, double> shares);
/// 42.50: so many digits behind the point.
std::string fixed_text(double value, int digits);
/// 1.165e+06 or 42.5: six significant digits.
std::string number_text(double value);
std::string seconds_text(double seconds);
/// 1,234,567
std::string count_text(long long count);
std::string bytes_text(double bytes);
/// A number as printf's pattern says.
std::string formatted(const char* pattern, double value);
std::string join(const std::vector<std::string>& words, const std::string& between = ", ");
/// `text` broken at spaces into lines of at most `width`; its own line ends are kept.
std::vector<std::string> wrap(const std::string& text, std::size_t width);

/// "3 rows with missing values"
std::string left_out_text(Index rows);
/// Width in columns of UTF-8 text.
std::size_t display_width(const std::string& text);

}  // namespace coterie::internal
