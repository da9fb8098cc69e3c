// coterie methods: prints the list of methods, or the options of one method.

#include "coterie/report/methods_document.hpp"

#include "commands.hpp"
#include "common.hpp"
#include "fitting.hpp"

namespace coterie::cli {
namespace {

struct MethodsRequest {
    std::string method;
    RunRequest running;
};

int list_methods(const MethodsRequest& request) {
    if (request.method.empty()) return print_document(request.running, {}, methods());
    refuse_method(request.method);
    print_document(request.running, {}, find_method(request.method));
    if (!request.running.json) print("\ncoterie fit " + request.method + " --help explains them.\n");
    return Exit::done;
}

}  // namespace

Command methods_command() {
    const auto request = std::make_shared<MethodsRequest>();
    Command command = command_of(request, "methods", "list the methods, or one method's options", "", list_methods);
    command.operands = {{"METHOD", "a method; without it, all methods are listed", false, Completion::choices,
                         names_of(methods()), [request](const std::string& word) { request->method = word; }}};
    command.flags = FlagList(request).running(request->running, {"--json"});
    command.examples = {{"coterie methods", "all methods, one per line"},
                        {"coterie methods kmeans --json", "the options of k-means, with kinds, ranges and defaults"}};
    return command;
}

}  // namespace coterie::cli
