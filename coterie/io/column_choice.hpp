#pragma once
// Internal: columns as people name them, by name, by number from 1, or as a range, in tables and arrays alike.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"

namespace coterie::formats {

/// Per column whether it is among the positions.
std::vector<bool> marked(const std::vector<std::size_t>& positions, std::size_t columns);

struct ColumnNames {
    std::string source;                  // for messages
    std::size_t columns = 0;             // how many there are
    std::span<const std::string> names;  // empty: they have none

    /// "3 (age)", "3"
    std::string text(std::size_t column) const;
    /// Position of a column given by name or number (-1 the last). BadArgument names `what` and what there is.
    std::size_t position(const std::string& given, std::string_view what) const;
    /// Positions of names, numbers and ranges, in order. BadArgument where one comes twice.
    std::vector<std::size_t> positions(const std::vector<std::string>& given) const;
};

/// For each column that is wanted the place of the one of its name among those given; of several of one name in their
/// order. `missing`: names that are not there. BadData, after `source`, where a name is not there as often as it is
/// wanted.
std::vector<std::size_t> positions_of_names(const std::vector<std::string>& wanted,
                                            const std::vector<std::string>& given, const std::string& source,
                                            std::vector<std::string>& missing);

/// The columns of an array that `options` choose: by number, as arrays have no names; all of an array hold numbers.
/// What is read in blocks stays so.
Points chosen_columns(const Points& points, const ReadOptions& options, const std::string& source);

}  // namespace coterie::formats
