#pragma once
// Writes labels, tables and points to files, piece by piece, so they need not fit into memory. The file appears
// complete with commit(), or not at all.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

class OutputFile;
namespace io::internal {
class ArrowRows;
struct COTERIE_API Delete {
    void operator()(OutputFile* file) const;
    void operator()(ArrowRows* rows) const;
};
}  // namespace io::internal

/// Writes int32 .npy or text with the header line `label`, by extension; "-" writes text to standard output.
class COTERIE_API LabelsWriter {
public:
    /// For `rows` labels. In text, `names` (if not empty) replace the numbers, and -1 becomes an empty field "". `ids`:
    /// rows whose id column is written before the labels (in text only), from the first row on.
    LabelsWriter(const std::string& path, Index rows, std::vector<std::string> names = {},
                 const TableRows* ids = nullptr);
    /// Writes the next labels. Throws BadArgument if one has no name.
    void write(std::span<const std::int32_t> labels);
    void commit();

private:
    std::unique_ptr<OutputFile, io::internal::Delete> file_;
    std::vector<std::string> names_;
    std::unique_ptr<TableRows> ids_;
    Index left_ = 0;
    bool text_ = true;
};

/// The type of a table column. Typed formats store 64-bit integers, 64-bit floats, or UTF-8 text.
enum class FieldType { whole, number, words };
/// Finds the type of each column from all its fields. Missing values (an empty field, NA, NaN, null, ?, -) fit any
/// type. The type is words if the file declares it, if a value is not a number, or if a number would not read back the
/// same (007, too many digits). The type of a column without values is number.
COTERIE_API std::vector<FieldType> field_types(const TableRows& rows);
/// Whether TableWriter writes a file with this name as Arrow: .arrow and .feather as a file, .arrows as a stream.
COTERIE_API bool is_arrow_name(const std::string& path);

/// Writes a table row by row, as Arrow if is_arrow_name(path), else as csv; "-" writes csv to standard output.
class COTERIE_API TableWriter {
public:
    /// `types`: one per column; Arrow needs them. Throws BadArgument if their number differs from the number of names.
    TableWriter(const std::string& path, const std::vector<std::string>& names,
                const std::vector<FieldType>& types = {});
    /// csv fields are written unchanged. In Arrow, missing numbers and empty words become null. Throws BadData if a
    /// field does not match its column's type.
    void write(std::span<const std::string> fields);
    void commit();

private:
    std::unique_ptr<OutputFile, io::internal::Delete> file_;
    std::unique_ptr<io::internal::ArrowRows, io::internal::Delete> arrow_;
    std::size_t columns_ = 0;
};

/// Writes .npy or .csv, by extension; "-" writes csv to standard output.
class COTERIE_API PointsWriter {
public:
    /// For `rows` rows of `columns` numbers of one type. Throws BadArgument for an unknown extension, or if the number
    /// of names differs from the number of columns.
    PointsWriter(const std::string& path, Index rows, Index columns, ScalarType scalar,
                 const std::vector<std::string>& column_names = {});
    /// Writes the next rows, which must be resident.
    void write(PointsView rows);
    void commit();

private:
    std::unique_ptr<OutputFile, io::internal::Delete> file_;
    Index left_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
    bool text_ = true;
};

}  // namespace coterie
