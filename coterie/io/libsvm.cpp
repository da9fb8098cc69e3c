// libsvm's sparse text: "target index:value index:value ...", with ascending indices from 1. The result is dense.
// Several threads parse the text twice, in pieces of whole lines: first for the number of rows and the largest index,
// then into the matrix. This needs no memory for a list of all numbers.

#include <algorithm>
#include <charconv>
#include <cstring>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Parser {
public:
    Parser(std::string_view text, std::string_view source) : text_(text), source_(source) {}

    // Calls row(target) and value(index from 0, number) for every line in [begin, end).
    template <class Scalar, class OnRow, class OnValue>
    void parse(std::size_t begin, std::size_t end, OnRow&& on_row, OnValue&& on_value) const {
        const char* p = text_.data() + begin;
        const char* const stop = text_.data() + end;
        while (p < stop) {
            const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(stop - p));
            const char* const line_end = newline ? static_cast<const char*>(newline) : stop;
            const void* comment = std::memchr(p, '#', static_cast<std::size_t>(line_end - p));
            line<Scalar>(p, comment ? static_cast<const char*>(comment) : line_end, on_row, on_value);
            p = newline ? line_end + 1 : stop;
        }
    }

private:
    template <class Scalar, class OnRow, class OnValue>
    void line(const char* p, const char* end, OnRow& on_row, OnValue& on_value) const {
        const auto token = [&] {
            while (p < end && is_blank(*p)) ++p;
            const char* start = p;
            while (p < end && !is_blank(*p)) ++p;
            return std::string_view(start, static_cast<std::size_t>(p - start));
        };
        const std::string_view target = token();
        if (target.empty()) return;
        if (target.find(':') != std::string_view::npos)
            refuse(target, Code::malformed, filled("the line begins with '{}', but a label comes first", shown(target)),
                   "Write the label, then the index:value pairs");
        on_row(target);
        std::int64_t last = 0;
        for (std::string_view word = token(); !word.empty(); word = token()) {
            const std::size_t colon = word.find(':');
            if (word.starts_with("qid:")) continue;  // part of ranking data: not a coordinate
            std::int64_t index = 0;
            const auto result = std::from_chars(word.data(), word.data() + std::min(colon, word.size()), index);
            if (colon == std::string_view::npos || result.ec != std::errc() || result.ptr != word.data() + colon)
                refuse(word, Code::malformed, filled("'{}' is not an index:value pair", shown(word)));
            if (index < 1 || index > 2147483647)
                refuse(word, Code::out_of_range, filled("index {} is not accepted", index),
                       "Use indices from 1 to 2147483647");
            if (index <= last)
                refuse(word, Code::malformed, filled("index {} follows {}", index, last),
                       "Write the indices of a line in ascending order, each once");
            last = index;
            Scalar value = 0;
            bool overflow = false;
            const std::string_view number = word.substr(colon + 1);
            if (!parse_field(number, value, overflow))
                refuse(word, overflow ? Code::too_large : Code::not_a_number,
                       filled("'{}' is {}", shown(number),
                              overflow ? filled("too large for {}", coterie::name(scalar_type_of<Scalar>()))
                                       : "not a number"),
                       {}, index);
            on_value(index - 1, value);
        }
    }
    [[noreturn]] void refuse(std::string_view at, Code code, std::string problem, std::string remedy = {},
                             std::optional<std::int64_t> column = {}) const {
        throw BadData(code, std::move(problem), std::move(remedy),
                      {.value = shown(at),
                       .file = std::string(source_),
                       .line = line_at(text_, static_cast<std::size_t>(at.data() - text_.data())),
                       .column_number = column});
    }

    std::string_view text_;
    std::string_view source_;
};

template <class Scalar>
Points parse_dense(std::string_view text, std::string_view source, int threads,
                   std::vector<std::string_view>& targets) {
    const Parser parser(text, source);
    const std::vector<std::size_t> borders = line_pieces(text, std::size_t{1} << 20);
    const auto pieces = static_cast<Index>(borders.size()) - 1;
    std::vector<std::vector<std::string_view>> found(static_cast<std::size_t>(pieces));
    std::vector<std::int64_t> widest(static_cast<std::size_t>(pieces), 0);
    for_each_block(pieces, threads, [&](Index piece, int) {
        const auto at = static_cast<std::size_t>(piece);
        parser.parse<Scalar>(
            borders[at], borders[at + 1], [&](std::string_view target) { found[at].push_back(target); },
            [&](std::int64_t index, Scalar) { widest[at] = std::max(widest[at], index + 1); });
    });
    std::vector<std::size_t> starts{0};
    for (const auto& part : found) {
        targets.insert(targets.end(), part.begin(), part.end());
        starts.push_back(targets.size());
    }
    const std::int64_t columns = pieces > 0 ? *std::max_element(widest.begin(), widest.end()) : 0;
    if (targets.empty()) refuse_file(source, Code::empty, "the file has no rows");
    if (columns == 0) refuse_file(source, Code::empty, "the file has no index:value pair, so there are no columns");
    require_memory(static_cast<double>(targets.size()) * static_cast<double>(columns) * sizeof(Scalar),
                   filled("the dense matrix of {} x {}", targets.size(), columns));
    Matrix<Scalar> matrix(static_cast<Index>(targets.size()), static_cast<Index>(columns));
    for_each_block(pieces, threads, [&](Index piece, int) {
        const auto at = static_cast<std::size_t>(piece);
        Scalar* row = matrix.data() + static_cast<std::ptrdiff_t>(starts[at]) * columns - columns;
        parser.parse<Scalar>(
            borders[at], borders[at + 1],
            [&](std::string_view) {
                row += columns;
                std::fill_n(row, columns, Scalar(0));
            },
            [&](std::int64_t index, Scalar value) { row[index] = value; });
    });
    return Points(std::move(matrix));
}

}  // namespace

PointsFile parse_libsvm(const Bytes& bytes, std::string_view source, Precision precision, Index max_rows, int threads) {
    std::string_view text(bytes.text(), bytes.size());
    if (max_rows >= 0) {
        std::size_t end = 0;
        for (Index taken = 0; taken < max_rows && end < text.size();) {
            const std::size_t begin = end;
            end = std::min(text.find('\n', begin), text.size() - 1) + 1;
            const std::string_view row = trimmed(text.substr(begin, end - begin - (text[end - 1] == '\n' ? 1 : 0)));
            taken += row.empty() || row.front() == '#' ? 0 : 1;
        }
        text = text.substr(0, end);
    }
    std::vector<std::string_view> targets;
    PointsFile out;
    out.points = precision == Precision::float32 ? parse_dense<float>(text, source, threads, targets)
                                                 : parse_dense<double>(text, source, threads, targets);
    out.labels = labels_of_words(targets);
    return out;
}

}  // namespace coterie::formats
