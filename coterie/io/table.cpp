// The messages about a field, shared by every kind of table: missing values, words among numbers, dates, numbers that
// are too large.

#include "coterie/io/internal/table.hpp"
#include "coterie/base/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/internal/text_dialect.hpp"
#include "coterie/io/text_header.hpp"

namespace coterie::io::internal {

std::vector<ColumnWords> Table::words_of_columns(const std::vector<bool>& asked, std::size_t most, int threads) const {
    std::vector<std::vector<ColumnWords>> of_pieces(pieces(), std::vector<ColumnWords>(columns_));
    for_each_block(static_cast<Index>(pieces()), threads, [&](Index piece, int) {
        const auto at = static_cast<std::size_t>(piece);
        count_words(at, asked, most, of_pieces[at]);
    });
    std::vector<ColumnWords> out = std::move(of_pieces.front());
    for (std::size_t piece = 1; piece < of_pieces.size(); ++piece)
        for (std::size_t j = 0; j < columns_; ++j) out[j].add(std::move(of_pieces[piece][j]));
    return out;
}

void Table::refuse_field(std::size_t where, std::size_t column, std::string_view value, Code code, std::string problem,
                         std::string remedy) const {
    Message place = column_names().place(column);
    place.value = shown(value);
    (is_text_ ? place.line : place.row) = row_of(where);
    throw BadData(code, std::move(problem), std::move(remedy), std::move(place));
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
    if (missing.size() == 1)
        throw BadData(Code::unknown_column, "the file does not have this column",
                      "Columns are matched by name: add or rename it",
                      {.file = source_, .column = shown(missing.front())});
    std::string names;
    for (const std::string& name : missing) names += filled("{}'{}'", names.empty() ? "" : ", ", shown(name));
    refuse_file(source_, Code::unknown_column, "the file does not have the columns " + names,
                "Columns are matched by name: add or rename them");
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

double Table::missing_value(std::size_t where, std::size_t column, std::string_view field, const Plan& plan) const {
    if (plan.missing) return std::numeric_limits<double>::quiet_NaN();
    const std::string_view word = trimmed(field);
    const std::string problem =
        word.empty() ? "the value is missing" : filled("'{}' stands for a missing value", shown(word));
    refuse_field(where, column, field, Code::missing_value, filled("{} ({})", problem, missing_text(plan)),
                 plan.advises ? points_of_fit().remedy : "Give every row a number");
}

template <class Scalar>
Scalar Table::value_of(std::size_t where, std::size_t column, std::string_view field, std::string_view word,
                       const Plan& plan) const {
    const std::string_view bare = trimmed(field);
    if (is_missing_word(bare)) return static_cast<Scalar>(missing_value(where, column, field, plan));
    if (plan.kind(column) == ColumnKind::category) {
        const auto found = plan.numbers[column]->find(word);
        if (found == plan.numbers[column]->end()) throw InternalError("a word was not seen before");
        return static_cast<Scalar>(found->second);
    }
    if (plan.kind(column) == ColumnKind::date) {
        if (const auto days = days_of_date(bare)) return static_cast<Scalar>(*days);
        refuse_field(where, column, field, Code::wrong_type, filled("'{}' is not a date", shown(field)),
                     filled("Write dates such as {}", date_examples));
    }
    Scalar value = 0;
    bool overflow = false;
    if (parse_field(field, value, overflow, decimal_)) return value;
    const ScalarType scalar = scalar_type_of<Scalar>();
    if (overflow)
        refuse_field(where, column, field, Code::too_large,
                     filled("'{}' is too large for {}", shown(field), coterie::name(scalar)),
                     internal::too_large_remedy(scalar));
    refuse_word(where, column, field, plan);
}

void Table::refuse_word(std::size_t where, std::size_t column, std::string_view field, const Plan& plan) const {
    const std::string_view bare = trimmed(field);
    if (is_infinite_word(bare))
        refuse_field(where, column, field, Code::not_finite, filled("'{}' is not a finite number", shown(field)),
                     "Replace it by a finite number or leave the row out");
    std::string problem = filled("'{}' is not a number", shown(field));
    if (days_of_date(bare))
        refuse_field(where, column, field, Code::not_a_number, problem + " but a date",
                     plan.advises ? "Use `dates` to convert columns of dates to numbers of days" : "");
    if (is_like_a_date(bare))
        refuse_field(where, column, field, Code::not_a_number, problem,
                     plan.advises ? filled("If it is a date, write it as {} and use `dates`", date_examples) : "");
    if (is_like_a_number(bare)) refuse_field(where, column, field, Code::not_a_number, problem, separator_remedy(bare));
    // Finds out from the first rows whether most values of the column are words, or only this value.
    Index words = 0, looked_at = 0;
    std::vector<std::string> fields;
    for (std::size_t at = first_record(); looked_at < 20 && next_record(at, fields); ++looked_at)
        if (column < fields.size() && !is_number(fields[column], decimal_)) ++words;
    std::string remedy = "Write a number such as 3, -0.5 or 1e-3";
    if (plan.categories_help && looked_at > 1 && 2 * words > looked_at) {
        const std::string name = column_names().option_text(column);
        problem += "; the column holds words";
        remedy = "Use `columns=numeric` to take only columns of numbers, `exclude=" + name +
                 "` to leave this one out, or `categorical=one-hot` to turn its words into numbers";
    }
    if (names_.empty() && row_of(where) == row_of(first_record()))
        remedy += ". Use `header=yes` if this line has the names of the columns";
    refuse_field(where, column, field, Code::not_a_number, problem, remedy);
}

// For a word that has only characters of numbers.
std::string Table::separator_remedy(std::string_view word) const {
    const bool comma = word.find(',') != std::string_view::npos, point = word.find('.') != std::string_view::npos;
    if (comma && !point && decimal_ == '.')
        return is_text_ ? "Use `decimal=comma` if the comma is the decimal sign. Remove it if it separates thousands"
                        : "Write a decimal point, and remove the thousands separator: 1234.5";
    if (point && !comma && decimal_ == ',')
        return "Use `decimal=point` if the point is the decimal sign. Remove it if it separates thousands";
    if (word.find_first_of("%$") != std::string_view::npos) return "Remove the unit";
    return filled("Remove the thousands separator: 1234{}5", decimal_);
}

std::string Table::missing_text(const Plan& plan) const {
    std::vector<Index> missing(columns_, 0);
    std::vector<std::string> fields;
    for (std::size_t at = first_record(); next_record(at, fields);)
        for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j)
            if (plan.targets[j] >= 0 && is_missing_word(trimmed(fields[j]))) ++missing[j];
    Index all = 0;
    std::string columns;
    int listed = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
        if (missing[j] == 0) continue;
        all += missing[j];
        if (++listed <= 6)
            columns += filled("{}{}: {}", columns.empty() ? "" : ", ", column_names().text(j), missing[j]);
    }
    if (listed > 6) columns += ", ...";
    const std::string total = counted(all, "missing value") + " in the file";
    return listed > 1 ? total + "; columns " + columns : total + (all > 1 ? ", all in this column" : "");
}

void Table::count_word(ColumnWords& column, std::string_view word) const {
    ++(is_number_text(word, decimal_) ? column.numbers : days_of_date(word) ? column.dates : column.words);
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
    refuse_field(field.where, column, field.text, Code::too_large,
                 internal::too_large_text(static_cast<double>(rows[at]), scalar, columns),
                 internal::too_large_remedy(scalar));
}

template float Table::value_of(std::size_t, std::size_t, std::string_view, std::string_view, const Plan&) const;
template double Table::value_of(std::size_t, std::size_t, std::string_view, std::string_view, const Plan&) const;
template void Table::refuse_too_large(const Plan&, std::size_t, const float*) const;
template void Table::refuse_too_large(const Plan&, std::size_t, const double*) const;

}  // namespace coterie::io::internal
