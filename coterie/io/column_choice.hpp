#pragma once
// Internal: finds columns of tables and arrays that a user gives by name, by number from 1, or as a range.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"

namespace coterie::formats {

/// For each column, whether it is in `positions`.
std::vector<bool> marked(const std::vector<std::size_t>& positions, std::size_t columns);

struct ColumnNames {
    std::string source;                  // the file, for messages
    std::size_t columns = 0;             // number of columns
    std::span<const std::string> names;  // empty: the columns have no names

    /// "3 (age)", "3"
    std::string text(std::size_t column) const;
    /// The name of a column, or its number if it has none, for use in an option.
    std::string option_text(std::size_t column) const;
    /// A message with the file, the column and the option only.
    Message place(std::size_t column, std::string_view option = {}) const;
    /// Position of a column given by name or number (-1: the last). `option`: the option that gave it, for messages;
    /// may be empty. Throws BadArgument that names the existing columns.
    std::size_t position(const std::string& given, std::string_view option) const;
    /// Positions of names, numbers and ranges, in order. Throws BadArgument if one occurs twice.
    std::vector<std::size_t> positions(const std::vector<std::string>& given, std::string_view option) const;
    /// Throws BadArgument if a column is in both lists.
    void refuse_both(const std::vector<std::size_t>& chosen, const std::vector<std::size_t>& excluded) const;
};

/// For each wanted column, the position of the given column with that name; columns with the same name are matched in
/// order. `missing` receives names that do not exist. Throws BadData if a name does not occur as often as it is wanted.
/// `file`: for messages; may be empty.
std::vector<std::size_t> positions_of_names(const std::vector<std::string>& wanted,
                                            const std::vector<std::string>& given, const std::string& file,
                                            std::vector<std::string>& missing);

/// The columns of an array that `options` choose (by number, because arrays have no names). The result of points that
/// are read in blocks is also read in blocks.
Points chosen_columns(const Points& points, const ReadOptions& options, const std::string& source);

}  // namespace coterie::formats
