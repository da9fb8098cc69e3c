// Converts the texts that users write to ReadOptions. Lists are split at commas outside quotes, so every column name
// can be written. Separators have names, because a tab is hard to type.

#include "coterie/io/read_request.hpp"

#include <array>
#include <utility>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"

namespace coterie {
namespace {

using internal::filled;

std::vector<std::string> entries_of_list(const std::string& option, const std::string& list) {
    std::vector<std::string> out;
    if (list.empty()) return out;
    std::string entry;
    bool quoted = false, was_quoted = false;
    const auto end_entry = [&] {
        if (entry.empty() && !was_quoted)
            throw BadArgument(Code::not_accepted, filled("'{}' has an empty entry", list),
                              "Put one column between commas", {.option = option, .value = list});
        out.push_back(std::exchange(entry, {}));
        was_quoted = false;
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
        const char c = list[i];
        if (c == '"' && (quoted || entry.empty())) {
            if (quoted && i + 1 < list.size() && list[i + 1] == '"') {
                entry += c;
                ++i;
            } else {
                quoted = !quoted;
                was_quoted = true;
            }
        } else if (c == ',' && !quoted) {
            end_entry();
        } else {
            entry += c;
        }
    }
    if (quoted)
        throw BadArgument(Code::not_accepted, filled("'{}' opens a quote that never ends", list),
                          "Add the closing quote", {.option = option, .value = list});
    end_entry();
    return out;
}

char separator_named(const std::string& word) {
    static constexpr std::array<std::pair<std::string_view, char>, 9> names = {{{"auto", '\0'},
                                                                                {"comma", ','},
                                                                                {"semicolon", ';'},
                                                                                {"tab", '\t'},
                                                                                {"\\t", '\t'},
                                                                                {"pipe", '|'},
                                                                                {"blanks", ' '},
                                                                                {"blank", ' '},
                                                                                {"space", ' '}}};
    for (const auto& [name, separator] : names)
        if (word == name) return separator;
    const auto separates = [](char c) {
        return static_cast<unsigned char>(c) < 0x80 && c != '#' && c != '_' &&
               std::string_view("\"\n\r.+-0123456789").find(c) == std::string_view::npos && !(c >= 'a' && c <= 'z') &&
               !(c >= 'A' && c <= 'Z');
    };
    if (word.size() == 1 && separates(word.front())) return word.front();
    const std::string accepted =
        "one character such as , ; : or |, or one of comma, semicolon, tab, pipe, blanks and auto";
    throw BadArgument(Code::not_accepted, filled("'{}' is not accepted", word), "Use " + accepted,
                      {.option = "separator", .value = word, .accepted = accepted});
}

}  // namespace

const OptionSet& ReadRequest::described() {
    static const OptionSet set =
        OptionSetFor<ReadRequest>()
            .text("label_column", &ReadRequest::label_column,
                  "text files: the column with the true labels, by name or number from 1 (-1: the last); clustering "
                  "does not use it")
            .text("id_column", &ReadRequest::id_column,
                  "text files: the column with the names of the rows, which is written next to the labels; clustering "
                  "does not use it")
            .text("columns", &ReadRequest::columns,
                  "the columns to use: names, numbers and ranges such as 1-4,7, or numeric for all columns of numbers; "
                  "put a name with a comma in quotes; arrays accept only numbers and ranges")
            .text("exclude", &ReadRequest::exclude, "the columns to leave out, written as in `columns`")
            .choice("header", &ReadRequest::header, {"auto", "yes", "no"},
                    "text files: whether the first line is a header")
            .text("separator", &ReadRequest::separator,
                  "text files: what separates the fields: one character, or comma, semicolon, tab, pipe, blanks; auto: "
                  "found from the extension and the first lines")
            .choice("decimal", &ReadRequest::decimal, {"auto", "point", "comma"},
                    "text files: the decimal sign; auto: a comma if the first lines have numbers such as 1,5 and none "
                    "such as 1.5")
            .choice("precision", &ReadRequest::precision, {"auto", "float32", "float64"},
                    "the type of the numbers in computations; auto: chosen by the type in the file");
    return set;
}

ReadOptions ReadRequest::options() const {
    ReadOptions out;
    out.precision = precision;
    out.header = header;
    out.label_column = label_column;
    out.id_column = id_column;
    out.scratch_folder = scratch_folder;
    out.columns = entries_of_list("columns", columns);
    out.exclude = entries_of_list("exclude", exclude);
    out.separator = separator_named(separator);
    out.decimal = decimal;
    return out;
}

}  // namespace coterie
