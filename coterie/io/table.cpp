// The messages about a field, shared by every kind of table: missing values, words among numbers, dates, numbers that
// are too large.

#include "coterie/io/internal/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/largest_coordinate.hpp"
#include "coterie/io/internal/text_dialect.hpp"
#include "coterie/io/text_header.hpp"

namespace coterie::formats {

void Table::refuse_field(std::size_t where, std::size_t column, const std::string& text, std::string_view value) const {
    const Index row = row_of(where);
    refuse("row " + std::to_string(row) + ", column " + column_text(column) + ": " + text,
           {.value = shown(value),
            .row = row,
            .column = column < names_.size() && !names_[column].empty() ? shown(names_[column])
                                                                        : std::to_string(column + 1)});
}

void Table::find_nameless_index() {
    if (names_.size() < 2 || !(names_[0].empty() || names_[0] == "Unnamed: 0")) return;
    if (std::any_of(names_.begin() + 1, names_.end(), [](const std::string& name) { return name.empty(); })) return;
    index_ = 0;
    index_said_ = "has no name and";
}

std::vector<std::size_t> Table::named(const std::vector<std::string>& wanted) const {
    std::vector<std::string> missing;
    std::vector<std::size_t> out = positions_of_names(wanted, names_, source_ + ": ", missing);
    if (missing.empty()) return out;
    std::string text;
    for (const std::string& name : missing) text += (text.empty() ? "'" : ", '") + shown(name) + "'";
    throw BadData(source_ + ": column " + text + " is missing in the header line; columns are found by name",
                  {.column = text});
}

namespace {

constexpr std::string_view dates_accepted = "dates such as 2026-11-23, 23.11.2026 and 2026-11-23 14:05:30";

// Three whole numbers with '.', '-' or '/' between them, of which the first or the last may be a year.
bool is_like_a_date(std::string_view word) {
    std::vector<std::size_t> digits = {0};
    const char between = word.find_first_of(".-/") == std::string_view::npos ? 0 : word[word.find_first_of(".-/")];
    for (const char c : word) {
        if (c >= '0' && c <= '9')
            ++digits.back();
        else if (c == between)
            digits.push_back(0);
        else
            return false;
    }
    const auto year = [](std::size_t count) { return count == 4 || count == 2; };
    return digits.size() == 3 && digits[1] >= 1 && digits[1] <= 2 && digits[0] >= 1 && digits[2] >= 1 &&
           ((year(digits[0]) && digits[2] <= 2) || (year(digits[2]) && digits[0] <= 2));
}

}  // namespace

template <class Scalar>
void Table::take_missing(std::size_t where, std::size_t column, std::string_view field, const Plan& plan,
                         Scalar& value) const {
    if (!plan.missing) {
        const std::string_view word = trimmed(field);
        refuse_field(
            where, column,
            (word.empty() ? "the field is empty" : "value '" + shown(word) + "' stands for a missing one") + "; " +
                missing_text(plan) +
                (plan.advises
                     ? "; `missing=drop` leaves such rows out, `missing=mean` and `missing=median` fill them in"
                     : "; a number is needed in every row"),
            field);
    }
    value = std::numeric_limits<Scalar>::quiet_NaN();
}

template <class Scalar>
void Table::take_field(std::size_t where, std::size_t column, std::string_view field, std::string_view word,
                       const Plan& plan, Scalar& value) const {
    const std::string_view bare = trimmed(field);
    if (is_missing_word(bare)) return take_missing(where, column, field, plan, value);
    if (plan.kind(column) == ColumnKind::category) {
        const auto& numbers = *plan.numbers[column];
        const auto found = numbers.find(word);
        if (found == numbers.end()) throw InternalError(source_ + ": a word was not seen before");
        value = static_cast<Scalar>(found->second);
        return;
    }
    if (plan.kind(column) == ColumnKind::date) {
        const auto days = days_of_date(bare);
        if (!days)
            refuse_field(where, column,
                         "'" + shown(field) + "' is not a date; " + std::string(dates_accepted) + " are accepted",
                         field);
        value = static_cast<Scalar>(*days);
        return;
    }
    bool overflow = false;
    if (parse_field(field, value, overflow, decimal_)) return;
    const std::string type(coterie::name(scalar_type_of<Scalar>()));
    if (overflow) refuse_field(where, column, "value '" + shown(field) + "' is too large for " + type, field);
    refuse_field(where, column, why_not_a_number(where, column, field, plan), field);
}

std::string Table::why_not_a_number(std::size_t where, std::size_t column, std::string_view field,
                                    const Plan& plan) const {
    const std::string out = "value '" + shown(field) + "' is not a number";
    const std::string_view bare = trimmed(field);
    if (is_infinite_word(bare)) return out + "; infinite values are not accepted: leave the row out";
    if (days_of_date(bare)) return out + (plan.advises ? "; `dates` takes dates as numbers of days" : "; it is a date");
    if (is_like_a_date(bare))
        return out + "; " +
               (plan.advises ? "`dates` takes " + std::string(dates_accepted)
                             : std::string(dates_accepted) + " are dates");
    if (is_like_a_number(bare)) {
        const bool comma = bare.find(',') != std::string_view::npos, point = bare.find('.') != std::string_view::npos;
        if (comma && !point && decimal_ == '.')
            return out + "; the decimal sign is a point" + (has_dialect_ ? " (`decimal=comma` takes a comma)" : "") +
                   ", and thousands are not parted: 1234.5";
        if (point && !comma && decimal_ == ',')
            return out +
                   "; the decimal sign is a comma in this file (`decimal=point` takes a point), and thousands are " +
                   "not parted: 1234,5";
        if (bare.find('%') != std::string_view::npos || bare.find('$') != std::string_view::npos)
            return out + "; numbers have no unit beside them";
        return out + "; thousands are not parted: 1234" + decimal_ + "5";
    }
    // Finds out whether the whole column holds words, or only this value.
    Index words = 0, looked_at = 0;
    each_row([&](const std::vector<std::string_view>& fields) {
        double number = 0;
        bool overflow = false;
        if (column < fields.size() && !parse_field(fields[column], number, overflow, decimal_)) ++words;
        return ++looked_at < 20;
    });
    std::string hint;
    if (plan.categories_help && looked_at > 1 && 2 * words > looked_at)
        hint =
            "; the column holds words: `columns=numeric` takes those of numbers alone, `exclude` leaves this one out, "
            "`categorical=one-hot` makes numbers of its words";
    else
        hint = "; numbers such as 3, -0.5 or 1e-3 are accepted";
    if (names_.empty() && row_of(where) == row_of(first_record()))
        hint += "; `header=yes` takes the first row for the names of columns";
    return out + hint;
}

std::string Table::missing_text(const Plan& plan) const {
    std::vector<Index> missing(columns_, 0);
    each_row([&](const std::vector<std::string_view>& fields) {
        for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j)
            if (plan.targets[j] >= 0 && is_missing_word(trimmed(fields[j]))) ++missing[j];
        return true;
    });
    Index all = 0;
    std::string columns;
    int listed = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
        if (missing[j] == 0) continue;
        all += missing[j];
        if (++listed <= 6)
            columns += (columns.empty() ? "" : ", ") + column_text(j) + ": " + std::to_string(missing[j]);
    }
    if (listed > 6) columns += ", ...";
    return std::to_string(all) + (all == 1 ? " value is" : " values are") + " missing in all (column " + columns + ")";
}

void Table::count_word(ColumnWords& column, std::string_view word) const {
    double value = 0;
    bool overflow = false;
    if (parse_field(word, value, overflow, decimal_) || overflow)
        ++column.numbers;
    else if (days_of_date(word))
        ++column.dates;
    else
        ++column.words;
}

// This is done here and not when points are checked before a fit, because only the table knows the line of a row. The
// numbers of the piece are still in the cache.
template <class Scalar>
void Table::refuse_too_large(const Plan& plan, std::size_t piece, const Scalar* rows) const {
    const auto columns = static_cast<Index>(plan.taken);
    const auto limit = static_cast<Scalar>(internal::largest_coordinate(scalar_type_of<Scalar>(), columns));
    const Index count = (starts_[piece + 1] - starts_[piece]) * columns;
    Index at = 0;
    while (at < count && !(std::abs(rows[at]) > limit)) ++at;  // false for NaN, a missing value
    if (at == count) return;
    const auto target = std::find(plan.targets.begin(), plan.targets.end(), at % columns);
    const auto column = static_cast<std::size_t>(target - plan.targets.begin());
    const Field field = field_at(piece, at / columns, column);
    refuse_field(field.where, column,
                 internal::too_large_text(static_cast<double>(rows[at]), scalar_type_of<Scalar>(), columns),
                 field.text);
}

template void Table::take_missing(std::size_t, std::size_t, std::string_view, const Plan&, float&) const;
template void Table::take_missing(std::size_t, std::size_t, std::string_view, const Plan&, double&) const;
template void Table::take_field(std::size_t, std::size_t, std::string_view, std::string_view, const Plan&,
                                float&) const;
template void Table::take_field(std::size_t, std::size_t, std::string_view, std::string_view, const Plan&,
                                double&) const;
template void Table::refuse_too_large(const Plan&, std::size_t, const float*) const;
template void Table::refuse_too_large(const Plan&, std::size_t, const double*) const;

}  // namespace coterie::formats
