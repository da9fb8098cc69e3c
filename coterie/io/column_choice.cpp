// Finds columns by name, number or range. A word is a name if a column has that name, else a number or a range of
// numbers. Columns of an array are copied in blocks of rows.

#include "coterie/io/column_choice.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "coterie/base/derived_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
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
                                            const std::vector<std::string>& given, const std::string& source,
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
            throw BadData(source + "column '" + shown(name) + "' is there " +
                              counted(static_cast<Index>(of.at.size()), "time") + ", not " + std::to_string(of.asked) +
                              "; columns are found by name",
                          {.column = shown(name)});
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
    if (column < names.size()) out += " (" + shown(names[column]) + ")";
    return out;
}

std::size_t ColumnNames::position(const std::string& given, std::string_view what) const {
    const std::string_view word = trimmed(given);
    const auto named = std::count(names.begin(), names.end(), word);
    std::int64_t number = 0;
    const bool numbered = is_whole(word, number);
    if (named > 1 && !numbered)
        throw BadArgument(source + ": " + std::string(what) + " '" + shown(given) + "' names " + std::to_string(named) +
                              " columns; give its number",
                          {.column = shown(given)});
    if (numbered && named != 1) {
        const auto last = static_cast<std::int64_t>(columns);
        if (number >= 1 && number <= last) return static_cast<std::size_t>(number - 1);
        if (number < 0 && number >= -last) return static_cast<std::size_t>(last + number);
        throw BadArgument(
            source + ": " + std::string(what) + " " + shown(given) + " is not there; columns are numbered from 1 to " +
                std::to_string(last) + ", -1 is the last",
            {.accepted = "from 1 to " + std::to_string(last) + ", -1 is the last", .column = shown(given)});
    }
    if (named == 1) return static_cast<std::size_t>(std::find(names.begin(), names.end(), word) - names.begin());
    std::string list;
    for (const std::string& name : names) {
        if (list.size() > 500) {
            list += ", ...";
            break;
        }
        list += (list.empty() ? "" : ", ") + shown(name);
    }
    throw BadArgument(
        source + ": " + std::string(what) + " '" + shown(given) + "' is not there; " +
            (names.empty() ? "the file has no header line: columns are numbered from 1 to " + std::to_string(columns)
                           : "there are " + list),
        {.accepted = names.empty() ? "from 1 to " + std::to_string(columns) : list, .column = shown(given)});
}

std::vector<std::size_t> ColumnNames::positions(const std::vector<std::string>& given) const {
    std::vector<std::size_t> out;
    for (const std::string& word : given) {
        const std::size_t dash = word.find('-', 1);
        std::int64_t from = 0, to = 0;
        if (dash != std::string::npos && is_whole(trimmed(word.substr(0, dash)), from) &&
            is_whole(trimmed(word.substr(dash + 1)), to)) {
            const std::size_t low = position(std::to_string(from), "column"),
                              high = position(std::to_string(to), "column");
            if (low > high)
                throw BadArgument(source + ": columns " + shown(word) + " run backwards; give the smaller number first",
                                  {.option = "columns", .value = shown(word)});
            for (std::size_t j = low; j <= high; ++j) out.push_back(j);
        } else {
            out.push_back(position(word, "column"));
        }
    }
    std::vector<std::size_t> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        throw BadArgument(source + ": column " + text(*twice) + " is asked for twice",
                          {.option = "columns", .column = text(*twice)});
    return out;
}

Points chosen_columns(const Points& points, const ReadOptions& options, const std::string& source) {
    std::vector<std::string> asked = options.columns;
    std::erase(asked, "numeric");
    if (asked.empty() && options.exclude.empty()) return points;
    const ColumnNames names{source, static_cast<std::size_t>(points.columns()), {}};
    std::vector<std::size_t> chosen = names.positions(asked);
    const std::vector<std::size_t> excluded = names.positions(options.exclude);
    const std::vector<bool> is_chosen = marked(chosen, names.columns), is_excluded = marked(excluded, names.columns);
    for (const std::size_t j : excluded)
        if (is_chosen[j])
            throw BadArgument(
                source + ": column " + names.text(j) + " is asked for by `columns` and left out by `exclude`",
                {.option = "exclude", .column = names.text(j)});
    if (options.columns.empty() || asked.size() < options.columns.size())
        for (std::size_t j = 0; j < names.columns; ++j)
            if (!is_chosen[j] && !is_excluded[j]) chosen.push_back(j);
    if (chosen.empty()) throw BadData(source + ": no column is left; at least one column of numbers is needed");
    const auto columns = static_cast<Index>(chosen.size());
    if (!points.resident())
        return internal::derived_rows(points, columns,
                                      [chosen](PointsView rows, Index, void* to) { copy_columns(rows, chosen, to); });
    return points.view().with_scalar([&]<class Scalar>() {
        require_memory(static_cast<double>(points.rows()) * static_cast<double>(columns) * sizeof(Scalar), source);
        Matrix<Scalar> out(points.rows(), columns);
        copy_columns(points, chosen, out.data());
        return Points(std::move(out));
    });
}

}  // namespace coterie::formats
