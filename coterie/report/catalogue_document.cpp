// Looks for the files of entries in the data folders each time, and caches nothing.

#include "coterie/report/catalogue_document.hpp"

#include <algorithm>

#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

// Whether the entry can be downloaded; otherwise only by hand.
bool has_download(const CatalogueEntry& entry) {
    return !entry.files.empty() &&
           std::none_of(entry.files.begin(), entry.files.end(), [](const auto& file) { return file.url.empty(); });
}

std::string place_text(const CatalogueEntry& entry) {
    if (!locate_data(entry).empty()) return entry.shipped ? "ships with coterie" : "here";
    return has_download(entry) ? "coterie data get " + entry.name : "manual download: coterie data show " + entry.name;
}

// Where the files of one entry are, or how to get them.
std::string place_in_full(const CatalogueEntry& entry) {
    const auto folder = locate_data(entry);
    if (!folder.empty()) return folder.string();
    if (has_download(entry)) return "not on this machine: " + place_text(entry);
    std::vector<std::string> folders;
    for (const auto& each : data_folders()) folders.push_back((each / entry.folder).string());
    return "not on this machine: download it from the homepage and put its files into one of " + join(folders);
}

Json json_of_entry(const CatalogueEntry& entry) {
    const auto folder = locate_data(entry);
    Json out;
    out["name"] = entry.name;
    out["title"] = entry.title;
    out["rows"] = entry.rows;
    out["columns"] = entry.columns;
    out["classes"] = entry.classes;
    out["licence"] = entry.licence;
    out["citation"] = entry.citation;
    out["homepage"] = entry.homepage;
    out["shipped"] = entry.shipped;
    out["here"] = !folder.empty();
    out["folder"] = or_null(folder.string());
    out["files"] = Json::array();
    for (const auto& file : entry.files)
        out["files"].push_back(
            {{"name", file.name}, {"url", file.url}, {"sha256", file.sha256}, {"bytes", file.bytes}});
    return out;
}

}  // namespace

std::string text_document(const std::vector<CatalogueEntry>& entries) {
    TextRows rows;
    for (const auto& entry : entries)
        rows.push_back({"data:" + entry.name, count_text(entry.rows), count_text(entry.columns),
                        std::to_string(entry.classes), entry.title, place_text(entry)});
    return table({"name", "rows", "columns", "classes", "what it is", "where it is"}, rows, {1, 2, 3});
}

std::string json_document(const std::vector<CatalogueEntry>& entries) {
    Json out = new_document();
    out["data"] = Json::array();
    for (const auto& entry : entries) out["data"].push_back(json_of_entry(entry));
    return document(out);
}

std::string text_document(const CatalogueEntry& entry) {
    TextRows files;
    for (const auto& file : entry.files)
        files.push_back({file.name, file.bytes > 0 ? bytes_text(static_cast<double>(file.bytes)) : "", file.url});
    return facts({{"name", "data:" + entry.name},
                  {"what", entry.title},
                  {"size", count_text(entry.rows) + " rows of " + count_text(entry.columns) + " columns, " +
                               std::to_string(entry.classes) + " classes"},
                  {"licence", entry.licence},
                  {"citation", entry.citation},
                  {"homepage", entry.homepage},
                  {"where", place_in_full(entry)}}) +
           "\n" + table({"file", "size", "from"}, files, {1});
}

std::string json_document(const CatalogueEntry& entry) {
    Json out = new_document();
    out.update(json_of_entry(entry));
    return document(out);
}

std::string text_document(const CatalogueEntry& entry, const std::filesystem::path& folder) {
    return entry.name + " is in " + folder.string() + "\n";
}

std::string json_document(const CatalogueEntry& entry, const std::filesystem::path& folder) {
    Json out = new_document();
    out["name"] = entry.name;
    out["folder"] = folder.string();
    out["files"] = Json::array();
    for (const auto& file : entry.files) out["files"].push_back((folder / file.name).string());
    return document(out);
}

}  // namespace coterie
