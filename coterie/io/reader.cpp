// Finds the format of a file by its name and reads the file. The content shows whether it is compressed. Large arrays
// are read in blocks; large text is converted first.

#include "coterie/io/reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "coterie/base/checks.hpp"
#include "coterie/base/load_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/column_choice.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/graph_reader.hpp"
#include "coterie/io/internal/reader_process.hpp"
#include "coterie/io/row_files.hpp"

namespace coterie::formats {
namespace {

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::string name_without_gz(const std::string& path) {
    std::string out = lower_case(std::filesystem::path(path).filename().string());
    if (out.ends_with(".gz")) out.resize(out.size() - 3);
    return out;
}

}  // namespace

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
namespace {

using formats::Array;
using formats::Bytes;
using formats::Format;
using formats::Purpose;
using internal::filled;

bool is_table(Format format) {
    return format == Format::csv || format == Format::tsv || format == Format::text || format == Format::arrow;
}

struct Location {
    std::string file;
    std::string key;  // name of an array in a container
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
    {".xz",
     "\xfd"
     "7zXZ",
     "compressed by xz", "unxz -k FILE"},
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
        conversion.replace(at, 4, formats::shown(name));
    throw BadData(Code::unsupported_format, filled("the file is {}, which coterie does not read", one.is),
                  "Convert it: " + conversion, {.file = path});
}

// The bytes of a table. Throws BadData if a text file's name hides another format.
Bytes read_table_bytes(const std::string& file) {
    Bytes bytes = formats::read_bytes_inflated(file, true);
    const std::string_view text(bytes.text(), bytes.size());
    for (const Foreign& one : foreign)
        if (!one.begins.empty() && text.starts_with(one.begins))
            refuse_foreign(one, file == "-" ? "standard input" : file);
    return bytes;
}

formats::TableSource source_at(const std::string& file, const std::string& source, Format format) {
    return {source, read_table_bytes(file), format == Format::tsv, format == Format::arrow};
}

Format format_of(const std::string& path) {
    if (path == "-") return Format::text;
    const std::string name = formats::name_without_gz(path);
    if (const auto format = formats::format_of_name(name)) return *format;
    const std::string extension = std::filesystem::path(name).extension().string();
    if (extension.empty()) return Format::text;  // the name of a pipe has none
    for (const Foreign& one : foreign)
        if (!one.extension.empty() && name.ends_with(one.extension)) refuse_foreign(one, path);
    const std::string accepted =
        ".csv .tsv .txt .data .arrow .feather .svm .libsvm .idx (each also .gz), .npy .npz .h5 .hdf5 .mat .safetensors "
        ".mtx";
    throw BadData(Code::unsupported_format, filled("the ending '{}' is not known", formats::shown(extension)),
                  "Use " + accepted, {.accepted = accepted, .file = path});
}

Location locate(const std::string& path) {
    Location out{path, {}, Format::text};
    std::error_code error;
    // The first colon after a container's extension starts an array's name, unless a file has the whole name.
    if (path != "-" && !std::filesystem::exists(path, error)) {
        const std::string low = formats::lower_case(path);
        std::size_t cut = std::string::npos;
        for (const std::string_view container : {".npz:", ".h5:", ".hdf5:", ".mat:", ".safetensors:"}) {
            const std::size_t found = low.find(container);
            if (found != std::string::npos) cut = std::min(cut, found + container.size() - 1);
        }
        if (cut != std::string::npos) {
            out.file = path.substr(0, cut);
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
Array read_array(const Location& location, Purpose purpose, const std::string& source, const Run& run = Run()) {
    switch (location.format) {
        case Format::npy: return formats::parse_npy(formats::read_bytes_inflated(location.file), source);
        case Format::idx: return formats::parse_idx(formats::read_bytes_inflated(location.file), source);
        case Format::npz: return formats::parse_npz(formats::read_bytes(location.file), location.key, purpose, source);
        case Format::safetensors:
            return formats::parse_safetensors(formats::read_bytes(location.file), location.key, purpose, source);
        case Format::hdf5:
        case Format::matlab:
            return io::internal::read_apart(name(location.format), location.file, location.key, purpose, source, run);
        case Format::matrix_market:
            throw BadData(Code::wrong_type,
                          "a Matrix Market file holds a sparse matrix, but one value per row is needed", "",
                          {.file = location.file});
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

std::string source_of(const Location& location) { return location.file == "-" ? "standard input" : location.file; }

void refuse_text_options(const ReadOptions& options, const std::string& path, Format format) {
    for (const auto& [option, given] :
         {std::pair("label_column", &options.label_column), {"id_column", &options.id_column}})
        if (!given->empty())
            throw BadArgument(Code::not_supported,
                              filled("`{}` needs text (.csv, .tsv, .txt, .data) or Arrow, {}", option, but(format)), "",
                              {.option = option, .file = path});
}

void refuse_choice(const ReadOptions& options, const std::string& path, Format format) {
    for (const auto& [option, given] : {std::pair("columns", &options.columns), {"exclude", &options.exclude}})
        if (!given->empty())
            throw BadArgument(Code::not_supported,
                              filled("`{}` needs a table or a dense array, {}", option, but(format)), "",
                              {.option = option, .file = path});
}

Message together_note(const std::vector<std::string>& files) {
    return {.problem = filled("{} files are read as one, from {} to {}", files.size(), files.front(), files.back())};
}

[[noreturn]] void refuse_together(const std::string& file, const std::string& first) {
    throw BadData(Code::unsupported_format, "the file cannot be read as one with " + first,
                  "Use only .npy and idx files, or only tables", {.file = file});
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
    out.points = formats::chosen_columns(open_rows(files, options.precision), options, files.front());
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
    std::vector<formats::TableSource> sources;
    for (const auto& file : files) {
        const Format format = locate(file).format;
        if (!is_table(format)) refuse_together(file, files.front());
        sources.push_back(source_at(file, file, format));
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
    PointsFile out = formats::parse_tables(sources, options, run, begin, [&](PointsView rows) { take(rows); });
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
    const Location location = locate(files.front());
    const std::string source = source_of(location);
    PointsFile out;
    if (is_table(location.format)) {
        out = formats::parse_table(source_at(location.file, source, location.format), options, run.threads);
    } else {
        refuse_text_options(options, path, location.format);
        const bool sparse_npz = location.format == Format::npz && location.key.empty() && is_graph(location.file);
        if (sparse_npz || location.format == Format::libsvm || location.format == Format::matrix_market)
            refuse_choice(options, path, location.format);
        if (location.format == Format::libsvm) {
            out = formats::parse_libsvm(formats::read_bytes_inflated(location.file), source, options.precision,
                                        options.max_rows, run.threads);
        } else if (location.format == Format::matrix_market) {
            out.points = formats::parse_sparse_matrix_market(formats::read_bytes_inflated(location.file),
                                                             options.precision, options.max_rows, source);
            require_finite(out.points, {.file = source}, run);
        } else if (sparse_npz) {
            out.points = formats::parse_sparse_points(formats::read_bytes(location.file), options.precision,
                                                      options.max_rows, source, run.threads);
            require_finite(out.points, {.file = source}, run);
        } else {
            const Array array = read_array(location, Purpose::points, source, run);
            if (!array.note.empty()) out.notes.push_back({.problem = array.note, .file = source});
            out.points = formats::chosen_columns(
                formats::to_points(array, options.precision, options.max_rows, array.source, run.threads), options,
                array.source);
            if (!options.missing)
                require_finite(out.points,
                               {.remedy = options.advises ? points_of_fit().remedy : "", .file = array.source}, run);
        }
    }
    if (out.format.empty()) out.format = name(location.format);
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
    const Location location = locate(path);
    const std::string source = source_of(location);
    if (is_table(location.format))
        return formats::parse_table_labels(source_at(location.file, source, location.format), column, allow_blank,
                                           available_threads());
    if (!column.empty()) refuse_column(path, location.format);
    if (location.format == Format::libsvm) {
        PointsFile file = formats::parse_libsvm(formats::read_bytes_inflated(location.file), source, Precision::float32,
                                                -1, available_threads());
        return std::move(*file.labels);
    }
    const Array array = read_array(location, Purpose::labels, source);
    return formats::to_labels(array, allow_blank, array.source);
} catch (Error& error) {
    name_file(error, path);
    throw;
}

std::vector<double> numbers_of_file(const std::string& path, const std::string& column) try {
    const Location location = locate(path);
    const std::string source = source_of(location);
    if (is_table(location.format))
        return formats::parse_table_numbers(source_at(location.file, source, location.format), column,
                                            available_threads());
    if (!column.empty()) refuse_column(path, location.format);
    if (location.format == Format::libsvm)
        throw BadArgument(Code::wrong_type,
                          "a libsvm file holds rows of several values, but one value per row is needed", "",
                          {.file = path});
    const Array array = read_array(location, Purpose::labels, source);
    return formats::to_numbers(array, array.source);
} catch (Error& error) {
    name_file(error, path);
    throw;
}

// The files with one value per row, ordered by name like the files of the points.
std::vector<std::string> files_beside(const std::string& path, const std::vector<FilePart>& points) {
    std::vector<std::string> files = files_of(path);
    if (files.size() > 1 && !points.empty() && files.size() != points.size())
        throw BadData(Code::wrong_shape,
                      filled("{} files match, but the points are in {}", files.size(),
                             counted(static_cast<Index>(points.size()), "file")),
                      "Give one file for each of them, or one for all", {.file = path});
    return files;
}

// Among several array files, some may be empty.
bool has_no_rows(const std::string& file) {
    const Location location = locate(file);
    if (location.format != Format::npy && location.format != Format::idx) return false;
    const std::string source = source_of(location);
    const Array array = read_array(location, Purpose::labels, source);
    return !array.shape.empty() && array.shape.front() == 0;
}

void require_as_many(const std::string& file, std::size_t rows, std::size_t place,
                     const std::vector<FilePart>& points) {
    if (points.empty() || static_cast<Index>(rows) == points[place].rows) return;
    throw BadData(Code::wrong_shape,
                  filled("{}, but the corresponding file of points, {}, has {}",
                         counted(static_cast<Index>(rows), "row"), points[place].file, points[place].rows),
                  "", {.file = file});
}

}  // namespace

LabelColumn read_labels_file(const std::string& path, const std::string& column, bool allow_blank,
                             const std::vector<FilePart>& points) {
    const std::vector<std::string> files = files_beside(path, points);
    if (files.size() == 1) return labels_of_file(files.front(), column, allow_blank);
    // The same label may have different numbers in the files, so labels are matched by name.
    Labels all;
    std::vector<std::string> names;
    std::unordered_map<std::string, std::int32_t> numbers;
    for (std::size_t f = 0; f < files.size(); ++f) {
        const LabelColumn part = has_no_rows(files[f]) ? LabelColumn() : labels_of_file(files[f], column, allow_blank);
        require_as_many(files[f], part.labels.size(), f, points);
        std::vector<std::int32_t> number_of;
        for (const std::string& name : part.names) {
            const auto [found, added] = numbers.emplace(name, static_cast<std::int32_t>(names.size()));
            if (added) names.push_back(name);
            number_of.push_back(found->second);
        }
        for (const auto label : part.labels)
            all.push_back(label < 0 ? label : number_of.at(static_cast<std::size_t>(label)));
    }
    LabelColumn out = formats::labels_of_words({names.begin(), names.end()});
    for (auto& label : all)
        if (label >= 0) label = out.labels[static_cast<std::size_t>(label)];
    out.labels = std::move(all);
    return out;
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
