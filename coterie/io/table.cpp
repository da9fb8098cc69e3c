// The messages about a field, shared by every kind of table: missing values, words among numbers, dates, numbers that
// are too large.

#include "coterie/base/checks.hpp"
#include "coterie/io/internal/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/text.hpp"
#include "coterie/io/internal/text_dialect.hpp"
#include "coterie/io/text_header.hpp"

namespace coterie::io::internal {

void Table::refuse_field(std::size_t where, std::size_t column, std::string_view value, Message message) const {
    set_column(message, column);
    (is_text_ ? message.line : message.row) = row_of(where);
    message.value = shown(value);
    throw BadData(std::move(message));
}

void Table::find_nameless_index() {
    if (names_.size() < 2 || !(names_[0].empty() || names_[0] == "Unnamed: 0")) return;
    if (std::any_of(names_.begin() + 1, names_.end(), [](const std::string& name) { return name.empty(); })) return;
    index_ = 0;
    index_reason_ = names_[0].empty() ? "the column has no name" : "pandas writes this name for a column that has none";
}

std::vector<std::size_t> Table::named(const std::vector<std::string>& wanted) const {
    std::vector<std::string> missing;
    std::vector<std::size_t> out = positions_of_names(wanted, names_, source_, missing);
    if (missing.empty()) return out;
    Message message{.code = Code::unknown_column,
                    .problem = "the file does not have this column",
                    .remedy = "Columns are matched by name: add or rename it"};
    if (missing.size() == 1) {
        message.column = shown(missing.front());
        refuse(std::move(message));
    }
    std::string names;
    for (const std::string& name : missing) names += filled("{}'{}'", names.empty() ? "" : ", ", shown(name));
    message.problem = "the file does not have the columns " + names;
    message.remedy = "Columns are matched by name: add or rename them";
    refuse(std::move(message));
}

namespace {

constexpr std::string_view date_examples = "2026-11-23, 23.11.2026 or 2026-11-23 14:05:30";

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
        const std::string problem =
            word.empty() ? "the value is missing" : filled("'{}' stands for a missing value", shown(word));
        refuse_field(where, column, field,
                     {.code = Code::missing_value,
                      .problem = filled("{} ({})", problem, missing_text(plan)),
                      .remedy = plan.advises ? points_of_fit().remedy : "Give every row a number"});
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
        if (found == numbers.end()) throw InternalError("a word was not seen before");
        value = static_cast<Scalar>(found->second);
        return;
    }
    if (plan.kind(column) == ColumnKind::date) {
        const auto days = days_of_date(bare);
        if (!days)
            refuse_field(where, column, field,
                         {.code = Code::wrong_type,
                          .problem = filled("'{}' is not a date", shown(field)),
                          .remedy = filled("Write dates such as {}", date_examples)});
        value = static_cast<Scalar>(*days);
        return;
    }
    bool overflow = false;
    if (parse_field(field, value, overflow, decimal_)) return;
    const ScalarType scalar = scalar_type_of<Scalar>();
    if (overflow)
        refuse_field(where, column, field,
                     {.code = Code::too_large,
                      .problem = filled("'{}' is too large for {}", shown(field), coterie::name(scalar)),
                      .remedy = internal::too_large_remedy(scalar)});
    refuse_field(where, column, field, not_a_number(where, column, field, plan));
}

Message Table::not_a_number(std::size_t where, std::size_t column, std::string_view field, const Plan& plan) const {
    Message out{.code = Code::not_a_number, .problem = filled("'{}' is not a number", shown(field))};
    const std::string_view bare = trimmed(field);
    if (is_infinite_word(bare)) {
        out.code = Code::not_finite;
        out.problem = filled("'{}' is not a finite number", shown(field));
        out.remedy = "Replace it by a finite number or leave the row out";
        return out;
    }
    if (days_of_date(bare)) {
        out.problem += " but a date";
        if (plan.advises) out.remedy = "Use `dates` to convert columns of dates to numbers of days";
        return out;
    }
    if (is_like_a_date(bare)) {
        if (plan.advises) out.remedy = filled("If it is a date, write it as {} and use `dates`", date_examples);
        return out;
    }
    if (is_like_a_number(bare)) {
        const bool comma = bare.find(',') != std::string_view::npos, point = bare.find('.') != std::string_view::npos;
        if (is_text_ && comma && !point && decimal_ == '.')
            out.remedy = "Use `decimal=comma` if the comma is the decimal sign. Remove it if it separates thousands";
        else if (comma && !point && decimal_ == '.')
            out.remedy = "Write a decimal point, and remove the thousands separator: 1234.5";
        else if (point && !comma && decimal_ == ',')
            out.remedy = "Use `decimal=point` if the point is the decimal sign. Remove it if it separates thousands";
        else if (bare.find('%') != std::string_view::npos || bare.find('$') != std::string_view::npos)
            out.remedy = "Remove the unit";
        else
            out.remedy = filled("Remove the thousands separator: 1234{}5", decimal_);
        return out;
    }
    // Finds out from the first rows whether most values of the column are words, or only this value.
    Index words = 0, looked_at = 0;
    each_row([&](const std::vector<std::string_view>& fields) {
        double number = 0;
        bool overflow = false;
        if (column < fields.size() && !parse_field(fields[column], number, overflow, decimal_)) ++words;
        return ++looked_at < 20;
    });
    if (plan.categories_help && looked_at > 1 && 2 * words > looked_at) {
        Message place;
        set_column(place, column);
        const std::string name = place.column.empty() ? std::to_string(column + 1) : place.column;
        out.problem += "; the column holds words";
        out.remedy = "Use `columns=numeric` to take only columns of numbers, `exclude=" + name +
                     "` to leave this one out, or `categorical=one-hot` to turn its words into numbers";
    } else {
        out.remedy = "Write a number such as 3, -0.5 or 1e-3";
    }
    if (names_.empty() && row_of(where) == row_of(first_record()))
        out.remedy += ". Use `header=yes` if this line has the names of the columns";
    return out;
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
        if (++listed <= 6) columns += filled("{}{}: {}", columns.empty() ? "" : ", ", column_text(j), missing[j]);
    }
    if (listed > 6) columns += ", ...";
    const std::string total = counted(all, "missing value") + " in the file";
    return listed > 1 ? total + "; columns " + columns : total + (all > 1 ? ", all in this column" : "");
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

// Checked here and not before a fit, because only the table knows the line, and the numbers are still in the cache.
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
    const ScalarType scalar = scalar_type_of<Scalar>();
    refuse_field(field.where, column, field.text,
                 {.code = Code::too_large,
                  .problem = internal::too_large_text(static_cast<double>(rows[at]), scalar, columns),
                  .remedy = internal::too_large_remedy(scalar)});
}

template void Table::take_missing(std::size_t, std::size_t, std::string_view, const Plan&, float&) const;
template void Table::take_missing(std::size_t, std::size_t, std::string_view, const Plan&, double&) const;
template void Table::take_field(std::size_t, std::size_t, std::string_view, std::string_view, const Plan&,
                                float&) const;
template void Table::take_field(std::size_t, std::size_t, std::string_view, std::string_view, const Plan&,
                                double&) const;
template void Table::refuse_too_large(const Plan&, std::size_t, const float*) const;
template void Table::refuse_too_large(const Plan&, std::size_t, const double*) const;

}  // namespace coterie::io::internal
