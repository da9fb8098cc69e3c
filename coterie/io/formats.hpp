#pragma once
// Internal: the bytes of a file, the arrays that formats hold, and one function per format. Formats are parsed from
// bytes, so fuzzers use the same code as readers of files. Exception: the libraries for HDF5 and MATLAB open files
// themselves, so a separate program reads such files (reader_process.hpp).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/text.hpp"
#include "coterie/base/utf8.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {
class SparseMatrix;
}

namespace coterie::formats {

using internal::filled;
using internal::shown;

/// Throws BadData about a file.
[[noreturn]] void refuse_file(std::string_view file, Code code, std::string problem, std::string remedy = {});
/// Like require_memory(), but the error names the file.
void require_memory_for(std::string_view file, double bytes, std::string_view what);

// ---- bytes ----------------------------------------------------------------------------------------------------------

/// Bytes and the object that keeps them alive (a mapping, a buffer; null for borrowed bytes).
struct Bytes {
    std::span<const std::byte> data;
    std::shared_ptr<const void> owner;

    const char* text() const { return reinterpret_cast<const char*>(data.data()); }
    std::size_t size() const { return data.size(); }
};

/// The bytes of a regular file, or all bytes of a pipe ("-" is standard input). Throws BadData if the file does not
/// exist, is a folder or a device, or becomes shorter while it is read. A file larger than half of the available memory
/// is mapped, so it must not change later. `text`: throws BadData if a line of a pipe exceeds longest_line.
inline constexpr std::size_t longest_line = std::size_t{1} << 28;
Bytes read_bytes(const std::string& path, bool text = false);
/// Like read_bytes, and decompresses gzip, which the content or the ending .gz identifies.
Bytes read_bytes_inflated(const std::string& path, bool text = false);
/// The size of a regular file, 0 for anything else. Throws like read_bytes.
std::size_t file_size(const std::string& path);
/// Writes all bytes to a descriptor. Returns false if that fails; errno then has the reason.
bool write_all(int descriptor, const void* data, std::size_t bytes);
bool is_gzip(std::span<const std::byte> data);
/// All members of a gzip file, decompressed. Throws BadData if it is damaged or truncated.
Bytes inflate_gzip(const Bytes& bytes, std::string_view source);

/// Appends the character with that code point.
void append_utf8(std::string& out, std::uint32_t code);
/// "1000000 x 64"
std::string shape_text(const std::vector<std::int64_t>& shape);

// ---- arrays ---------------------------------------------------------------------------------------------------------

enum class Element {
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    text8,  // fixed-width bytes padded with 0, like NumPy's S
    text32  // fixed-width UTF-32 padded with 0, like NumPy's U
};
std::string_view name(Element element);
inline bool is_text(Element element) { return element == Element::text8 || element == Element::text32; }

/// An array as stored in a file. `data` holds exactly the product of `shape` items.
struct Array {
    Element element = Element::float64;
    std::size_t item_bytes = 8;
    bool swapped = false;  // big-endian
    bool fortran = false;  // first index fastest
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data;
    std::shared_ptr<const void> owner;
    std::string note;    // if the array was chosen automatically: says so, and lists the others
    std::string source;  // FILE or FILE:NAME, for messages
};
/// Size of a number.
std::size_t item_bytes(Element element);
/// Whether the items lie in memory as numbers of that type.
inline bool has_scalar(const Array& array, ScalarType scalar) {
    return !array.swapped && array.element == (scalar == ScalarType::float32 ? Element::float32 : Element::float64);
}
/// Product of the shape times `item`. Throws BadData, naming `source`, if an extent is negative or the product is too
/// large for memory addresses.
std::size_t checked_bytes(const std::vector<std::int64_t>& shape, std::size_t item, std::string_view source);
/// Throws BadData unless a file has exactly as many bytes of items as its header announces. `type`: text that follows
/// the shape in the message; `remedy_if_more`: the remedy if there are too many bytes.
void require_length(const Array& array, std::size_t there, std::string_view source, std::string_view type = {},
                    std::string_view remedy_if_more = {});

enum class Purpose { points, labels };
struct Content {
    std::string name;
    std::vector<std::int64_t> shape;
    bool numeric = true;
};
/// Chooses an array of a container: the array named `key` or, without a key, the only array that fits the purpose.
/// `note` receives the choice if the caller may have meant another array. Throws BadData that lists the arrays.
const Content& choose(const std::vector<Content>& contents, std::string_view key, Purpose purpose,
                      std::string_view source, std::string& note);

/// An array with one dimension becomes one column; dimensions after the second are flattened into the row. Mapped
/// memory is used in place if scalar type, byte order and alignment allow it. Does not check for NaN.
Points to_points(const Array& array, Precision precision, Index max_rows, std::string_view source, int threads);
LabelColumn to_labels(const Array& array, bool allow_blank, std::string_view source);
std::vector<double> to_numbers(const Array& array, std::string_view source);

// ---- labels ---------------------------------------------------------------------------------------------------------

/// Labels of trimmed, unquoted words; an empty word is blank (-1).
LabelColumn labels_of_words(const std::vector<std::string_view>& words);
/// The labels of several files, one after another. Labels are matched by name, because the same label may have
/// different numbers in the files.
LabelColumn joined_labels(std::span<const LabelColumn> parts);

// ---- numbers in text ------------------------------------------------------------------------------------------------

/// Reads a decimal number, correctly rounded, from the start of [begin, end): optional sign, digits with an optional
/// decimal sign (`decimal`: point or comma), optional exponent. Returns the end of the number. Returns nullptr if there
/// is no number, or if it overflows Scalar; then sets `overflow`.
template <class Scalar>
const char* parse_decimal(const char* begin, const char* end, Scalar& value, bool& overflow, char decimal = '.');
/// Whether the whole field, without surrounding blanks, is one number that Scalar can hold.
template <class Scalar>
bool parse_field(std::string_view field, Scalar& value, bool& overflow, char decimal = '.');
std::string_view trimmed(std::string_view field);
/// Whether the field is a finite number.
bool is_number(std::string_view field, char decimal = '.');
/// Whether the field is written as a number, even if no double can hold it.
bool is_number_text(std::string_view field, char decimal = '.');
std::string lower_case(std::string_view text);

/// Boundaries of consecutive pieces of about `piece` bytes, which end after a '\n' or at the end of the text.
std::vector<std::size_t> line_pieces(std::string_view text, std::size_t piece);
/// Line number (from 1) at an offset.
Index line_at(std::string_view text, std::size_t offset);

// ---- formats by name ------------------------------------------------------------------------------------------------

/// Tables come first, Arrow last among them.
enum class Format { csv, tsv, text, arrow, npy, npz, idx, libsvm, hdf5, matlab, safetensors, matrix_market };
std::string_view name(Format format);
/// The format that the ending of a file's name stands for; nothing if the ending is unknown or stands for compression.
std::optional<Format> format_of_name(const std::string& path);
/// The name of the file in lower case, without .gz.
std::string name_without_gz(const std::string& path);

// ---- formats --------------------------------------------------------------------------------------------------------

/// A table. Its format is Arrow if its bytes start like Arrow (internal/table.hpp), otherwise text.
struct TableSource {
    std::string name;
    Bytes bytes;
    bool tab_separated = false;
    bool arrow = false;  // text is an error (BadData)
};
PointsFile parse_table(const TableSource& source, const ReadOptions& options, int threads);
/// Reads several tables with the same columns as one, some megabytes at a time. Calls begin() once, then take() with
/// rows, in order. The returned PointsFile has no points. Throws BadData if the tables differ in their columns.
PointsFile parse_tables(std::span<const TableSource> sources, const ReadOptions& options, const Run& run,
                        FunctionRef<void(Index rows, Index columns, ScalarType scalar)> begin,
                        FunctionRef<void(PointsView rows)> take);
LabelColumn parse_table_labels(const TableSource& source, const std::string& column, bool allow_blank, int threads);
std::vector<double> parse_table_numbers(const TableSource& source, const std::string& column, int threads);

PointsFile parse_libsvm(const Bytes& bytes, std::string_view source, Precision precision, Index max_rows, int threads);
Array parse_npy(const Bytes& bytes, std::string_view source);
/// Parses the header only; `data` is everything after it. Throws BadData if the header is longer than longest_npy_head.
inline constexpr std::size_t longest_npy_head = std::size_t{1} << 16;
/// Like require_length(), for the data of an .npy file.
void require_npy_length(const Array& array, std::size_t there);
Array parse_npy_header(const Bytes& bytes, std::string_view source);
Array parse_idx(const Bytes& bytes, std::string_view source);
Array parse_idx_header(const Bytes& bytes, std::string_view source);
Array parse_npz(const Bytes& bytes, std::string_view key, Purpose purpose, const std::string& source);
/// The word that SciPy's save_npz writes as `format`, for example "csr"; empty if it is not text.
std::string sparse_format(const Array& format);
/// Sparse points (base/sparse_points.hpp) from an .npz that SciPy's save_npz wrote (csr). Does not check for NaN.
Points parse_sparse_points(const Bytes& bytes, Precision precision, Index max_rows, const std::string& source,
                           int threads);
/// The same for a Matrix Market file, square or not.
Points parse_sparse_matrix_market(const Bytes& bytes, Precision precision, Index max_rows, std::string_view source);
/// Graphs (graph_reader.hpp) from the same formats; the .npz may also be csc or coo.
SparseMatrix parse_sparse_npz(const Bytes& bytes, std::string_view source);
SparseMatrix parse_matrix_market(const Bytes& bytes, std::string_view source);
Array parse_safetensors(const Bytes& bytes, std::string_view key, Purpose purpose, const std::string& source);

/// The header of a safetensors file, checked: the tensors cover the data exactly, and all metadata are text.
struct SafetensorsFile {
    struct Entry {
        std::string name;
        std::string dtype;  // as written: "F32", "BF16", ...
        std::vector<std::int64_t> shape;
        std::span<const std::byte> data;
    };
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<Entry> tensors;  // in the order of their data
    std::string_view header;     // the JSON text
};
SafetensorsFile parse_safetensors_table(std::span<const std::byte> bytes, std::string_view source);

}  // namespace coterie::formats
