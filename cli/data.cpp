// coterie data: prints the catalogue as a table, prints one entry in full, or downloads one. Only `get` uses the
// network.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/report/catalogue_document.hpp"

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
    return find_or_suggest(name, names_of(catalogue()), "See coterie data list", "", find_data);
}

int list_data(const DataRequest& request) {
    print_document(*request.running, {}, CatalogueList());
    return Exit::done;
}

int show_data(const DataRequest& request) {
    print_document(*request.running, {}, CatalogueRecord{entry_called(request.name)});
    return Exit::done;
}

int download_data(const DataRequest& request) {
    const auto& entry = entry_called(request.name);
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    const CatalogueCopy copy{entry, get_data(entry, request.folder, run, request.base_url)};
    bar.clear();
    print_document(*request.running, {}, copy);
    return Exit::done;
}

Command data_subcommand(const std::shared_ptr<DataRequest>& request, const std::string& name,
                        const std::string& summary, bool named, int (*act)(const DataRequest&)) {
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
        data_subcommand(request, "list", "list the data sets, and where their files are", false, list_data),
        data_subcommand(request, "show", "show one data set: size, licence, citation, files", true, show_data),
        data_subcommand(request, "get", "download one data set and verify it; resumes an interrupted download", true,
                        download_data)};
    command.commands[0].flags = run_flags(request->running, {"--json"});
    command.commands[0].examples = {{"coterie data list", "all data sets"}};
    command.commands[1].flags = run_flags(request->running, {"--json"});
    command.commands[1].examples = {{"coterie data show digits", "what it is, its source and how to cite it"}};
    command.commands[2].flags =
        FlagList(request)
            .file("--folder", "FOLDER", "folder to download into; default: the user's cache", "Downloading",
                  request->folder)
            .text("--base-url", "URL", "address of a mirror; it replaces everything before the file name",
                  "Downloading", request->base_url)
            .running(request->running, {"--quiet", "--json"});
    command.commands[2].examples = {
        {"coterie data get mnist", "download it into the user's cache, where data:mnist finds it"}};
    return command;
}

}  // namespace coterie::cli
