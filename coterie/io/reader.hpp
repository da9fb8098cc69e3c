#pragma once
// Points and labels from files. The format follows the extension:
//   .csv .tsv .txt .data (text; any of them may be .gz)   .npy (memory-mapped)   .npz   .idx, -idx1-ubyte, -idx3-ubyte
//   (may be .gz) .svm .libsvm (may be .gz)   .h5 .hdf5   .mat (MATLAB 5)   .safetensors
// A container's array is named behind a colon: file.npz:key, file.h5:/group/dataset, file.mat:X. With one
// two-dimensional numeric array inside, the name may be left out. "-" is text from standard input. Every error names
// file, row and column (counted from 1 as an editor shows them) and what is accepted. NaN and infinity are refused.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

enum class Precision {
    automatic,  // what the file holds: text, float64, int32, int64 -> float64; float16, float32, 8- and 16-bit integers
                // -> float32
    float32,
    float64
};
enum class Header { automatic, yes, no };

struct ReadOptions {
    Precision precision = Precision::automatic;
    Header header = Header::automatic;  // automatic: a first line with a field that is neither a number nor empty, over
                                        // a line of numbers
    char separator = 0;  // 0: by extension (.tsv tab), else guessed from the first line among , ; tab space
    /// Text files only. A column's name, or its number counted from 1; -1 is the last column.
    std::string label_column;
    /// Columns to take as coordinates, names or numbers or ranges "2-5", in this order; empty: all but the label
    /// column.
    std::vector<std::string> columns;
    Index max_rows = -1;  // read only the first rows; -1: all
};

/// Truth or partial labels: number per row, and the word each number stands for.
struct LabelColumn {
    Labels labels;                   // -1: blank
    std::vector<std::string> names;  // names[label]; numeric labels are ordered by value, words by first appearance
};

struct PointsFile {
    Points points;
    std::vector<std::string> column_names;  // empty when the file has none
    std::optional<LabelColumn> labels;      // when label_column was given, or a libsvm file carries them
    std::string format;                     // "csv", "npy", ...
};

PointsFile read_points(const std::string& path, const ReadOptions& options, const Run& run);
inline PointsFile read_points(const std::string& path) { return read_points(path, {}, Run()); }

/// One label a row, from any of the formats: a text file's only column (or `column`), a vector of integers, an idx1
/// file, a libsvm file's targets. Fields may be words. Blank is -1 when `allow_blank`, else BadData.
LabelColumn read_labels(const std::string& path, const std::string& column = {}, bool allow_blank = false);

/// One finite number a row (weights).
std::vector<double> read_numbers(const std::string& path);

/// Text with the header line `label`, or int32 .npy by extension; "-" writes text to standard output. `names` (if not
/// empty) are written instead of numbers in text. All writers go through OutputFile.
void write_labels(const std::string& path, const Labels& labels, const std::vector<std::string>& names = {});

/// .npy (same scalar type) or .csv by extension.
void write_points(const std::string& path, PointsView points, const std::vector<std::string>& column_names = {});

/// Throws BadData naming `what`, row, column and count when a value is NaN or infinite. `threads` scan in parallel.
void require_finite(PointsView points, std::string_view what, int threads);

}  // namespace coterie
