#pragma once
// Points and labels from files. The format follows the extension:
//   .csv .tsv .txt .dat .data (text; may be .gz)   .arrow .feather .arrows (Arrow)   .npy (memory-mapped)   .npz
//   .idx, -idx1-ubyte, -idx3-ubyte (may be .gz)   .svm .libsvm (may be .gz)   .h5 .hdf5   .mat (MATLAB 5) .safetensors
//   .mtx (Matrix Market, coordinate; may be .gz; sparse points)
// A container's array is named behind a colon: file.npz:key, file.h5:/group/dataset, file.mat:X, file.mat:VIEWS{1} of a
// cell array. With one two-dimensional numeric array inside, the name may be left out. An .npz of SciPy's save_npz
// (csr) is read as sparse points (base/sparse_points.hpp). HDF5 and MATLAB files are read by the installation's program
// coterie-read, in a process of its own. "-" is standard input (text, Arrow, gzip). A path with *, ? or [ that no file
// is called by means all files that match, one after the other as one: .npy and idx files, or text files. Files of .npy
// and idx that take more than half of the available memory, or any part of several processes' work, are left where they
// are and read in blocks (io/row_files.hpp); text whose numbers take as much is converted once, to a temporary file
// that is read in blocks. All else is read whole. Arrays of one dimension are one column; further dimensions are
// flattened into the row. Empty lines in text of several columns are skipped. Every error names file, row and column
// (counted from 1 as an editor shows them) and what is accepted. NaN and infinity are refused, in files that are read
// in blocks by who uses them; in text so are numbers whose squares overflow.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/checks.hpp"
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
/// What becomes of columns that hold words.
enum class WordColumns { refuse, leave_out, categories };

struct ReadOptions {
    Precision precision = Precision::automatic;
    // automatic: a first line of words, one of them over a number or named in these options; numbers too where they are
    // 0, 1, 2, ... or years. BadData where nobody can tell.
    Header header = Header::automatic;
    bool numeric_names = true;  // automatic: whether a first line may be one of numbers
    // 0: by a first line "sep=;", by extension (.tsv tab), else guessed from the first lines among , ; tab | blanks
    char separator = 0;
    Decimal decimal = Decimal::automatic;  // a comma where the first lines have such as 1,5 and none such as 1.5
    /// Tables only, but for `columns` and `exclude`, which arrays take as numbers. A column's name, or its number
    /// counted from 1; -1 is the last column.
    std::string label_column;
    /// Columns to take as coordinates, names or numbers or ranges "2-5", in this order; "numeric": all that hold
    /// numbers alone and are not named otherwise. Empty: all but those of labels and ids, and a first one without a
    /// name.
    std::vector<std::string> columns;
    std::vector<std::string> exclude;  // columns that are not taken, as `columns` names them
    std::string id_column;             // of the rows' names: PointsFile::rows has it, and it is no coordinate
    /// Tables with names, where `columns` is empty: the names of the columns to take, in this order; others
    /// are left out, and BadData names those that are missing. A file without a header line gives all its columns.
    std::vector<std::string> wanted_columns;
    /// What each of wanted_columns (without a header line: of the columns) is; empty: what the file shows.
    std::vector<ColumnKind> wanted_kinds;
    bool missing = false;  // a value that is missing (an empty field, NA, NaN, null, ?, -) is NaN, and not refused
    WordColumns words = WordColumns::refuse;
    bool dates = false;      // columns of dates are numbers of days
    bool advises = true;     // these three are for the user to choose: errors name their options
    bool keep_rows = false;  // give PointsFile::rows
    Index max_rows = -1;     // read only the first rows; -1: all
    /// Where text is converted to whose numbers do not fit into memory; empty: the current folder.
    std::string scratch_folder;
};

/// Truth or partial labels: number per row, and the word each number stands for.
struct LabelColumn {
    Labels labels;                   // -1: blank
    std::vector<std::string> names;  // names[label]; numeric labels are ordered by value, words by first appearance
};

/// One of several files that are read as one.
struct FilePart {
    std::string file;
    Index rows = 0;
};

/// The rows of a table as they stand in its files, one after the other, those that are left out of a fit too.
class COTERIE_API TableRows {
public:
    virtual ~TableRows() = default;
    /// Of all columns, those that are no coordinates too; made up where the file has none.
    virtual const std::vector<std::string>& names() const = 0;
    /// Where ReadOptions::id_column is; -1: there is none.
    virtual std::ptrdiff_t id_column() const = 0;
    /// Whether the file says that a column holds words, whatever they look like (Arrow).
    virtual bool holds_words(std::size_t column) const = 0;
    /// What separates the decimals of numbers in the row that was read last, '.' or ','.
    virtual char decimal() const = 0;
    /// The next row's fields; false behind the last.
    virtual bool next(std::vector<std::string>& fields) = 0;
    /// Another reader of the same rows, before the first.
    virtual std::unique_ptr<TableRows> from_start() const = 0;
};

struct PointsFile {
    Points points;
    std::vector<std::string> column_names;  // empty when the file has none
    std::vector<ColumnKind> kinds = {};     // of the columns; empty: numbers
    /// Of each column the words of its categories, in the order of their numbers; of numbers none. Empty: all are
    /// numbers.
    std::vector<std::vector<std::string>> categories = {};
    std::shared_ptr<const TableRows> rows = {};  // of text files, where they were asked for
    std::string reading = {};  // how the file was read where that was guessed; empty: as its name says
    /// When label_column was given (an empty field is -1), or a libsvm file carries them.
    std::optional<LabelColumn> labels = {};
    std::string format = {};  // "csv", "npy", ...
    /// What the caller should know: which array of a container was taken that holds several or no matrix, which columns
    /// or first row were taken for something else than points.
    std::vector<std::string> notes = {};
    std::vector<FilePart> parts = {};  // where they are several
};

COTERIE_API PointsFile read_points_file(const std::string& path, const ReadOptions& options = {},
                                        const Run& run = Run());

/// One label per row, from any of the formats: a text file's only column (or `column`), a vector of integers, an idx1
/// file, a libsvm file's targets. Fields may be words. Blank (an empty field; in arrays -1 or NaN) is -1 when
/// `allow_blank`; else an empty field or NaN is BadData and -1 a label like any other. Without `column`, a text file of
/// several columns must have one whose name is "label".
/// A path with *, ? or [ means all files that match, one after the other. Where they are several and so are the points'
/// files, `points`, there must be as many, each with as many rows as that of its place; BadData names the two.
COTERIE_API LabelColumn read_labels_file(const std::string& path, const std::string& column = {},
                                         bool allow_blank = false, const std::vector<FilePart>& points = {});

/// One finite number per row (weights), of a text file its only column or `column`, a name or a number from 1; of
/// several files as read_labels_file.
COTERIE_API std::vector<double> read_numbers(const std::string& path, const std::string& column = {},
                                             const std::vector<FilePart>& points = {});

/// Text with the header line `label`, or int32 .npy by extension; "-" writes text to standard output. `names` (if not
/// empty) are written instead of numbers in text, and -1 as an empty field "". All writers go through OutputFile.
COTERIE_API void write_labels(const std::string& path, const Labels& labels,
                              const std::vector<std::string>& names = {});

/// .npy (same scalar type) or .csv by extension.
COTERIE_API void write_points(const std::string& path, PointsView points,
                              const std::vector<std::string>& column_names = {});

}  // namespace coterie
