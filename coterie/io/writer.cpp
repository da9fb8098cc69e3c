// Labels and points to files, whole or not at all (output_file.hpp). Text goes out 64 KiB at a time, so that a table is
// never in memory as text.

#include <charconv>
#include <cmath>

#include "coterie/io/internal/formats.hpp"
#include "coterie/io/internal/output_file.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {
namespace {

// Little-endian .npy of version 1; the header is padded so that the data begin at a multiple of 64 bytes and can be
// mapped.
std::string npy_header(std::string_view descr, const std::string& shape) {
    std::string dict = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    dict.resize((10 + dict.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    dict += '\n';
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(dict.size() & 0xff);
    out += static_cast<char>(dict.size() >> 8);
    return out + dict;
}

// A field as csv wants it: in quotes when it holds what would end it, or what would read as nothing.
std::string csv_field(const std::string& word) {
    if (!word.empty() && word.find_first_of(",;\t\"\r\n") == std::string::npos && word.front() != ' ' &&
        word.back() != ' ')
        return word;
    std::string out = "\"";
    for (const char c : word) {
        out += c;
        if (c == '"') out += c;
    }
    return out + '"';
}

}  // namespace

void write_labels(const std::string& path, const Labels& labels, const std::vector<std::string>& names) {
    OutputFile file(path);
    if (path.ends_with(".npy")) {
        file.write(npy_header("<i4", std::to_string(labels.size()) + ","));
        file.write(labels.data(), labels.size() * sizeof(std::int32_t));
        file.commit();
        return;
    }
    std::string text = "label\n";
    for (const std::int32_t label : labels) {
        if (names.empty()) {
            text += std::to_string(label);
        } else if (label < 0) {
            text += csv_field("");
        } else {
            if (static_cast<std::size_t>(label) >= names.size())
                throw BadArgument("write labels: label " + std::to_string(label) + " has no name; there are " +
                                  std::to_string(names.size()));
            text += csv_field(names[static_cast<std::size_t>(label)]);
        }
        text += '\n';
        if (text.size() > (std::size_t{1} << 16)) {
            file.write(text);
            text.clear();
        }
    }
    file.write(text);
    file.commit();
}

void write_points(const std::string& path, PointsView points, const std::vector<std::string>& column_names) {
    const bool npy = path.ends_with(".npy");
    if (!npy && path != "-" && !path.ends_with(".csv"))
        throw BadArgument(path + ": points are written to .npy or .csv files, or - for csv on standard output");
    if (!column_names.empty() && static_cast<Index>(column_names.size()) != points.columns())
        throw BadArgument("write points: " + std::to_string(column_names.size()) + " column names for " +
                          std::to_string(points.columns()) + " columns");
    OutputFile file(path);
    points.visit([&](auto rows) {
        using Scalar = std::remove_cvref_t<decltype(*rows.data)>;
        if (npy) {
            file.write(npy_header(sizeof(Scalar) == 4 ? "<f4" : "<f8",
                                  std::to_string(rows.rows) + ", " + std::to_string(rows.columns)));
            for (Index i = 0; i < rows.rows; ++i)
                file.write(rows.row(i), static_cast<std::size_t>(rows.columns) * sizeof(Scalar));
            return;
        }
        std::string text;
        for (std::size_t j = 0; j < column_names.size(); ++j)
            (j > 0 ? text += ',' : text) += csv_field(column_names[j]);
        if (!column_names.empty()) text += '\n';
        char number[32];
        for (Index i = 0; i < rows.rows; ++i) {
            for (Index j = 0; j < rows.columns; ++j) {
                if (j > 0) text += ',';
                // The shortest text that reads back as the same number.
                text.append(number, std::to_chars(number, number + sizeof number, rows.row(i)[j]).ptr);
            }
            text += '\n';
            if (text.size() > (std::size_t{1} << 16)) {
                file.write(text);
                text.clear();
            }
        }
        file.write(text);
    });
    file.commit();
}

}  // namespace coterie
