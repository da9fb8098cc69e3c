// Every format becomes a list of entries with their places in the file. The list is sorted once by row and column,
// because the matrix needs this order. Duplicate pairs are then adjacent, so a message can name both places.

#include "coterie/io/graph_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/io/formats.hpp"

namespace coterie {
namespace formats {
namespace {

using internal::at;

// The library numbers points with 32 bits.
constexpr double kMostPoints = 2147483647;

struct Entry {
    Index row;
    Index column;
    double value;
    Index where;  // line or position, for messages
};

// What Entry::where counts.
enum class Place { line, row, entry };

// Sorts by row and column, and requires that no pair occurs twice.
void sort_entries(std::vector<Entry>& entries, std::string_view source, Place place) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.row != b.row ? a.row < b.row : a.column != b.column ? a.column < b.column : a.where < b.where;
    });
    for (std::size_t e = 1; e < entries.size(); ++e) {
        const Entry &before = entries[e - 1], &again = entries[e];
        if (again.row != before.row || again.column != before.column) continue;
        Message where{.file = std::string(source)};
        if (place != Place::entry) (place == Place::line ? where.line : where.row) = again.where;
        throw BadData(Code::duplicate,
                      place == Place::entry ? filled("entry {} repeats the pair of entry {}", again.where, before.where)
                      : place == Place::line ? filled("the pair of line {} is given again", before.where)
                                             : filled("the pair of `row={}` is given again", before.where),
                      "Give each pair once", std::move(where));
    }
}

SparseMatrix matrix_of(std::vector<Entry>& entries, Index n, std::string_view source, Place place) {
    // If the number of rows is wrong, it must not allocate memory for that many points.
    if (static_cast<double>(n) > 1e6 + 100 * static_cast<double>(entries.size()))
        refuse_file(source, Code::limit_exceeded, filled("{} rows for {} entries", n, entries.size()),
                    "Above a million rows, give at least one entry per 100 rows");
    require_memory(
        static_cast<double>(n) * sizeof(Index) + static_cast<double>(entries.size()) * (sizeof(double) + sizeof(Index)),
        "the graph");
    sort_entries(entries, source, place);
    eigen::SparseMatrix out(n, n);
    out.reserve(static_cast<Index>(entries.size()));
    std::size_t e = 0;
    for (Index i = 0; i < n; ++i) {
        out.startVec(i);
        for (; e < entries.size() && entries[e].row == i; ++e) out.insertBack(i, entries[e].column) = entries[e].value;
    }
    out.finalize();
    return out;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> out;
    while (!(line = trimmed(line)).empty()) {
        out.push_back(line.substr(0, line.find_first_of(" \t\r")));
        line.remove_prefix(out.back().size());
    }
    return out;
}

// Requires a whole number from low to high. `at`: the place of the number, for the message.
Index whole(double value, double low, double high, std::string_view what, std::string_view shown, const Message& at) {
    if (value >= low && value <= high && value == std::floor(value)) return static_cast<Index>(value);
    const auto least = static_cast<std::int64_t>(low);
    Message place = at;
    place.value = shown;
    place.accepted = high >= kMostPoints
                         ? filled("a whole number of at least {}", least)
                         : filled("a whole number from {} to {}", least, static_cast<std::int64_t>(high));
    const std::string remedy = "Use " + place.accepted;
    throw BadData(Code::out_of_range, filled("{} '{}' is not accepted", what, shown), remedy, std::move(place));
}

double finite(std::string_view word, std::string_view what, const Message& at) {
    double value = 0;
    bool overflow = false;
    if (parse_field(word, value, overflow)) return value;
    Message place = at;
    place.value = shown(word);
    place.accepted = "a finite number";
    throw BadData(Code::not_a_number, filled("{} '{}' is not a finite number", what, shown(word)), "",
                  std::move(place));
}

struct Coordinates {
    Index rows = -1;
    Index columns = 0;
    std::vector<Entry> entries;
};

// `square`: required for affinities.
Coordinates coordinates_of(const Bytes& bytes, std::string_view source, bool square) {
    const std::string_view text(bytes.text(), bytes.size());
    std::string_view line;
    std::size_t position = 0;
    Message place{.file = std::string(source), .line = 0};
    const auto next_line = [&] {
        if (position >= text.size()) return false;
        const std::size_t end = std::min(text.find('\n', position), text.size());
        line = text.substr(position, end - position);
        position = end + 1;
        ++*place.line;
        return true;
    };
    const auto refuse = [&](Code code, std::string problem, std::string remedy = {}) {
        throw BadData(code, std::move(problem), std::move(remedy), place);
    };
    const std::string first = next_line() ? lower_case(line) : "";
    const auto header = words_of(first);
    if (header.size() != 5 || header[0] != "%%matrixmarket" || header[1] != "matrix")
        refuse_file(source, Code::malformed, "the file is not a Matrix Market file",
                    "Begin it with the line '%%MatrixMarket matrix coordinate real general'");
    if (header[2] != "coordinate" || (header[3] != "real" && header[3] != "integer" && header[3] != "pattern") ||
        (header[4] != "general" && header[4] != "symmetric"))
        refuse(Code::unsupported_format,
               filled("'{}' is not supported", shown(filled("{} {} {}", header[2], header[3], header[4]))),
               "Use coordinate, then real, integer or pattern, then general or symmetric");
    const bool pattern = header[3] == "pattern";
    const bool symmetric = header[4] == "symmetric";

    Coordinates out;
    Index announced = 0, given = 0;
    while (next_line()) {
        const auto words = words_of(line);
        if (words.empty() || line.starts_with('%')) continue;
        const bool sizes = out.rows < 0;
        if (words.size() != (pattern && !sizes ? 2U : 3U))
            refuse(Code::malformed, "the line has " + counted(static_cast<Index>(words.size()), "field"),
                   sizes     ? "Give three numbers: rows, columns, entries"
                   : pattern ? "Give row and column"
                             : "Give row, column and value");
        const auto number = [&](std::size_t word, double low, double high, std::string_view what) {
            return whole(finite(words[word], what, place), low, high, what, shown(words[word]), place);
        };
        if (sizes) {
            const Index rows = number(0, 1, kMostPoints, "the number of rows");
            out.columns = number(1, 1, kMostPoints, "the number of columns");
            if (rows != out.columns && (square || symmetric))
                refuse(Code::wrong_shape,
                       filled("the matrix is {} x {}, but {}", rows, out.columns,
                              square ? "affinities need a square matrix" : "a symmetric matrix is square"));
            announced = number(2, 0, 9e15, "the number of entries");
            out.rows = rows;
            continue;
        }
        if (++given > announced)
            refuse(Code::malformed, filled("there are more entries than the {} announced", announced));
        const Entry entry{number(0, 1, static_cast<double>(out.rows), "row number") - 1,
                          number(1, 1, static_cast<double>(out.columns), "column number") - 1,
                          pattern ? 1.0 : finite(words[2], "value", place), *place.line};
        if (symmetric && entry.column > entry.row)
            refuse(Code::malformed, "the entry is above the diagonal",
                   "Give only the lower triangle of a symmetric matrix");
        out.entries.push_back(entry);
        if (symmetric && entry.column != entry.row)
            out.entries.push_back({entry.column, entry.row, entry.value, entry.where});
    }
    if (out.rows < 0)
        refuse_file(source, Code::malformed,
                    "the file ends before the line with the numbers of rows, columns and entries");
    if (given != announced)
        refuse_file(source, Code::malformed, filled("the file ends after {} of {} entries", given, announced));
    return out;
}

}  // namespace

SparseMatrix parse_matrix_market(const Bytes& bytes, std::string_view source) {
    Coordinates read = coordinates_of(bytes, source, true);
    return matrix_of(read.entries, read.rows, source, Place::line);
}

Points parse_sparse_matrix_market(const Bytes& bytes, Precision precision, Index max_rows, std::string_view source) {
    Coordinates read = coordinates_of(bytes, source, false);
    sort_entries(read.entries, source, Place::line);
    // If the number of rows is wrong, it must not allocate memory for that many rows.
    require_memory(static_cast<double>(read.rows) * sizeof(std::int64_t) +
                       static_cast<double>(read.entries.size()) * (sizeof(double) + sizeof(std::int64_t)),
                   "the sparse matrix");
    const auto points = [&]<class Scalar>(Scalar) {
        struct Arrays {
            std::vector<std::int64_t> starts, columns;
            std::vector<Scalar> values;
        };
        const auto arrays = std::make_shared<Arrays>();
        arrays->starts.assign(at(read.rows) + 1, 0);
        for (const Entry& entry : read.entries) {
            ++arrays->starts[at(entry.row) + 1];
            arrays->columns.push_back(entry.column);
            arrays->values.push_back(static_cast<Scalar>(entry.value));
        }
        std::partial_sum(arrays->starts.begin(), arrays->starts.end(), arrays->starts.begin());
        const SparsePoints all(read.rows, read.columns, std::span<const std::int64_t>(arrays->starts),
                               std::span<const std::int64_t>(arrays->columns), std::span<const Scalar>(arrays->values),
                               arrays);
        return Points(std::make_shared<const SparsePoints>(
            all.slice(0, max_rows >= 0 ? std::min(max_rows, read.rows) : read.rows)));
    };
    return precision == Precision::float32 ? points(float()) : points(double());
}

std::string sparse_format(const Array& format) {
    std::string word(reinterpret_cast<const char*>(format.data.data()), format.data.size());
    if (format.element == Element::text32) {  // UTF-32 text: every fourth byte is a letter
        std::string narrow;
        for (std::size_t i = 0; i < word.size(); i += 4) narrow += word[format.swapped ? i + 3 : i];
        word = narrow;
    }
    word.erase(word.find_last_not_of('\0') + 1);
    return is_text(format.element) ? word : "";
}

SparseMatrix parse_sparse_npz(const Bytes& bytes, std::string_view source) {
    const auto array = [&](const char* key) { return parse_npz(bytes, key, Purpose::points, std::string(source)); };
    const auto numbers = [&](const char* key) {
        const Array found = array(key);
        if (found.shape == std::vector<std::int64_t>{0}) return std::vector<double>();  // no entries
        return to_numbers(found, found.source);
    };
    const std::string word = sparse_format(array("format"));
    if (word != "csr" && word != "csc" && word != "coo")
        refuse_file(source, Code::unsupported_format, filled("the sparse format '{}' is not supported", shown(word)),
                    "Convert the matrix with SciPy's tocsr()");
    const std::vector<double> shape = numbers("shape");
    if (shape.size() != 2 || shape[0] != shape[1])
        refuse_file(source, Code::wrong_shape, "the matrix is not square, but affinities need a square matrix");
    const Message place{.file = std::string(source)};
    const Index n = whole(shape[0], 1, kMostPoints, "the number of rows", to_text(OptionValue(shape[0])), place);
    const std::vector<double> values = numbers("data");
    const auto wrong_length = [&](const char* key, std::size_t have, std::size_t needed) {
        refuse_file(source, Code::malformed, filled("array '{}' has {} numbers, but {} are needed", key, have, needed));
    };
    const auto index = [&](const std::vector<double>& from, std::size_t e, const char* key) {
        return whole(from[e], 0, static_cast<double>(n - 1), filled("array '{}', entry {}:", key, e + 1),
                     to_text(OptionValue(from[e])), place);
    };
    std::vector<Entry> entries;
    require_memory(static_cast<double>(values.size()) * sizeof(Entry), "the graph");
    entries.reserve(values.size());
    if (word == "coo") {
        const std::vector<double> rows = numbers("row");
        const std::vector<double> columns = numbers("col");
        if (rows.size() != values.size()) wrong_length("row", rows.size(), values.size());
        if (columns.size() != values.size()) wrong_length("col", columns.size(), values.size());
        for (std::size_t e = 0; e < values.size(); ++e)
            entries.push_back({index(rows, e, "row"), index(columns, e, "col"), values[e], static_cast<Index>(e) + 1});
    } else {
        const std::vector<double> starts = numbers("indptr");
        const std::vector<double> indices = numbers("indices");
        if (starts.size() != at(n) + 1) wrong_length("indptr", starts.size(), at(n) + 1);
        if (indices.size() != values.size()) wrong_length("indices", indices.size(), values.size());
        if (starts.front() != 0 || starts.back() != static_cast<double>(values.size()))
            refuse_file(source, Code::malformed,
                        "array 'indptr' does not begin with 0 and end with " + std::to_string(values.size()) +
                            ", the number of entries");
        // Checks all starts before use: they begin with 0, end with the number of entries and ascend, so each is a
        // valid position.
        for (Index i = 0; i < n; ++i)
            if (!(starts[at(i)] <= starts[at(i) + 1]) || starts[at(i)] != std::floor(starts[at(i)]))
                refuse_file(
                    source, Code::malformed,
                    filled("array 'indptr', entry {} is less than the one before it or not a whole number", i + 2));
        for (Index i = 0; i < n; ++i) {
            for (auto e = static_cast<std::size_t>(starts[at(i)]); e < static_cast<std::size_t>(starts[at(i) + 1]);
                 ++e) {
                const Index other = index(indices, e, "indices");
                entries.push_back(
                    {word == "csr" ? i : other, word == "csr" ? other : i, values[e], static_cast<Index>(e) + 1});
            }
        }
    }
    return matrix_of(entries, n, source, Place::entry);
}

SparseMatrix graph_of_edges(PointsView table, std::string_view source) {
    if (table.columns() != 3)
        refuse_file(source, Code::wrong_shape,
                    filled("the table has {}, but a list of edges has three: two row numbers and a weight",
                           counted(table.columns(), "column")));
    require_memory(static_cast<double>(table.rows()) * (2 * sizeof(Entry) + 2 * sizeof(Index)), "the graph");
    Index n = 0;
    std::vector<Entry> entries;
    entries.reserve(2 * at(table.rows()));
    for (Index e = 0; e < table.rows(); ++e) {
        const auto point = [&](Index column) {
            return whole(table.at(e, column), 0, kMostPoints - 1, "row number",
                         to_text(OptionValue(table.at(e, column))),
                         {.file = std::string(source), .row = e + 1, .column_number = column + 1});
        };
        const Index a = point(0);
        const Index b = point(1);
        n = std::max({n, a + 1, b + 1});
        entries.push_back({a, b, table.at(e, 2), e + 1});
    }
    if (n == 0)
        refuse_file(source, Code::empty, "the list of edges is empty",
                    "Give at least one edge: two row numbers and a weight");
    // Adds the other direction of pairs that are given once.
    const std::size_t given = entries.size();
    std::vector<std::pair<Index, Index>> pairs;
    for (const Entry& entry : entries) pairs.emplace_back(entry.row, entry.column);
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t e = 0; e < given; ++e) {
        const Entry entry = entries[e];
        if (entry.row != entry.column &&
            !std::binary_search(pairs.begin(), pairs.end(), std::pair{entry.column, entry.row}))
            entries.push_back({entry.column, entry.row, entry.value, entry.where});
    }
    return matrix_of(entries, n, source, Place::row);
}

}  // namespace formats

namespace {

using formats::Format;

// The format of a file that may hold a graph.
std::optional<Format> graph_format(const std::string& path) {
    if (path == "-") return Format::text;
    const auto format = formats::format_of_name(formats::name_without_gz(path));
    for (const Format one : {Format::npz, Format::matrix_market, Format::csv, Format::tsv, Format::text})
        if (format == one) return format;
    return std::nullopt;
}

}  // namespace

bool is_graph(const std::string& path) {
    const auto format = path.starts_with("data:") ? std::nullopt : graph_format(path);
    if (format != Format::npz) return format == Format::matrix_market;
    try {
        formats::parse_npz(formats::read_bytes(path), "format", formats::Purpose::points, path);
        return true;
    } catch (const BadData&) {
        return false;  // reading it as points reports what is wrong with it
    }
}

bool is_edge_list(PointsView table, const std::string& path, std::string_view source) {
    if (table.columns() != 3 || !graph_format(path) || is_graph(path)) return false;
    if (table.rows() != 3) return true;
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < i; ++j)
            if (table.at(i, j) != table.at(j, i)) return true;
    try {
        formats::graph_of_edges(table, source);
    } catch (const BadData&) {
        return false;
    }
    formats::refuse_file(source, Code::wrong_shape,
                         "a table of 3 rows and 3 columns is either a matrix of affinities or a list of 3 edges",
                         "Give the matrix as .npy, or the edges as .mtx");
}

SparseMatrix read_graph(const std::string& path, const Run& run) try {
    run.throw_if_stopped_here("reading");
    const auto format = graph_format(path);
    if (format == Format::matrix_market) return formats::parse_matrix_market(formats::read_bytes_inflated(path), path);
    if (format == Format::npz) return formats::parse_sparse_npz(formats::read_bytes(path), path);
    if (!format)
        throw BadArgument(Code::unsupported_format, "coterie does not read graphs from files of this kind",
                          "Use .npz, .mtx, .csv, .tsv, .txt, .dat or .data", {.file = path});
    ReadOptions options;
    options.precision = Precision::float64;
    return formats::graph_of_edges(read_points_file(path, options, run).points, path);
} catch (Error& error) {
    error.amend([&](Message& message) {
        if (message.file.empty()) message.file = path;
    });
    throw;
}

}  // namespace coterie
