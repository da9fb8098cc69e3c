#pragma once
// Internal: decides whether the first row of a text file names its columns; converts dates to numbers.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "coterie/io/reader.hpp"

namespace coterie::formats {

struct FirstRows {
    std::vector<std::string> first;               // the fields of the first row, without quotes
    std::vector<std::vector<std::string>> below;  // the fields of some of the following rows
    char decimal = '.';
};
enum class FirstRow {
    point,
    names,
    either  // the numbers 0, 1, 2, ... or years: the file does not show whether they are names or a point
};
struct HeaderGuess {
    FirstRow is = FirstRow::point;
    Message note = {};  // if the guess is not obvious, or not possible; without the place
};
using NameSet = std::unordered_set<std::string_view>;
/// `named`: the words by which options name columns.
HeaderGuess guess_header(const FirstRows& rows, const NameSet& named);

/// Days since 1970-01-01 for 2026-11-23, 2026/11/23 or 23.11.2026, optionally followed by a time: 14:05, 14:05:30,
/// T14:05:30Z. Otherwise, and for dates that do not exist, nothing.
std::optional<double> days_of_date(std::string_view word);

}  // namespace coterie::formats
