#pragma once
// Labels and points to files, piece by piece: what is written need not fit into memory. A file is there whole after
// commit(), or not at all.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

class ArrowRows;
class OutputFile;

/// Text with the header line `label`, or int32 .npy by extension; "-" writes text to standard output.
class COTERIE_API LabelsWriter {
public:
    /// For `rows` labels. `names` (if not empty) are written instead of numbers in text, and -1 as an empty field "".
    /// `ids`: the rows whose id column stands before the labels in text, from the first on.
    LabelsWriter(const std::string& path, Index rows, std::vector<std::string> names = {},
                 const TableRows* ids = nullptr);
    LabelsWriter(LabelsWriter&&) noexcept;
    LabelsWriter& operator=(LabelsWriter&&) noexcept;
    ~LabelsWriter();

    /// The next labels. BadArgument where one has no name.
    void write(std::span<const std::int32_t> labels);
    void commit();

private:
    std::unique_ptr<OutputFile> file_;
    std::vector<std::string> names_;
    std::unique_ptr<TableRows> ids_;
    Index left_ = 0;
    bool text_ = true;
};

/// What a column of a table holds; where a file has types of its own, 64-bit integers, 64-bit floats, or UTF-8 text.
enum class FieldType { whole, number, words };
/// The type of each column by all its fields: missing values (an empty field, NA, NaN, null, ?, -) are of any; words
/// where the file says so or there is no value, and where numbers would not come back (007, more digits than they
/// keep).
COTERIE_API std::vector<FieldType> field_types(const TableRows& rows);
/// The endings of the names of files that a TableWriter writes as Arrow: .arrow and .feather as a file, .arrows as a
/// stream.
COTERIE_API bool is_arrow_name(const std::string& path);

/// A row of a table after another: as Arrow by the ending of the name, else csv; "-" writes csv to standard output.
class COTERIE_API TableWriter {
public:
    /// `types`: of the columns, which Arrow needs; BadArgument where they are not one per name.
    TableWriter(const std::string& path, const std::vector<std::string>& names,
                const std::vector<FieldType>& types = {});
    TableWriter(TableWriter&&) noexcept;
    TableWriter& operator=(TableWriter&&) noexcept;
    ~TableWriter();

    /// In csv fields stand as they are. In Arrow missing numbers and empty words are null; BadData on a field that is
    /// not of its column's type.
    void write(std::span<const std::string> fields);
    void commit();

private:
    std::unique_ptr<OutputFile> file_;
    std::unique_ptr<ArrowRows> arrow_;
    std::size_t columns_ = 0;
};

/// .npy or .csv by extension; "-" writes csv to standard output.
class COTERIE_API PointsWriter {
public:
    /// For `rows` rows of `columns` numbers of one type. BadArgument on another extension, or names that are not one
    /// per column.
    PointsWriter(const std::string& path, Index rows, Index columns, ScalarType scalar,
                 const std::vector<std::string>& column_names = {});
    PointsWriter(PointsWriter&&) noexcept;
    PointsWriter& operator=(PointsWriter&&) noexcept;
    ~PointsWriter();

    /// The next rows, resident.
    void write(PointsView rows);
    void commit();

private:
    std::unique_ptr<OutputFile> file_;
    Index left_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
    bool text_ = true;
};

}  // namespace coterie
