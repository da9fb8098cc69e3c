#pragma once
// Points and labels from files. The format follows the extension:
//   .csv .tsv .txt .dat .data (text; may be .gz)   .arrow .feather .arrows (Arrow)   .npy   .npz
//   .idx, -idx1-ubyte, -idx3-ubyte (may be .gz)   .svm .libsvm (may be .gz)   .h5 .hdf5   .mat (MATLAB 5 to 7.3)
//   .safetensors   .mtx (Matrix Market, coordinate; may be .gz; sparse points)
// An array in a container is named after a colon: file.npz:key, file.h5:/group/dataset, file.mat:X, or
// file.mat:VIEWS{1} for a cell array. The name may be omitted if the file holds only one two-dimensional numeric array.
// An .npz from SciPy's save_npz (csr) is read as sparse points (base/sparse_points.hpp). The installed program
// coterie-read reads HDF5 and MATLAB files in a separate process. "-" is standard input (text, Arrow, gzip). A path
// with *, ? or [ that is not the name of a file means all matching files, read as one: .npy and idx files, or tables.
// Files of .npy and idx are read in blocks (io/row_files.hpp) if they take more than half of the available memory, or
// if several processes share the work. Text whose numbers need that much memory is converted once, to a temporary file
// that is read in blocks. Everything else is read completely. An array with one dimension is one column; dimensions
// after the second are flattened into the row. Empty lines are skipped in text with several columns. Every error names
// the file, the line or row, the column (counted from 1) and what is accepted. NaN and infinity are errors; in files
// that are read in blocks, the code that uses the rows finds them. In text, so are numbers whose squares overflow.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

enum class Precision {
    automatic,  // text, float64, int32, int64 -> float64; float16, float32, 8- and 16-bit integers -> float32
    float32,
    float64
};
enum class Header { automatic, yes, no };
enum class Decimal { automatic, point, comma };
/// What to do with columns that hold words.
enum class WordColumns { refuse, leave_out, categories };

struct ReadOptions {
    Precision precision = Precision::automatic;
    // automatic: the first line is a header if one of its words is above a number or is named in these options. It may
    // also be a header if it has the numbers 0, 1, 2, ... or years. Throws BadData if that remains unclear.
    Header header = Header::automatic;
    bool numeric_names = true;  // for `automatic`: whether a first line of numbers may be a header
    // 0: given by a first line "sep=;" or by the extension (.tsv: tab), else guessed from the first lines: , ; tab | or
    // blanks
    char separator = 0;
    Decimal decimal =
        Decimal::automatic;  // automatic: a comma if the first lines have numbers such as 1,5 and none such as 1.5
    /// This option and the next are for tables; arrays accept only `columns` and `exclude`, with numbers. A column is
    /// given by its name or its number from 1; -1 is the last column.
    std::string label_column;
    /// Columns to take as coordinates, in this order: names, numbers or ranges "2-5". "numeric" means all columns of
    /// numbers that no other option names. Empty: all columns except labels, ids and a first column without a name.
    std::vector<std::string> columns;
    std::vector<std::string> exclude;  // columns to leave out, written as in `columns`
    std::string id_column;             // column with row names: in PointsFile::rows, but not a coordinate
    /// For tables with names, if `columns` is empty: names of the columns to take, in this order. Throws BadData that
    /// lists missing columns. From a file without a header line, all columns are taken.
    std::vector<std::string> wanted_columns;
    /// Kind of each of wanted_columns (without a header line: of the columns); empty: detect the kinds from the file.
    std::vector<ColumnKind> wanted_kinds;
    bool missing = false;  // a missing value (an empty field, NA, NaN, null, ?, -) becomes NaN and is not an error
    WordColumns words = WordColumns::refuse;
    bool dates = false;      // columns of dates become numbers of days
    bool advises = true;     // the user can set the last three options, so errors name them
    bool keep_rows = false;  // fill PointsFile::rows
    Index max_rows = -1;     // read only the first rows; -1: all
    /// Folder for converted text whose numbers do not fit into memory; empty: the current folder.
    std::string scratch_folder;
};

/// Known labels (true or partial): a number per row, and the name of each number.
struct LabelColumn {
    Labels labels;                   // -1: blank
    std::vector<std::string> names;  // names[label]; numeric labels are ordered by value, words by first appearance
};

/// One of several files that are read as one.
struct FilePart {
    std::string file;
    Index rows = 0;
};

/// The rows of a table as text, as they are in its files, one file after another, including rows that a fit leaves out.
class COTERIE_API TableRows {
public:
    virtual ~TableRows() = default;
    /// Names of all columns, including those that are not coordinates; generated if the file has none.
    virtual const std::vector<std::string>& names() const = 0;
    /// Position of ReadOptions::id_column; -1: none.
    virtual std::ptrdiff_t id_column() const = 0;
    /// Whether the file declares that a column holds words, even if they look like numbers (Arrow).
    virtual bool holds_words(std::size_t column) const = 0;
    /// The decimal sign of numbers in the row that was read last, '.' or ','.
    virtual char decimal() const = 0;
    /// Reads the next row's fields; false after the last row.
    virtual bool next(std::vector<std::string>& fields) = 0;
    /// Another reader of the same rows, positioned before the first row.
    virtual std::unique_ptr<TableRows> from_start() const = 0;
};

struct PointsFile {
    Points points;
    std::vector<std::string> column_names;  // empty if the file has none
    std::vector<ColumnKind> kinds = {};     // of the columns; empty: numbers
    /// For each column, the names of its categories by number, or none. Empty: all columns are numbers.
    std::vector<std::vector<std::string>> categories = {};
    std::shared_ptr<const TableRows> rows = {};  // for tables, if requested
    std::optional<Message> reading = {};         // how the file was read, if that was guessed
    /// Set if label_column was given (an empty field is -1), or if a libsvm file contains labels.
    std::optional<LabelColumn> labels = {};
    std::string format = {};  // "csv", "npy", ...
    /// Notes for the caller: which array was taken, if not obvious; which columns or first row were not.
    std::vector<Message> notes = {};
    std::vector<FilePart> parts = {};  // if there are several files
};

COTERIE_API PointsFile read_points_file(const std::string& path, const ReadOptions& options = {},
                                        const Run& run = Run());

/// One label per row, from any format: the only column of a text file (or `column`), a vector of integers, an idx1
/// file, the targets of a libsvm file. Fields may be words. A blank (an empty field; in arrays -1 or NaN) becomes -1 if
/// `allow_blank` is set. Otherwise an empty field or NaN throws BadData, and -1 is an ordinary label. Without `column`,
/// a text file with several columns must have exactly one named "label".
///
/// A path with *, ? or [ means all matching files, one after another. If there are several such files and several files
/// in `points`, they must correspond: the same number of files, each with as many rows as its counterpart. Otherwise
/// throws BadData that names both files.
COTERIE_API LabelColumn read_labels_file(const std::string& path, const std::string& column = {},
                                         bool allow_blank = false, const std::vector<FilePart>& points = {});

/// One finite number per row (weights). From a text file: its only column, or `column` (a name or a number from 1).
/// Several files are read as in read_labels_file.
COTERIE_API std::vector<double> read_numbers(const std::string& path, const std::string& column = {},
                                             const std::vector<FilePart>& points = {});

/// Writes int32 .npy or text with the header line `label`, by extension; "-" writes text to standard output. In text,
/// `names` (if not empty) replace the numbers, and -1 becomes an empty field "". All writers use OutputFile.
COTERIE_API void write_labels(const std::string& path, const Labels& labels,
                              const std::vector<std::string>& names = {});

/// Writes .npy (same scalar type) or .csv, by extension.
COTERIE_API void write_points(const std::string& path, PointsView points,
                              const std::vector<std::string>& column_names = {});

}  // namespace coterie
