// Finds the format of a file by its name and reads the file. The content shows whether it is compressed. Large arrays
// are read in blocks; large text is converted first.

#include "coterie/io/reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <numeric>

#include "coterie/base/checks.hpp"
#include "coterie/base/load_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/io/column_choice.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/graph_reader.hpp"
#include "coterie/io/internal/reader_process.hpp"
#include "coterie/io/row_files.hpp"

namespace coterie::formats {

std::string name_without_gz(const std::string& path) {
    std::string out = lower_case(std::filesystem::path(path).filename().string());
    if (out.ends_with(".gz")) out.resize(out.size() - 3);
    return out;
}

std::string_view name(Format format) {
    static constexpr std::array<std::string_view, 12> names = {"csv", "tsv",    "text", "arrow", "npy",         "npz",
                                                               "idx", "libsvm", "hdf5", "mat",   "safetensors", "mtx"};
    return names[static_cast<std::size_t>(format)];
}

std::optional<Format> format_of_name(const std::string& path) {
    static const std::pair<std::string_view, Format> endings[] = {
        {".csv", Format::csv},          {".tsv", Format::tsv},
        {".tab", Format::tsv},          {".txt", Format::text},
        {".data", Format::text},        {".dat", Format::text},
        {".arrow", Format::arrow},      {".arrows", Format::arrow},
        {".feather", Format::arrow},    {".npy", Format::npy},
        {".npz", Format::npz},          {".idx", Format::idx},
        {"-ubyte", Format::idx},        {".svm", Format::libsvm},
        {".libsvm", Format::libsvm},    {".svmlight", Format::libsvm},
        {".h5", Format::hdf5},          {".hdf5", Format::hdf5},
        {".mat", Format::matlab},       {".safetensors", Format::safetensors},
        {".mtx", Format::matrix_market}};
    const std::string name = lower_case(std::filesystem::path(path).filename().string());
    for (const auto& [ending, format] : endings)
        if (name.ends_with(ending)) return format;
    if (std::filesystem::path(name).extension().string().starts_with(".idx")) return Format::idx;
    return std::nullopt;
}

}  // namespace coterie::formats

namespace coterie {

using namespace formats;
namespace {

bool is_table(Format format) { return format <= Format::arrow; }

struct Location {
    std::string file;
    std::string source;    // the file, for messages
    std::string key = {};  // name of an array in a container
    Format format = Format::text;
};

// A format that is not supported: how to recognise it, and a command that converts it.
struct Foreign {
    std::string_view extension;
    std::string_view begins;  // empty: the bytes do not identify the format
    std::string_view is;
    std::string_view conversion;
};
constexpr std::string_view by_pandas_frame =
    "python -c \"import pandas; pandas.read_%('FILE').to_csv('FILE.csv', index=False)\"";
constexpr std::array<Foreign, 17> foreign = {{
    {".parquet", "PAR1", "a Parquet file", "parquet"},
    {"", "FEA1", "a feather file of version 1", "feather"},
    {".xlsx", "PK\3\4", "a spreadsheet (xlsx) or a zip archive", "excel"},
    {".xls", "\xd0\xcf\x11\xe0", "a spreadsheet (xls)", "excel"},
    {".ods", "", "a spreadsheet (ods)", "excel"},
    {".dta", "", "a Stata file (dta)", "stata"},
    {".sav", "", "an SPSS file (sav)", "spss"},
    {".sas7bdat", "", "a SAS file", "sas"},
    {".pkl", "", "a pickle (pkl)", "pickle"},
    {".pickle", "", "a pickle", "pickle"},
    {".json", "", "a JSON file", "json"},
    {".rds", "", "an R file (rds)", "Rscript -e \"write.csv(readRDS('FILE'), 'FILE.csv', row.names = FALSE)\""},
    {".zip", "", "a zip archive", "unzip FILE"},
    {".bz2", "BZh", "compressed by bzip2", "bunzip2 -k FILE"},
    {".xz", "\xfd\x37zXZ", "compressed by xz", "unxz -k FILE"},
    {".zst", "\x28\xb5\x2f\xfd", "compressed by zstandard", "unzstd FILE"},
    {".7z", "7z\xbc\xaf", "a 7z archive", "7z x FILE"},
}};

[[noreturn]] void refuse_foreign(const Foreign& one, const std::string& path) {
    std::string conversion(one.conversion);
    if (conversion.find("FILE") == std::string::npos) {
        conversion = by_pandas_frame;
        conversion.replace(conversion.find('%'), 1, one.conversion);
    }
    const std::string name = std::filesystem::path(path).filename().string();
    for (std::size_t at = 0; (at = conversion.find("FILE", at)) != std::string::npos; at += name.size())
        conversion.replace(at, 4, shown(name));
    refuse_file(path, Code::unsupported_format, filled("the file is {}, which coterie does not read", one.is),
                "Convert it: " + conversion);
}

// Throws BadData if a text file's name hides another format.
TableSource table_at(const Location& at) {
    Bytes bytes = read_bytes_inflated(at.file, true);
    const std::string_view text(bytes.text(), bytes.size());
    for (const Foreign& one : foreign)
        if (!one.begins.empty() && text.starts_with(one.begins)) refuse_foreign(one, at.source);
    return {at.source, std::move(bytes), at.format == Format::tsv, at.format == Format::arrow};
}

Format format_of(const std::string& path) {
    if (path == "-") return Format::text;
    const std::string name = name_without_gz(path);
    if (const auto format = format_of_name(name)) return *format;
    const std::string extension = std::filesystem::path(name).extension().string();
    if (extension.empty()) return Format::text;  // the name of a pipe has none
    for (const Foreign& one : foreign)
        if (!one.extension.empty() && name.ends_with(one.extension)) refuse_foreign(one, path);
    const std::string accepted =
        ".csv .tsv .txt .data .arrow .feather .svm .libsvm .idx (each also .gz), .npy .npz .h5 .hdf5 .mat .safetensors "
        ".mtx";
    throw BadData(Code::unsupported_format, filled("the ending '{}' is not known", shown(extension)), "Use " + accepted,
                  {.accepted = accepted, .file = path});
}

Location locate(const std::string& path) {
    Location out{.file = path, .source = path == "-" ? "standard input" : path};
    std::error_code error;
    // The first colon after a container's extension starts an array's name, unless a file has the whole name.
    if (path != "-" && !std::filesystem::exists(path, error)) {
        const std::string low = lower_case(path);
        std::size_t cut = std::string::npos;
        for (const std::string_view container : {".npz:", ".h5:", ".hdf5:", ".mat:", ".safetensors:"}) {
            const std::size_t found = low.find(container);
            if (found != std::string::npos) cut = std::min(cut, found + container.size() - 1);
        }
        if (cut != std::string::npos) {
            out.file = out.source = path.substr(0, cut);
            out.key = path.substr(cut + 1);
            if (out.key.empty())
                throw BadArgument(Code::missing_argument, "the name of an array is missing after the colon",
                                  "Name the array, or leave out the colon", {.file = path});
        }
    }
    out.format = format_of(out.file);
    return out;
}

// An array from any of the formats that hold arrays.
Array read_array(const Location& at, Purpose purpose, const Run& run = Run()) {
    switch (at.format) {
        case Format::npy: return parse_npy(read_bytes_inflated(at.file), at.source);
        case Format::idx: return parse_idx(read_bytes_inflated(at.file), at.source);
        case Format::npz: return parse_npz(read_bytes(at.file), at.key, purpose, at.source);
        case Format::safetensors: return parse_safetensors(read_bytes(at.file), at.key, purpose, at.source);
        case Format::hdf5:
        case Format::matlab: return io::internal::read_apart(name(at.format), at.file, at.key, purpose, at.source, run);
        case Format::matrix_market:
            refuse_file(at.file, Code::wrong_type,
                        "a Matrix Market file holds a sparse matrix, but one value per row is needed");
        default: throw InternalError("text was read as an array");
    }
}

// The end of a message about a format that does not do something.
std::string but(Format format) { return filled("but the format of this file is {}", name(format)); }

// Adds the file to an error without one. An error about an array of a container or about one of several files may have
// a more exact one already; an interruption is not about the file.
void name_file(Error& error, const std::string& file) {
    const Message& fields = error.fields();
    if (fields.file.empty() && fields.code != Code::cancelled)
        error.amend([&](Message& message) { message.file = file; });
}

void refuse_option(bool given, std::string_view option, std::string_view needed, const std::string& path,
                   Format format) {
    if (given)
        throw BadArgument(Code::not_supported, filled("`{}` needs {}, {}", option, needed, but(format)), "",
                          {.option = std::string(option), .file = path});
}

void refuse_text_options(const ReadOptions& options, const std::string& path, Format format) {
    constexpr std::string_view text = "text (.csv, .tsv, .txt, .data) or Arrow";
    refuse_option(!options.label_column.empty(), "label_column", text, path, format);
    refuse_option(!options.id_column.empty(), "id_column", text, path, format);
}

void refuse_choice(const ReadOptions& options, const std::string& path, Format format) {
    constexpr std::string_view dense = "a table or a dense array";
    refuse_option(!options.columns.empty(), "columns", dense, path, format);
    refuse_option(!options.exclude.empty(), "exclude", dense, path, format);
}

Message together_note(const std::vector<std::string>& files) {
    return {.problem = filled("{} files are read as one, from {} to {}", files.size(), files.front(), files.back())};
}

[[noreturn]] void refuse_together(const std::string& file, const std::string& first) {
    refuse_file(file, Code::unsupported_format, "the file cannot be read as one with " + first,
                "Use only .npy and idx files, or only tables");
}

Points first_rows(const Points& points, Index count) {
    std::vector<Index> first(static_cast<std::size_t>(count));
    std::iota(first.begin(), first.end(), Index{0});
    return rows_of(points, first);
}

std::string larger_than_memory(double bytes, double available) {
    return filled("the rows take {}, and {} of memory is available", memory_text(bytes), memory_text(available));
}

// Opens several array files, and array files that are better read in blocks.
std::optional<PointsFile> rows_in_place(const std::vector<std::string>& files, const ReadOptions& options,
                                        const Run& run) {
    std::uintmax_t bytes = 0;
    for (const auto& file : files) {
        std::error_code error;
        if (!can_be_read_in_blocks(file)) {
            if (files.size() == 1) return std::nullopt;
            refuse_together(file, files.front());
        }
        bytes += std::filesystem::file_size(file, error);
        if (error) return std::nullopt;  // the reader reports what is wrong with it
    }
    const auto available = static_cast<double>(available_memory());
    const bool large = available > 0 && static_cast<double>(bytes) > available / 2;
    if (files.size() == 1 && !large && run.communicator().size() == 1) return std::nullopt;
    refuse_text_options(options, files.front(), format_of(files.front()));
    PointsFile out;
    out.format = name(format_of(files.front()));
    out.points = chosen_columns(open_rows(files, options.precision), options, files.front());
    if (options.max_rows >= 0 && options.max_rows < out.points.rows())
        out.points = first_rows(out.points, options.max_rows);
    if (files.size() > 1) {
        out.notes.push_back(together_note(files));
        for (const auto& file : files)
            out.parts.push_back({file, open_rows(std::span(&file, 1), options.precision).rows()});
    }
    if (large) {
        out.notes.push_back({.problem = larger_than_memory(static_cast<double>(bytes), available) +
                                        ", so they are read in blocks, again in every pass"});
    } else if (run.communicator().size() == 1) {
        out.points = load(out.points, "the array", run);
    }
    return out;
}

// Reads several tables, and a table whose numbers may take more than half of the memory.
std::optional<PointsFile> table_in_pieces(const std::vector<std::string>& files, const ReadOptions& options,
                                          const Run& run) {
    if (files.front() == "-" || !is_table(locate(files.front()).format)) return std::nullopt;
    const auto available = static_cast<double>(available_memory());
    const auto is_large = [&](double bytes) { return available > 0 && bytes > available / 2; };
    const double number = options.precision == Precision::float32 ? sizeof(float) : sizeof(double);
    if (files.size() == 1) {
        std::error_code error;
        const auto size = std::filesystem::file_size(files.front(), error);
        // A number takes at least two characters.
        if (error || options.max_rows >= 0 || !is_large(static_cast<double>(size) / 2 * number)) return std::nullopt;
    }
    std::vector<TableSource> sources;
    for (const auto& file : files) {
        const Location at = locate(file);
        if (!is_table(at.format)) refuse_together(file, files.front());
        sources.push_back(table_at(at));
    }
    std::vector<Message> notes;
    if (files.size() > 1) notes.push_back(together_note(files));
    std::optional<ScratchWriter> scratch;
    std::function<void(PointsView)> take;
    Points points;
    const auto hold = [&]<class Scalar>(Index rows, Index columns, Scalar) {
        const auto matrix = std::make_shared<Matrix<Scalar>>(rows, columns);
        points = Points(PointsView(*matrix), matrix);
        take = [matrix, to = matrix->data()](PointsView some) mutable {
            to = std::copy_n(static_cast<const Scalar*>(some.data()), some.rows() * some.columns(), to);
        };
    };
    const auto begin = [&](Index rows, Index columns, ScalarType scalar) {
        const double bytes =
            static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(size_of(scalar));
        if (!is_large(bytes)) {
            if (scalar == ScalarType::float32) return hold(rows, columns, float());
            return hold(rows, columns, double());
        }
        const std::string folder = options.scratch_folder.empty() ? "the current folder" : options.scratch_folder;
        notes.push_back(
            {.problem =
                 filled("{}, so {} once, to a temporary file in {}, and read in blocks, again in every pass",
                        larger_than_memory(bytes, available),
                        run.communicator().size() > 1 ? "each process converts them" : "they are converted", folder)});
        scratch.emplace(options.scratch_folder);
        take = [&](PointsView some) { scratch->write(some); };
    };
    PointsFile out = parse_tables(sources, options, run, begin, [&](PointsView rows) { take(rows); });
    out.points = scratch ? scratch->points() : std::move(points);
    if (options.max_rows >= 0 && options.max_rows < out.points.rows()) {
        out.points = first_rows(out.points, options.max_rows);
        if (out.labels) out.labels->labels.resize(static_cast<std::size_t>(options.max_rows));
    }
    out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
    return out;
}

}  // namespace

PointsFile read_points_file(const std::string& path, const ReadOptions& options, const Run& run) try {
    run.throw_if_stopped_here("reading");
    const std::vector<std::string> files = files_of(path);
    if (auto pieces = table_in_pieces(files, options, run)) {
        if (pieces->format.empty()) pieces->format = name(locate(files.front()).format);
        return std::move(*pieces);
    }
    if (auto in_place = rows_in_place(files, options, run)) return std::move(*in_place);
    const Location at = locate(files.front());
    PointsFile out;
    if (is_table(at.format)) {
        out = parse_table(table_at(at), options, run.threads);
    } else {
        refuse_text_options(options, path, at.format);
        const bool sparse_npz = at.format == Format::npz && at.key.empty() && is_graph(at.file);
        const bool sparse = sparse_npz || at.format == Format::matrix_market;
        if (sparse || at.format == Format::libsvm) refuse_choice(options, path, at.format);
        if (at.format == Format::libsvm) {
            out =
                parse_libsvm(read_bytes_inflated(at.file), at.source, options.precision, options.max_rows, run.threads);
        } else if (sparse) {
            out.points = sparse_npz ? parse_sparse_points(read_bytes(at.file), options.precision, options.max_rows,
                                                          at.source, run.threads)
                                    : parse_sparse_matrix_market(read_bytes_inflated(at.file), options.precision,
                                                                 options.max_rows, at.source);
            require_finite(out.points, {.file = at.source}, run);
        } else {
            const Array array = read_array(at, Purpose::points, run);
            if (!array.note.empty()) out.notes.push_back({.problem = array.note, .file = at.source});
            out.points =
                chosen_columns(to_points(array, options.precision, options.max_rows, array.source, run.threads),
                               options, array.source);
            if (!options.missing)
                require_finite(out.points,
                               {.remedy = options.advises ? points_of_fit().remedy : "", .file = array.source}, run);
        }
    }
    if (out.format.empty()) out.format = name(at.format);
    return out;
} catch (Error& error) {
    name_file(error, path);
    throw;
}

namespace {

[[noreturn]] void refuse_column(const std::string& path, Format format) {
    throw BadArgument(Code::not_supported, "a column can be chosen only in text and Arrow files, " + but(format),
                      "Leave the column out", {.file = path});
}

LabelColumn labels_of_file(const std::string& path, const std::string& column, bool allow_blank) try {
    const Location at = locate(path);
    if (is_table(at.format)) return parse_table_labels(table_at(at), column, allow_blank, available_threads());
    if (!column.empty()) refuse_column(path, at.format);
    if (at.format == Format::libsvm)
        return *parse_libsvm(read_bytes_inflated(at.file), at.source, Precision::float32, -1, available_threads())
                    .labels;
    const Array array = read_array(at, Purpose::labels);
    return to_labels(array, allow_blank, array.source);
} catch (Error& error) {
    name_file(error, path);
    throw;
}

std::vector<double> numbers_of_file(const std::string& path, const std::string& column) try {
    const Location at = locate(path);
    if (is_table(at.format)) return parse_table_numbers(table_at(at), column, available_threads());
    if (!column.empty()) refuse_column(path, at.format);
    if (at.format == Format::libsvm)
        throw BadArgument(Code::wrong_type,
                          "a libsvm file holds rows of several values, but one value per row is needed", "",
                          {.file = path});
    const Array array = read_array(at, Purpose::labels);
    return to_numbers(array, array.source);
} catch (Error& error) {
    name_file(error, path);
    throw;
}

// The files with one value per row, ordered by name like the files of the points.
std::vector<std::string> files_beside(const std::string& path, const std::vector<FilePart>& points) {
    std::vector<std::string> files = files_of(path);
    if (files.size() > 1 && !points.empty() && files.size() != points.size())
        refuse_file(path, Code::wrong_shape,
                    filled("{} files match, but the points are in {}", files.size(),
                           counted(static_cast<Index>(points.size()), "file")),
                    "Give one file for each of them, or one for all");
    return files;
}

// Among several array files, some may be empty.
bool has_no_rows(const std::string& file) {
    const Location at = locate(file);
    if (at.format != Format::npy && at.format != Format::idx) return false;
    const Array array = read_array(at, Purpose::labels);
    return !array.shape.empty() && array.shape.front() == 0;
}

void require_as_many(const std::string& file, std::size_t rows, std::size_t place,
                     const std::vector<FilePart>& points) {
    if (points.empty() || static_cast<Index>(rows) == points[place].rows) return;
    refuse_file(file, Code::wrong_shape,
                filled("{}, but the corresponding file of points, {}, has {}", counted(static_cast<Index>(rows), "row"),
                       points[place].file, points[place].rows));
}

}  // namespace

LabelColumn read_labels_file(const std::string& path, const std::string& column, bool allow_blank,
                             const std::vector<FilePart>& points) {
    const std::vector<std::string> files = files_beside(path, points);
    if (files.size() == 1) return labels_of_file(files.front(), column, allow_blank);
    std::vector<LabelColumn> parts;
    for (const std::string& file : files) {
        parts.push_back(has_no_rows(file) ? LabelColumn() : labels_of_file(file, column, allow_blank));
        require_as_many(file, parts.back().labels.size(), parts.size() - 1, points);
    }
    return joined_labels(parts);
}

std::vector<double> read_numbers(const std::string& path, const std::string& column,
                                 const std::vector<FilePart>& points) {
    const std::vector<std::string> files = files_beside(path, points);
    if (files.size() == 1) return numbers_of_file(files.front(), column);
    std::vector<double> out;
    for (std::size_t f = 0; f < files.size(); ++f) {
        const std::vector<double> part =
            has_no_rows(files[f]) ? std::vector<double>() : numbers_of_file(files[f], column);
        require_as_many(files[f], part.size(), f, points);
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

}  // namespace coterie
