// Finds columns by name, number or range. A word is first looked up as a name. If no column has this name, the word is
// a number or a range. Columns of an array are copied in blocks of rows.

#include "coterie/io/column_choice.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "coterie/base/derived_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

bool is_whole(std::string_view text, std::int64_t& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// `to` may overlap the rows.
void copy_columns(PointsView points, const std::vector<std::size_t>& chosen, void* to) {
    points.visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        std::vector<Scalar> row(chosen.size());
        for (Index i = 0; i < rows.rows; ++i) {
            for (std::size_t c = 0; c < chosen.size(); ++c) row[c] = rows.row(i)[chosen[c]];
            std::copy(row.begin(), row.end(), static_cast<Scalar*>(to) + i * static_cast<Index>(row.size()));
        }
    });
}

}  // namespace

std::vector<std::size_t> positions_of_names(const std::vector<std::string>& wanted,
                                            const std::vector<std::string>& given, const std::string& file,
                                            std::vector<std::string>& missing) {
    struct Uses {
        std::vector<std::size_t> at;  // positions in `given`
        std::size_t asked = 0, taken = 0;
    };
    std::unordered_map<std::string_view, Uses> uses;
    for (std::size_t j = 0; j < given.size(); ++j) uses[given[j]].at.push_back(j);
    for (const std::string& name : wanted) ++uses[name].asked;
    std::vector<std::size_t> out;
    for (const std::string& name : wanted) {
        Uses& of = uses[name];
        if (of.at.empty()) {
            missing.push_back(name);
            continue;
        }
        if (of.at.size() != of.asked)
            throw BadData(
                Code::duplicate,
                filled("{} {} this name, but {} {} needed", counted(static_cast<Index>(of.at.size()), "column"),
                       of.at.size() == 1 ? "has" : "have", of.asked, of.asked == 1 ? "is" : "are"),
                "Columns are matched by name: use the names of the training data",
                {.file = file, .column = shown(name)});
        out.push_back(of.at[of.taken++]);
    }
    return out;
}

std::vector<bool> marked(const std::vector<std::size_t>& positions, std::size_t columns) {
    std::vector<bool> out(columns, false);
    for (const std::size_t j : positions) out[j] = true;
    return out;
}

std::string ColumnNames::text(std::size_t column) const {
    std::string out = std::to_string(column + 1);
    if (column < names.size()) out += filled(" ({})", shown(names[column]));
    return out;
}

std::string ColumnNames::option_text(std::size_t column) const {
    const std::string name = place(column).column;
    return name.empty() ? std::to_string(column + 1) : name;
}

Message ColumnNames::place(std::size_t column, std::string_view option) const {
    return {.option = std::string(option),
            .file = source,
            .column = column < names.size() ? shown(names[column]) : "",
            .column_number = static_cast<std::int64_t>(column) + 1};
}

std::size_t ColumnNames::position(const std::string& given, std::string_view option) const {
    const std::string_view word = trimmed(given);
    const auto named = std::count(names.begin(), names.end(), word);
    std::int64_t number = 0;
    const bool numbered = is_whole(word, number);
    if (named == 1) return static_cast<std::size_t>(std::find(names.begin(), names.end(), word) - names.begin());
    const auto last = static_cast<std::int64_t>(columns);
    if (numbered && number >= 1 && number <= last) return static_cast<std::size_t>(number - 1);
    if (numbered && number < 0 && number >= -last) return static_cast<std::size_t>(last + number);
    Message place{.option = std::string(option), .value = shown(given), .file = source};
    if (numbered) {
        place.accepted = filled("from 1 to {}, -1 is the last", last);
        place.column_number = number;
        throw BadArgument(Code::unknown_column, "there is no such column",
                          filled("Give a number from 1 to {}, where -1 is the last column", last), std::move(place));
    }
    place.column = shown(given);
    if (named > 1)
        throw BadArgument(Code::duplicate, filled("{} columns have this name", named),
                          "Give the number of the column instead", std::move(place));
    if (names.empty()) {
        place.accepted = filled("from 1 to {}", columns);
        throw BadArgument(Code::unknown_column, "there is no such column, because the columns have no names",
                          filled("Give a number from 1 to {}", columns), std::move(place));
    }
    for (const std::string& name : names) {
        if (place.accepted.size() > 500) {
            place.accepted += ", ...";
            break;
        }
        place.accepted += (place.accepted.empty() ? "" : ", ") + shown(name);
    }
    const std::string remedy = "Choose among: " + place.accepted;
    throw BadArgument(Code::unknown_column, "there is no such column", remedy, std::move(place));
}

std::vector<std::size_t> ColumnNames::positions(const std::vector<std::string>& given, std::string_view option) const {
    std::vector<std::size_t> out;
    for (const std::string& word : given) {
        const std::size_t dash = word.find('-', 1);
        std::int64_t from = 0, to = 0;
        if (dash != std::string::npos && is_whole(trimmed(word.substr(0, dash)), from) &&
            is_whole(trimmed(word.substr(dash + 1)), to)) {
            const std::size_t low = position(std::to_string(from), option), high = position(std::to_string(to), option);
            if (low > high)
                throw BadArgument(Code::not_accepted, filled("the range of columns {} runs backwards", shown(word)),
                                  "Give the smaller number first",
                                  {.option = std::string(option), .value = shown(word), .file = source});
            for (std::size_t j = low; j <= high; ++j) out.push_back(j);
        } else {
            out.push_back(position(word, option));
        }
    }
    std::vector<std::size_t> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        throw BadArgument(Code::duplicate, "the column is given twice", "Name each column once", place(*twice, option));
    return out;
}

void ColumnNames::refuse_both(const std::vector<std::size_t>& chosen, const std::vector<std::size_t>& excluded) const {
    const std::vector<bool> is_chosen = marked(chosen, columns);
    for (const std::size_t j : excluded)
        if (is_chosen[j])
            throw BadArgument(Code::conflict, "the column is in both `columns` and `exclude`", "Name it in one of them",
                              place(j, "exclude"));
}

Points chosen_columns(const Points& points, const ReadOptions& options, const std::string& source) {
    std::vector<std::string> asked = options.columns;
    std::erase(asked, "numeric");
    if (asked.empty() && options.exclude.empty()) return points;
    const ColumnNames names{source, static_cast<std::size_t>(points.columns()), {}};
    std::vector<std::size_t> chosen = names.positions(asked, "columns");
    const std::vector<std::size_t> excluded = names.positions(options.exclude, "exclude");
    names.refuse_both(chosen, excluded);
    const std::vector<bool> is_chosen = marked(chosen, names.columns), is_excluded = marked(excluded, names.columns);
    if (options.columns.empty() || asked.size() < options.columns.size())
        for (std::size_t j = 0; j < names.columns; ++j)
            if (!is_chosen[j] && !is_excluded[j]) chosen.push_back(j);
    if (chosen.empty()) refuse_file(source, Code::empty, "no column is left", "Keep at least one column of numbers");
    const auto columns = static_cast<Index>(chosen.size());
    if (!points.resident())
        return internal::derived_rows(points, columns,
                                      [chosen](PointsView rows, Index, void* to) { copy_columns(rows, chosen, to); });
    return points.view().with_scalar([&]<class Scalar>() {
        require_memory(static_cast<double>(points.rows()) * static_cast<double>(columns) * sizeof(Scalar), "the array");
        Matrix<Scalar> out(points.rows(), columns);
        copy_columns(points, chosen, out.data());
        return Points(std::move(out));
    });
}

}  // namespace coterie::formats
