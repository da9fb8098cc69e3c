// coterie data: prints the catalogue as a table, prints one entry in full, or downloads one. Only `get` uses the
// network. `list` and `show` look for the files in the data folders each time and cache nothing.

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct DataRequest {
    std::string name;
    std::string folder;
    std::string base_url;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

const CatalogueEntry& entry_called(const std::string& given) {
    const std::string name = given.rfind("data:", 0) == 0 ? given.substr(5) : given;
    std::vector<std::string> names;
    for (const auto& entry : catalogue()) names.push_back(entry.name);
    return find_or_suggest(name, names, "See coterie data list", "", find_data);
}

// Whether the entry can be downloaded; otherwise only by hand.
bool has_download(const CatalogueEntry& entry) {
    for (const auto& file : entry.files)
        if (file.url.empty()) return false;
    return !entry.files.empty();
}

std::string where(const CatalogueEntry& entry) {
    const auto folder = locate_data(entry);
    if (!folder.empty()) return entry.shipped ? "ships with coterie" : "here";
    return has_download(entry) ? "coterie data get " + entry.name : "manual download: coterie data show " + entry.name;
}

Json json_of(const CatalogueEntry& entry) {
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
    out["folder"] = folder.empty() ? Json(nullptr) : Json(folder.string());
    out["files"] = Json::array();
    for (const auto& file : entry.files)
        out["files"].push_back(
            {{"name", file.name}, {"url", file.url}, {"sha256", file.sha256}, {"bytes", file.bytes}});
    return out;
}

int list(const DataRequest& request) {
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["data"] = Json::array();
        for (const auto& entry : catalogue()) out["data"].push_back(json_of(entry));
        print(document(out));
        return Exit::done;
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& entry : catalogue())
        rows.push_back({"data:" + entry.name, count_text(entry.rows), count_text(entry.columns),
                        std::to_string(entry.classes), entry.title, where(entry)});
    print(table({"name", "rows", "columns", "classes", "what it is", "where it is"}, rows, {1, 2, 3}));
    return Exit::done;
}

int show(const DataRequest& request) {
    const auto& entry = entry_called(request.name);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out.update(json_of(entry));
        print(document(out));
        return Exit::done;
    }
    const auto folder = locate_data(entry);
    std::vector<std::pair<std::string, std::string>> rows = {
        {"name", "data:" + entry.name},
        {"what", entry.title},
        {"size", count_text(entry.rows) + " rows of " + count_text(entry.columns) + " columns, " +
                     std::to_string(entry.classes) + " classes"},
        {"licence", entry.licence},
        {"citation", entry.citation},
        {"homepage", entry.homepage},
        {"where", folder.empty() ? "not on this machine: " + where(entry) : folder.string()}};
    if (folder.empty() && !has_download(entry)) {
        std::string folders;
        for (const auto& each : data_folders())
            folders += (folders.empty() ? "" : ", ") + (each / entry.folder).string();
        rows.back().second =
            "not on this machine: download it from the homepage and put its files into one of " + folders;
    }
    std::vector<std::vector<std::string>> files;
    for (const auto& file : entry.files)
        files.push_back({file.name, file.bytes > 0 ? bytes_text(static_cast<double>(file.bytes)) : "",
                         file.url.empty() ? "" : file.url});
    print(facts(rows) + "\n" + table({"file", "size", "from"}, files, {1}));
    return Exit::done;
}

int get(const DataRequest& request) {
    const auto& entry = entry_called(request.name);
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    const auto folder = get_data(entry, request.folder, run, request.base_url);
    bar.clear();
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["name"] = entry.name;
        out["folder"] = folder.string();
        out["files"] = Json::array();
        for (const auto& file : entry.files) out["files"].push_back((folder / file.name).string());
        print(document(out));
    } else {
        print(entry.name + " is in " + folder.string() + "\n");
    }
    return Exit::done;
}

Command subcommand(const std::shared_ptr<DataRequest>& request, const std::string& name, const std::string& summary,
                   bool named, int (*act)(const DataRequest&)) {
    Command command;
    command.name = name;
    command.summary = summary;
    if (named)
        command.operands = {text_operand("NAME", "a data set; coterie data list shows the names", request->name,
                                         request, Completion::data_name)};
    command.act = [request, act] { return act(*request); };
    return command;
}

}  // namespace

Command data_command() {
    const auto request = std::make_shared<DataRequest>();
    Command command;
    command.name = "data";
    command.summary = "list, show and download data sets";
    command.details =
        "Small data sets ship with coterie. For large public ones, the catalogue has the source, the checksum and the "
        "format. Every command that reads data accepts data:NAME, and uses its truth.";
    command.commands_are = "COMMAND";
    command.commands = {
        subcommand(request, "list", "list the data sets, and where they are", false, list),
        subcommand(request, "show", "show one data set: size, licence, citation, files", true, show),
        subcommand(request, "get", "download one data set and verify it; resumes an interrupted download", true, get)};
    command.commands[0].flags = run_flags(request->running, {"--json"});
    command.commands[0].examples = {{"coterie data list", "all data sets"}};
    command.commands[1].flags = run_flags(request->running, {"--json"});
    command.commands[1].examples = {{"coterie data show digits", "what it is, its source and how to cite it"}};
    command.commands[2].flags = {
        text_flag("--folder", "FOLDER", "folder to download into; default: the user's cache", "Downloading",
                  request->folder, request, Completion::file),
        text_flag("--base-url", "URL", "address of a mirror; it replaces everything before the file name",
                  "Downloading", request->base_url, request)};
    append(command.commands[2].flags, run_flags(request->running, {"--quiet", "--json"}));
    command.commands[2].examples = {
        {"coterie data get mnist", "download it into the user's cache, where data:mnist finds it"}};
    return command;
}

}  // namespace coterie::cli
