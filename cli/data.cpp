// coterie data: lists, shows and downloads data sets. Only `get` uses the network.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/report/catalogue_document.hpp"

namespace coterie::cli {
namespace {

struct DataRequest {
    std::string name;
    std::string folder;
    std::string base_url;
    RunRequest running;
};

const CatalogueEntry& entry_called(const std::string& given) {
    const std::string name = given.starts_with("data:") ? given.substr(5) : given;
    return find_or_suggest(name, names_of(catalogue()), "See coterie data list", "", find_data);
}

int list_data(const DataRequest& request) { return print_document(request.running, {}, catalogue()); }

int show_data(const DataRequest& request) { return print_document(request.running, {}, entry_called(request.name)); }

int download_data(const DataRequest& request) {
    const auto& entry = entry_called(request.name);
    Run run = request.running.run();
    ProgressBar bar(run, request.running.quiet);
    const InterruptGuard guard(run);
    const std::filesystem::path folder = get_data(entry, request.folder, run, request.base_url);
    bar.clear();
    return print_document(request.running, {}, entry, folder);
}

}  // namespace

Command data_command() {
    const auto request = std::make_shared<DataRequest>();
    Command list = command_of(request, "list", "list the data sets, and where their files are", "", list_data);
    list.flags = FlagList(request).running(request->running, {"--json"});
    list.examples = {{"coterie data list", "all data sets"}};
    const Operand name = text_operand("NAME", "a data set; coterie data list shows the names", request->name, request,
                                      Completion::data_name);
    Command show = command_of(request, "show", "show one data set: size, licence, citation, files", "", show_data);
    show.operands = {name};
    show.flags = list.flags;
    show.examples = {{"coterie data show digits", "what it is, its source and how to cite it"}};
    Command get = command_of(request, "get", "download one data set and verify it; resumes an interrupted download", "",
                             download_data);
    get.operands = {name};
    get.flags = FlagList(request)
                    .file("--folder", "FOLDER", "folder to download into; default: the user's cache", "Downloading",
                          request->folder)
                    .text("--base-url", "URL", "address of a mirror; it replaces everything before the file name",
                          "Downloading", request->base_url)
                    .running(request->running, {"--quiet", "--json"});
    get.examples = {{"coterie data get mnist", "download it into the user's cache, where data:mnist finds it"}};
    return {.name = "data",
            .summary = "list, show and download data sets",
            .details =
                "Small data sets ship with coterie. For large public ones, the catalogue has the source, the checksum "
                "and the format. Every command that reads data accepts data:NAME, and uses its truth.",
            .commands_are = "COMMAND",
            .commands = {list, show, get}};
}

}  // namespace coterie::cli
