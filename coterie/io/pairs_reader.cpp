// Reads pairs as a table with two columns of numbers and one of words, which the reader codes as categories.

#include "coterie/io/pairs_reader.hpp"

#include <cmath>

#include "coterie/base/load_rows.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

void read_pairs(const std::string& path, Problem& problem, const Run& run) {
    ReadOptions options;
    options.words = WordColumns::categories;
    options.advises = false;
    const PointsFile table = read_points_file(path, options, run);
    const auto refuse = [&](Message message) {
        message.option = "pairs";
        message.file = path == "-" ? "standard input" : path;
        throw BadData(std::move(message));
    };
    constexpr const char* form = "Write two row numbers, counted from 1, and must or cannot in each line";
    if (table.points.columns() != 3)
        refuse({.code = Code::wrong_shape,
                .problem = counted(table.points.columns(), "column") + ", but 3 are needed",
                .remedy = form});
    for (const std::size_t column : {0, 1})
        if (column < table.categories.size() && !table.categories[column].empty())
            refuse({.code = Code::not_a_number,
                    .problem = internal::filled("'{}' is not a row number", table.categories[column].front()),
                    .remedy = form,
                    .value = table.categories[column].front(),
                    .column_number = static_cast<std::int64_t>(column) + 1});
    if (table.categories.size() != 3 || table.categories[2].empty())
        refuse({.code = Code::wrong_type,
                .problem = "the column has numbers, but must or cannot is needed",
                .remedy = form,
                .column_number = 3});
    const auto numbers = to_matrix<double>(load(table.points, "`pairs` " + path, run));
    std::vector<bool> must;
    for (const std::string& word : table.categories[2]) {
        if (word != "must" && word != "cannot") {
            Index first = 0;
            while (static_cast<std::size_t>(numbers(first, 2)) != must.size()) ++first;
            refuse({.code = Code::not_accepted,
                    .problem = internal::filled("'{}' is not accepted", word),
                    .remedy = "Use must or cannot",
                    .value = word,
                    .accepted = "must or cannot",
                    .row = first + 1,
                    .column_number = 3});
        }
        must.push_back(word == "must");
    }
    for (Index i = 0; i < numbers.rows(); ++i) {
        RowPair pair;
        for (const auto& [column, row] : {std::pair(0, &pair.first), {1, &pair.second}}) {
            const double number = numbers(i, column);
            if (!(number >= 1 && number <= static_cast<double>(problem.rows()) && number == std::floor(number)))
                refuse({.code = Code::out_of_range,
                        .problem = to_text(number) + " is not the number of a row",
                        .remedy = internal::filled("Use whole numbers from 1 to {}", problem.rows()),
                        .value = to_text(number),
                        .accepted = internal::filled("whole numbers from 1 to {}", problem.rows()),
                        .row = i + 1,
                        .column_number = column + 1});
            *row = static_cast<Index>(number) - 1;
        }
        (must[static_cast<std::size_t>(numbers(i, 2))] ? problem.must_links : problem.cannot_links).push_back(pair);
    }
}

}  // namespace coterie
