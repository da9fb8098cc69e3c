#pragma once
// Internal: whether the first row of a text file holds the names of its columns, and dates as numbers.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "coterie/io/reader.hpp"

namespace coterie::formats {

struct FirstRows {
    std::vector<std::string> first;               // the fields of the first row, without quotes
    std::vector<std::vector<std::string>> below;  // of some rows that follow
    char decimal = '.';
};
enum class FirstRow {
    point,
    names,
    either  // the numbers 0, 1, 2, ... or years, which may be names or a point: nobody can tell from the file
};
struct HeaderGuess {
    FirstRow is = FirstRow::point;
    std::string said;  // where it might surprise
};
using NameSet = std::unordered_set<std::string_view>;
/// `named`: the words by which the caller named columns.
HeaderGuess guess_header(const FirstRows& rows, const NameSet& named, bool words_may_be_data);

/// Days since 1970-01-01 of 2026-11-23, 2026/11/23, 23.11.2026, behind which a time may stand: 14:05, 14:05:30,
/// T14:05:30Z. Nothing on anything else, days that no month has among it.
std::optional<double> days_of_date(std::string_view word);

}  // namespace coterie::formats
