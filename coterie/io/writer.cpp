// Writes labels, tables and points to files, completely or not at all (output_file.hpp).

#include "coterie/io/writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "coterie/io/formats.hpp"
#include "coterie/io/internal/arrow_writer.hpp"
#include "coterie/io/internal/text_dialect.hpp"
#include "coterie/io/output_file.hpp"

namespace coterie {
namespace {

using internal::filled;

// Little-endian .npy, version 1. The header is padded so that the data start at a multiple of 64 bytes and can be
// mapped.
std::string npy_header(std::string_view descr, const std::string& shape) {
    std::string dict = filled("{'descr': '{}', 'fortran_order': False, 'shape': ({}), }", descr, shape);
    dict.resize((10 + dict.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
    dict += '\n';
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(dict.size() & 0xff);
    out += static_cast<char>(dict.size() >> 8);
    return out + dict;
}

// A csv field, quoted if it contains characters that would end it, starts or ends with a blank, or is empty.
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

// The number of rows must match the announced one, because the header is already written.
void take(Index& left, Index rows, std::string_view what) {
    left -= rows;
    if (left < 0) throw InternalError(filled("{}: more rows are written than there are", what));
}
void require_none(Index left, std::string_view what) {
    if (left > 0) throw InternalError(filled("{}: {} rows were not written", what, left));
}

// Ignores case.
bool ends_as(std::string_view path, std::string_view ending) { return formats::lower_case(path).ends_with(ending); }

// For digits that are not a 64-bit integer: whether they are a name, such as 007, or too many digits for a float.
bool is_name_in_digits(std::string_view word) {
    if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
    if (word.find_first_not_of("0123456789") != std::string_view::npos)
        return word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9';
    return word.size() > 15 || (word.size() > 1 && word.front() == '0');
}

}  // namespace

void io::internal::Delete::operator()(OutputFile* file) const { delete file; }
void io::internal::Delete::operator()(ArrowRows* rows) const { delete rows; }

LabelsWriter::LabelsWriter(const std::string& path, Index rows, std::vector<std::string> names, const TableRows* ids)
    : file_(new OutputFile(path)), names_(std::move(names)), left_(rows), text_(!ends_as(path, ".npy")) {
    if (text_ && ids != nullptr && ids->id_column() >= 0) {
        ids_ = ids->from_start();
        file_->write(csv_field(ids_->names()[static_cast<std::size_t>(ids_->id_column())]) + ",");
    }
    file_->write(text_ ? "label\n" : npy_header("<i4", std::to_string(rows) + ","));
}

void LabelsWriter::write(std::span<const std::int32_t> labels) {
    take(left_, static_cast<Index>(labels.size()), "write labels");
    if (!text_) return file_->write(labels.data(), labels.size() * sizeof(std::int32_t));
    std::string text;
    std::vector<std::string> fields;
    for (const std::int32_t label : labels) {
        text.clear();
        if (ids_ != nullptr) {
            if (!ids_->next(fields)) throw InternalError("write labels: there are more labels than rows");
            const auto id = static_cast<std::size_t>(ids_->id_column());
            text += csv_field(id < fields.size() ? fields[id] : "") + ",";
        }
        if (label < 0) {
            text += csv_field("");
        } else if (names_.empty()) {
            text += std::to_string(label);
        } else {
            if (static_cast<std::size_t>(label) >= names_.size())
                throw BadArgument(Code::out_of_range,
                                  filled("label {} has no name: there are only {}", label,
                                         counted(static_cast<Index>(names_.size()), "name")),
                                  "Give one name per label");
            text += csv_field(names_[static_cast<std::size_t>(label)]);
        }
        file_->write(text += '\n');
    }
}

void LabelsWriter::commit() {
    require_none(left_, "write labels");
    file_->commit();
}

bool is_arrow_name(const std::string& path) {
    return ends_as(path, ".arrow") || ends_as(path, ".feather") || ends_as(path, ".arrows");
}

std::vector<FieldType> field_types(const TableRows& rows) {
    constexpr std::int64_t largest_of_float = std::int64_t{1} << 53;
    const std::size_t columns = rows.names().size();
    std::vector<FieldType> out(columns, FieldType::whole);
    std::vector<bool> seen(columns, false);
    std::vector<bool> large(columns, false);  // has whole numbers that a float does not represent exactly
    for (std::size_t j = 0; j < columns; ++j)
        if (rows.holds_words(j)) out[j] = FieldType::words;
    const auto all = rows.from_start();
    std::vector<std::string> fields;
    while (all->next(fields))
        for (std::size_t j = 0; j < std::min(columns, fields.size()); ++j) {
            const std::string_view word = formats::trimmed(fields[j]);
            if (out[j] == FieldType::words || io::internal::is_missing_word(word)) continue;
            seen[j] = true;
            if (const auto whole = io::internal::whole_value(word))
                large[j] = large[j] || *whole > largest_of_float || *whole < -largest_of_float;
            else
                out[j] = io::internal::real_value(word, all->decimal()) && !is_name_in_digits(word) ? FieldType::number
                                                                                                    : FieldType::words;
        }
    for (std::size_t j = 0; j < columns; ++j) {
        if (!seen[j] && out[j] != FieldType::words) out[j] = FieldType::number;  // missing in every row: NaN as a float
        if (large[j] && out[j] == FieldType::number) out[j] = FieldType::words;
    }
    return out;
}

TableWriter::TableWriter(const std::string& path, const std::vector<std::string>& names,
                         const std::vector<FieldType>& types)
    : file_(new OutputFile(path)), columns_(names.size()) {
    if (!is_arrow_name(path)) {
        write(names);
        return;
    }
    if (types.size() != names.size())
        throw BadArgument(Code::wrong_shape,
                          filled("{} for {}", counted(static_cast<Index>(types.size()), "type"),
                                 counted(static_cast<Index>(names.size()), "column")),
                          "Give one type per column", {.file = path});
    arrow_.reset(new io::internal::ArrowRows(*file_, names, types, ends_as(path, ".arrows")));
}

void TableWriter::write(std::span<const std::string> fields) {
    if (fields.size() != columns_)
        throw InternalError(
            filled("write table: a row has {} fields, the table has {} columns", fields.size(), columns_));
    if (arrow_) return arrow_->write(fields);
    std::string text;
    for (std::size_t j = 0; j < fields.size(); ++j) {
        if (j > 0) text += ',';
        if (!fields[j].empty() || columns_ == 1) text += csv_field(fields[j]);
    }
    file_->write(text += '\n');
}

void TableWriter::commit() {
    if (arrow_) arrow_->finish();
    file_->commit();
}

PointsWriter::PointsWriter(const std::string& path, Index rows, Index columns, ScalarType scalar,
                           const std::vector<std::string>& column_names)
    : left_(rows), columns_(columns), scalar_(scalar), text_(!ends_as(path, ".npy")) {
    if (text_ && path != "-" && !ends_as(path, ".csv"))
        throw BadArgument(Code::unsupported_format, "rows cannot be written to a file with this ending",
                          "Use .npy or .csv, or - for csv on standard output", {.file = path});
    if (!column_names.empty() && static_cast<Index>(column_names.size()) != columns)
        throw BadArgument(Code::wrong_shape,
                          filled("{} for {}", counted(static_cast<Index>(column_names.size()), "column name"),
                                 counted(columns, "column")),
                          "Give one name per column", {.file = path});
    file_.reset(new OutputFile(path));
    if (!text_) {
        file_->write(npy_header(scalar == ScalarType::float32 ? "<f4" : "<f8", filled("{}, {}", rows, columns)));
        return;
    }
    std::string text;
    for (std::size_t j = 0; j < column_names.size(); ++j) (j > 0 ? text += ',' : text) += csv_field(column_names[j]);
    if (!column_names.empty()) file_->write(text += '\n');
}

void PointsWriter::write(PointsView points) {
    if (points.columns() != columns_ || points.scalar() != scalar_)
        throw InternalError(filled("write points: rows of {} columns of {} do not match the others", points.columns(),
                                   name(points.scalar())));
    take(left_, points.rows(), "write points");
    points.visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        if (!text_) {
            for (Index i = 0; i < rows.rows; ++i)
                file_->write(rows.row(i), static_cast<std::size_t>(rows.columns) * sizeof(Scalar));
            return;
        }
        std::string text;
        char number[32];
        for (Index i = 0; i < rows.rows; ++i) {
            text.clear();
            for (Index j = 0; j < rows.columns; ++j) {
                if (j > 0) text += ',';
                if (std::isnan(rows.row(i)[j])) {  // a row without a result becomes an empty field
                    if (rows.columns == 1) text += csv_field("");
                    continue;
                }
                // The shortest text that reads back as the same number.
                text.append(number, std::to_chars(number, number + sizeof number, rows.row(i)[j]).ptr);
            }
            file_->write(text += '\n');
        }
    });
}

void PointsWriter::commit() {
    require_none(left_, "write points");
    file_->commit();
}

void write_labels(const std::string& path, const Labels& labels, const std::vector<std::string>& names) {
    LabelsWriter writer(path, static_cast<Index>(labels.size()), names);
    writer.write(labels);
    writer.commit();
}

void write_points(const std::string& path, PointsView points, const std::vector<std::string>& column_names) {
    PointsWriter writer(path, points.rows(), points.columns(), points.scalar(), column_names);
    writer.write(points);
    writer.commit();
}

}  // namespace coterie
