// The entries come from catalogue.json, which is compiled into the library. This source finds the files of an entry;
// the readers of the io module parse them.

#include "coterie/data/catalogue.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "coterie/base/memory.hpp"
#include "coterie/base/own_place.hpp"
#include "coterie/data/internal/catalogue_json.hpp"
#include "coterie/io/json_text.hpp"

namespace coterie {
namespace {

using formats::refuse_file;
using internal::filled;

namespace fs = std::filesystem;

using Json = nlohmann::json;

// One part of a set: an array and the labels of its rows, each given as FILE or FILE:ARRAY. Parts are stacked in order.
struct ArrayPart {
    std::string points;
    std::string labels;
};

// A text file without a header, as in the UCI repository.
struct Table {
    char separator = ',';            // a blank means any run of blanks
    std::string columns;             // the coordinates, written as in ReadOptions: "2-8"
    std::vector<std::string> names;  // names of the coordinates
    Index label = 0;                 // label column, counted from 1
    std::vector<std::pair<std::string, std::string>>
        classes;  // pairs of the value in the file and the name of the class, in the order of the class numbers
};

// An entry and how to read it: from parts, from a table, or (with neither) as a csv with the column "label".
struct Source {
    CatalogueEntry entry;
    std::vector<ArrayPart> parts;
    std::optional<Table> table;
};

Source source_of(const Json& json) {
    Source out;
    CatalogueEntry& entry = out.entry;
    json.at("name").get_to(entry.name);
    json.at("title").get_to(entry.title);
    json.at("rows").get_to(entry.rows);
    json.at("columns").get_to(entry.columns);
    json.at("classes").get_to(entry.classes);
    json.at("licence").get_to(entry.licence);
    json.at("citation").get_to(entry.citation);
    json.at("homepage").get_to(entry.homepage);
    entry.by_hand = json.value("by_hand", "");
    entry.folder = entry.name;
    entry.shipped = json.value("shipped", false);
    for (const Json& file : json.at("files"))
        entry.files.push_back({.name = file.at("name"),
                               .url = file.value("url", ""),
                               .sha256 = file.at("sha256"),
                               .bytes = file.value("bytes", std::uint64_t{0})});
    for (const Json& part : json.value("parts", Json::array()))
        out.parts.push_back({.points = part.at("points"), .labels = part.at("labels")});
    if (json.contains("table")) {
        const Json& table = json.at("table");
        out.table = {.separator = table.at("separator").get<std::string>().at(0),
                     .columns = table.at("columns"),
                     .names = table.at("names"),
                     .label = table.at("label"),
                     .classes = table.at("classes")};
    }
    return out;
}

const std::vector<Source>& sources() {
    static const std::vector<Source> all = [] {
        std::vector<Source> out;
        try {
            for (const Json& entry : formats::parse_json(data::internal::catalogue_json, [](const std::string& reason) {
                     throw InternalError("coterie/data/catalogue.json " + reason);
                 }))
                out.push_back(source_of(entry));
        } catch (const Json::exception& error) {
            throw InternalError(std::string("coterie/data/catalogue.json: ") + error.what());
        }
        return out;
    }();
    return all;
}

fs::path from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? fs::path(value) : fs::path();
}

// Folders that exist and may hold the data that ship with coterie.
std::vector<fs::path> shipped_folders() {
    std::vector<fs::path> candidates;
    if (const fs::path share = from_environment("COTERIE_SHARE"); !share.empty()) {
        candidates.push_back(share / "data");
        candidates.push_back(share);
    }
    for (fs::path& folder : internal::own_data_folders()) candidates.push_back(std::move(folder));
    std::error_code ignored;
    std::erase_if(candidates, [&](const fs::path& folder) { return !fs::is_directory(folder, ignored); });
    return candidates;
}

std::string how_to_get(const CatalogueEntry& entry) {
    if (entry.shipped)
        return "It is part of coterie: set COTERIE_SHARE to the folder share/coterie of the installation, or "
               "COTERIE_DATA to the folder data of the source tree";
    if (std::all_of(entry.files.begin(), entry.files.end(), [](const auto& file) { return !file.url.empty(); }))
        return filled("Get it with 'coterie data get {}', or set COTERIE_DATA to the folder that holds {}/", entry.name,
                      entry.folder);
    return filled("Get it by hand ({}: {}) into the folder {}/ of $COTERIE_DATA or of the cache", entry.homepage,
                  entry.by_hand, entry.folder);
}

// ---- text tables

// Leaves out rows with an unknown value, "?": blanks them, so messages show the right lines.
formats::Bytes without_unknown_rows(const formats::Bytes& bytes) {
    const auto text = std::make_shared<std::string>(bytes.text(), bytes.size());
    for (std::size_t at = text->find('?'); at != std::string::npos; at = text->find('?', at)) {
        const std::size_t begin = text->rfind('\n', at) + 1;  // 0 if there is no '\n'
        const std::size_t count = std::min(text->find('\n', at), text->size()) - begin;
        text->replace(begin, count, count, ' ');
    }
    return {std::as_bytes(std::span(*text)), text};
}

// The line (from 1) of record `number` (from 0).
Index row_of(std::string_view text, std::size_t number) {
    for (Index row = 1;; ++row) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (text.substr(0, end).find_first_not_of(" \t\r") != std::string_view::npos && number-- == 0) return row;
        if (end == text.size()) return row;
        text.remove_prefix(end + 1);
    }
}

PointsFile read_table(const fs::path& path, const Table& table, const ReadOptions& options, const Run& run) {
    ReadOptions text_options;
    text_options.precision = options.precision;
    text_options.max_rows = options.max_rows;
    text_options.header = Header::no;
    text_options.separator = table.separator;
    text_options.columns = {table.columns};
    text_options.label_column = std::to_string(table.label);
    const formats::Bytes bytes = without_unknown_rows(formats::read_bytes(path.string()));
    PointsFile out;
    try {
        out = formats::parse_table({path.string(), bytes}, text_options, run.threads);
    } catch (const BadArgument& error) {  // the catalogue chose the columns, not the caller
        Message message = error.fields();
        if (message.file.empty()) message.file = path.string();
        throw BadData(std::move(message));
    }
    out.column_names = table.names;
    out.format = "text";
    // Numbers and names the classes as in the catalogue.
    LabelColumn& labels = out.labels.value();
    std::vector<std::int32_t> number;
    for (std::size_t k = 0; k < labels.names.size(); ++k) {
        const std::string& code = labels.names[k];
        const auto known = std::find_if(table.classes.begin(), table.classes.end(),
                                        [&](const auto& one) { return one.first == code; });
        if (known == table.classes.end()) {
            const auto first = std::find(labels.labels.begin(), labels.labels.end(), static_cast<std::int32_t>(k));
            const Index row =
                row_of({bytes.text(), bytes.size()}, static_cast<std::size_t>(first - labels.labels.begin()));
            throw BadData(
                Code::malformed, filled("'{}' is not one of the classes of this data set", formats::shown(code)), "",
                {.value = formats::shown(code), .file = path.string(), .line = row, .column_number = table.label});
        }
        number.push_back(static_cast<std::int32_t>(known - table.classes.begin()));
    }
    for (std::int32_t& label : labels.labels) label = number[static_cast<std::size_t>(label)];
    labels.names.clear();
    for (const auto& [code, name] : table.classes) labels.names.push_back(name);
    return out;
}

// ---- arrays

Points stacked(const std::vector<Points>& parts, const std::string& what) {
    if (parts.size() == 1) return parts.front();
    Index rows = 0;
    for (const Points& part : parts) {
        rows += part.rows();
        if (part.columns() != parts.front().columns())
            throw BadData(Code::wrong_shape, filled("the training part of {} has {}, the test part {}", what,
                                                    counted(parts.front().columns(), "column"), part.columns()));
    }
    const Index columns = parts.front().columns();
    return parts.front().view().visit([&]<class Scalar>(Rows<Scalar>) {
        require_memory(static_cast<double>(rows) * static_cast<double>(columns) * sizeof(Scalar), what);
        Matrix<Scalar> all(rows, columns);
        Index begin = 0;
        for (const Points& part : parts) {
            all.middleRows(begin, part.rows()) =
                part.view().visit([](auto block) -> Matrix<Scalar> { return block.matrix().template cast<Scalar>(); });
            begin += part.rows();
        }
        return Points(std::move(all));
    });
}

PointsFile read_parts(const fs::path& folder, const Source& source, const ReadOptions& options, const Run& run) {
    std::vector<Points> points;
    std::vector<LabelColumn> labels;
    PointsFile out;
    Index rows = 0;
    for (const ArrayPart& part : source.parts) {
        run.throw_if_stopped_here("reading");
        ReadOptions part_options;
        part_options.precision = options.precision;
        if (options.max_rows >= 0) {
            part_options.max_rows = options.max_rows - rows;
            if (part_options.max_rows == 0 && !points.empty()) break;
        }
        PointsFile read = read_points_file((folder / part.points).string(), part_options, run);
        LabelColumn truth = read_labels_file((folder / part.labels).string());
        const auto labelled = static_cast<Index>(truth.labels.size());
        if (options.max_rows < 0 ? labelled != read.points.rows() : labelled < read.points.rows())
            refuse_file((folder / part.labels).string(), Code::wrong_shape,
                        counted(labelled, "label") + " for " + counted(read.points.rows(), "row"));
        truth.labels.resize(static_cast<std::size_t>(read.points.rows()));
        rows += read.points.rows();
        out.format = read.format;
        points.push_back(std::move(read.points));
        labels.push_back(std::move(truth));
    }
    out.points = stacked(points, "data set " + source.entry.name);
    out.labels = formats::joined_labels(labels);
    return out;
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
    static const std::vector<CatalogueEntry> entries = [] {
        std::vector<CatalogueEntry> out;
        for (const Source& source : sources()) out.push_back(source.entry);
        return out;
    }();
    return entries;
}

const CatalogueEntry& find_data(std::string_view name) {
    std::string names;
    for (const CatalogueEntry& entry : catalogue()) {
        if (entry.name == name) return entry;
        names += (names.empty() ? "" : ", ") + entry.name;
    }
    throw BadArgument(Code::unknown_name, filled("there is no data set '{}' in the catalogue", name),
                      "Use one of " + names, {.value = std::string(name), .accepted = "one of " + names});
}

fs::path cache_folder() {
    if (const fs::path cache = from_environment("XDG_CACHE_HOME"); !cache.empty()) return cache / "coterie";
    if (const fs::path home = from_environment("HOME"); !home.empty()) return home / ".cache" / "coterie";
    return {};
}

std::vector<fs::path> data_folders() {
    std::vector<fs::path> out;
    for (const fs::path& folder : {from_environment("COTERIE_DATA"), cache_folder()})
        if (!folder.empty()) out.push_back(folder);
    for (fs::path& folder : shipped_folders()) out.push_back(std::move(folder));
    return out;
}

fs::path locate_data(const CatalogueEntry& entry) {
    const auto holds_all = [&](const fs::path& folder) {
        return std::all_of(entry.files.begin(), entry.files.end(), [&](const CatalogueFile& file) {
            std::error_code failed;
            const fs::path path = folder / file.name;
            if (!fs::is_regular_file(path, failed) || failed) return false;
            return !entry.shipped || (fs::file_size(path, failed) == file.bytes && !failed);
        });
    };
    std::vector<fs::path> folders = entry.shipped ? shipped_folders() : std::vector<fs::path>{};
    for (fs::path& folder : data_folders()) folders.push_back(std::move(folder));
    for (const fs::path& folder : folders)
        if (holds_all(folder / entry.folder)) return folder / entry.folder;
    return {};
}

PointsFile read_data(std::string_view name, const ReadOptions& options, const Run& run) {
    const CatalogueEntry& entry = find_data(name);
    const Source& source = sources()[static_cast<std::size_t>(&entry - catalogue().data())];
    const fs::path folder = locate_data(entry);
    if (folder.empty())
        throw BadData(Code::not_found, filled("data set '{}' is not on this machine", entry.name), how_to_get(entry));

    const bool csv = source.parts.empty() && !source.table;
    if (!csv && (!options.columns.empty() || !options.label_column.empty()))
        throw BadArgument(Code::not_supported,
                          filled("the catalogue fixes the columns and labels of data set '{}'", entry.name),
                          "Leave out `columns` and `label_column`; they apply to the sets that ship as csv",
                          {.option = options.columns.empty() ? "label_column" : "columns"});
    PointsFile out;
    if (csv) {
        ReadOptions csv_options = options;
        csv_options.header = Header::yes;
        csv_options.separator = ',';
        if (csv_options.label_column.empty()) csv_options.label_column = "label";
        out = read_points_file((folder / entry.files.front().name).string(), csv_options, run);
    } else if (source.table) {
        out = read_table(folder / entry.files.front().name, *source.table, options, run);
    } else {
        out = read_parts(folder, source, options, run);
    }

    const Index rows = options.max_rows < 0 ? entry.rows : std::min(entry.rows, options.max_rows);
    const bool whole_rows = options.columns.empty() && options.exclude.empty() && options.id_column.empty() &&
                            (options.label_column.empty() || options.label_column == "label");
    if (out.points.rows() != rows || (whole_rows && out.points.columns() != entry.columns))
        refuse_file(folder.string(), Code::wrong_shape,
                    filled("{} of {}, but data set '{}' has {} of {}", counted(out.points.rows(), "row"),
                           counted(out.points.columns(), "column"), entry.name, rows, entry.columns),
                    "Get the files again");
    return out;
}

}  // namespace coterie
