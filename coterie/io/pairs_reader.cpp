// Reads pairs as a table with two columns of numbers and one of words, which the reader codes as categories.

#include "coterie/io/pairs_reader.hpp"

#include <cmath>

#include "coterie/base/load_rows.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

using internal::filled;

void read_pairs(const std::string& path, Problem& problem, const Run& run) {
    ReadOptions options;
    options.words = WordColumns::categories;
    options.advises = false;
    const PointsFile table = read_points_file(path, options, run);
    const auto refuse = [&](Code code, std::string text, std::string remedy, Message place = {}) {
        place.option = "pairs";
        place.file = path == "-" ? "standard input" : path;
        throw BadData(code, std::move(text), std::move(remedy), std::move(place));
    };
    constexpr const char* form = "Write two row numbers, counted from 1, and must or cannot in each line";
    if (table.points.columns() != 3)
        refuse(Code::wrong_shape, counted(table.points.columns(), "column") + ", but 3 are needed", form);
    for (const std::size_t column : {0, 1})
        if (column < table.categories.size() && !table.categories[column].empty()) {
            const std::string& word = table.categories[column].front();
            refuse(Code::not_a_number, filled("'{}' is not a row number", word), form,
                   {.value = word, .column_number = static_cast<std::int64_t>(column) + 1});
        }
    if (table.categories.size() != 3 || table.categories[2].empty())
        refuse(Code::wrong_type, "the column has numbers, but must or cannot is needed", form, {.column_number = 3});
    const auto numbers = to_matrix<double>(load(table.points, "`pairs` " + path, run));
    std::vector<bool> must;
    for (const std::string& word : table.categories[2]) {
        if (word != "must" && word != "cannot") {
            Index first = 0;
            while (static_cast<std::size_t>(numbers(first, 2)) != must.size()) ++first;
            refuse(Code::not_accepted, filled("'{}' is not accepted", word), "Use must or cannot",
                   {.value = word, .accepted = "must or cannot", .row = first + 1, .column_number = 3});
        }
        must.push_back(word == "must");
    }
    const std::string accepted = filled("whole numbers from 1 to {}", problem.rows());
    for (Index i = 0; i < numbers.rows(); ++i) {
        RowPair pair;
        for (const auto& [column, row] : {std::pair(0, &pair.first), {1, &pair.second}}) {
            const double number = numbers(i, column);
            if (!(number >= 1 && number <= static_cast<double>(problem.rows()) && number == std::floor(number)))
                refuse(Code::out_of_range, to_text(number) + " is not the number of a row", "Use " + accepted,
                       {.value = to_text(number), .accepted = accepted, .row = i + 1, .column_number = column + 1});
            *row = static_cast<Index>(number) - 1;
        }
        (must[static_cast<std::size_t>(numbers(i, 2))] ? problem.must_links : problem.cannot_links).push_back(pair);
    }
}

}  // namespace coterie
