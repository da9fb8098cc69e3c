// Decides whether the first row names the columns. Words above numbers are names. Numbers are names if they are
// unlikely as data: 0, 1, 2, ..., which pandas writes for columns without names, or increasing years. Two or three such
// numbers may also be a row of data; the user must then set `header`. A word next to other numbers (1,oops) does not
// make a header: it is reported as an invalid value.

#include "coterie/io/text_header.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "coterie/io/formats.hpp"
#include "coterie/io/internal/text_dialect.hpp"

namespace coterie::formats {

using namespace io::internal;
namespace {

enum class FieldKind { number, missing, like_a_number, word };

FieldKind kind_of(const std::string& field, char decimal) {
    if (is_number_text(field, decimal)) return FieldKind::number;
    const std::string_view word = trimmed(field);
    if (is_missing_word(word) || is_infinite_word(word)) return FieldKind::missing;
    return is_like_a_number(word) ? FieldKind::like_a_number : FieldKind::word;
}

std::optional<int> whole_number(std::string_view text) {
    text = trimmed(text);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

enum class Sequence { none, counts, years };

// Whether the fields at the given positions, at least two, are consecutive numbers or increasing years.
Sequence sequence_of(const std::vector<std::string>& fields, const std::vector<std::size_t>& at) {
    std::vector<int> values;
    for (const std::size_t j : at) {
        const auto value = j < fields.size() ? whole_number(fields[j]) : std::nullopt;
        if (!value) return Sequence::none;
        values.push_back(*value);
    }
    if (values.size() < 2) return Sequence::none;
    bool by_one = true, grows = true, years = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
        by_one = by_one && values[i] == values[0] + static_cast<int>(i);
        grows = grows && (i == 0 || values[i] > values[i - 1]);
        years = years && values[i] >= 1500 && values[i] <= 2200;
    }
    return grows && years ? Sequence::years : by_one ? Sequence::counts : Sequence::none;
}

std::string listed(const std::vector<std::string>& fields) {
    std::string out;
    for (std::size_t j = 0; j < fields.size() && j < 6; ++j) out += (j == 0 ? "" : ", ") + shown(fields[j]);
    return fields.size() > 6 ? out + ", ..." : out;
}

}  // namespace

HeaderGuess guess_header(const FirstRows& rows, const NameSet& named) {
    const auto& first = rows.first;
    const auto& below = rows.below;
    std::vector<std::size_t> numbers, words;
    bool odd = false;
    for (std::size_t j = 0; j < first.size(); ++j) {
        const FieldKind kind = kind_of(first[j], rows.decimal);
        if (kind == FieldKind::number) numbers.push_back(j);
        if (kind == FieldKind::word) words.push_back(j);
        if (kind == FieldKind::word || kind == FieldKind::like_a_number)
            if (named.contains(trimmed(first[j]))) return {FirstRow::names};
        odd = odd || kind == FieldKind::like_a_number;
    }
    const auto value_below = [&](std::size_t row, std::size_t j) {
        return j < below[row].size() ? below[row][j] : std::string();
    };
    // A word above a number.
    const bool names_numbers = std::any_of(words.begin(), words.end(), [&](std::size_t j) {
        for (std::size_t i = 0; i < below.size(); ++i) {
            const FieldKind kind = kind_of(value_below(i, j), rows.decimal);
            if (kind != FieldKind::missing) return kind == FieldKind::number;
        }
        return false;
    });
    const auto recurs = [&](std::size_t j) {
        for (std::size_t i = 0; i < below.size(); ++i)
            if (trimmed(value_below(i, j)) == trimmed(first[j])) return true;
        return false;
    };
    const Message are_names{.code = Code::header_guessed,
                            .problem = "taken as the names of the columns: " + listed(first),
                            .remedy = "Use `header=no` if this line is a row of data"};
    if (odd) return {};
    if (numbers.empty()) {
        if (words.empty()) return {};
        if (names_numbers) {
            const bool plain = std::none_of(words.begin(), words.end(), [&](std::size_t j) {
                const char c = trimmed(first[j]).front();
                return (c >= '0' && c <= '9') || c == '-' || c == '+';
            });
            return {FirstRow::names, plain ? Message() : are_names};
        }
        // Words above words.
        if (below.size() < 2 || words.size() < first.size()) return {};
        if (std::any_of(words.begin(), words.end(), recurs)) return {};
        return {FirstRow::names, are_names};
    }
    // The numbers are increasing years, or count up from 0 (if there are words too: from 0 or 1).
    const Sequence run = sequence_of(first, numbers);
    const int start = run == Sequence::counts ? *whole_number(first[numbers.front()]) : 0;
    if (run == Sequence::none || start < 0 || start > (words.empty() ? 0 : 1)) {
        // ",0" above "0,1.5": an unnamed column of row numbers, and a column named 0.
        const bool index = first.size() == 2 && trimmed(first[0]).empty() && whole_number(first[1]) == 0 &&
                           below.size() > 1 && whole_number(value_below(0, 0)) == 0 &&
                           whole_number(value_below(1, 0)) == 1;
        return index ? HeaderGuess{FirstRow::names, are_names} : HeaderGuess{};
    }
    if (names_numbers || (!first.empty() && trimmed(first[0]).empty() && numbers.size() + 1 == first.size()))
        return {FirstRow::names, names_numbers ? Message() : are_names};
    if (below.size() < 2) return {};
    // If a row below is such a sequence too, the first row is data like that row.
    for (const auto& row : below)
        if (sequence_of(row, numbers) == run) return {};
    if (!words.empty())  // for example country, 2019, 2020
        return std::any_of(words.begin(), words.end(), recurs) ? HeaderGuess{}
                                                               : HeaderGuess{FirstRow::names, are_names};
    if (numbers.size() < first.size()) return {};
    if (std::all_of(numbers.begin(), numbers.end(), recurs)) return {};
    const bool fractions = std::all_of(numbers.begin(), numbers.end(), [&](std::size_t j) {
        return std::none_of(below.begin(), below.end(), [&](const auto& row) {
            return j < row.size() && kind_of(row[j], rows.decimal) == FieldKind::number && whole_number(row[j]);
        });
    });
    if (numbers.size() >= 4 || (numbers.size() == 3 && fractions)) return {FirstRow::names, are_names};
    return {FirstRow::either,
            {.code = Code::header_guessed,
             .problem = "it is not clear whether this line names the columns or is a row of data: " + listed(first),
             .remedy = "Use `header=yes` or `header=no`"}};
}

std::optional<double> days_of_date(std::string_view word) {
    const auto number = [&](std::size_t digits, std::string_view behind) -> std::optional<int> {
        if (word.size() < digits) return std::nullopt;
        int value = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            if (word[i] < '0' || word[i] > '9') return std::nullopt;
            value = 10 * value + (word[i] - '0');
        }
        word.remove_prefix(digits);
        if (behind.empty()) return value;
        if (word.empty() || behind.find(word.front()) == std::string_view::npos) return std::nullopt;
        word.remove_prefix(1);
        return value;
    };
    word = trimmed(word);
    std::optional<int> year, month, day;
    if (word.size() > 4 && (word[4] == '-' || word[4] == '/')) {
        const std::string_view sign = word.substr(4, 1);
        if (!(year = number(4, sign)) || !(month = number(2, sign)) || !(day = number(2, {}))) return std::nullopt;
    } else {
        if (!(day = number(2, ".")) || !(month = number(2, ".")) || !(year = number(4, {}))) return std::nullopt;
    }
    using namespace std::chrono;
    const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                              std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    auto days = static_cast<double>(sys_days(date).time_since_epoch().count());
    if (word.empty()) return days;
    if (word.front() != 'T' && word.front() != ' ') return std::nullopt;
    word.remove_prefix(1);
    const auto hours = number(2, ":");
    const auto minutes = hours ? number(2, {}) : std::nullopt;
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    double seconds = 0;
    if (word.starts_with(':')) {
        word.remove_prefix(1);
        bool overflow = false;
        const char* end = word.empty() || word.front() < '0' || word.front() > '9'
                              ? nullptr
                              : parse_decimal(word.data(), word.data() + word.size(), seconds, overflow);
        if (end == nullptr || seconds >= 61) return std::nullopt;
        word.remove_prefix(static_cast<std::size_t>(end - word.data()));
    }
    if (!word.empty() && word != "Z") return std::nullopt;
    return days + (*hours * 3600.0 + *minutes * 60.0 + seconds) / 86400.0;
}

}  // namespace coterie::formats
