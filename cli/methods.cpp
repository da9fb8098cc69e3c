// coterie methods: prints the list of methods, or the options of one method. coterie/report/methods_document.cpp makes
// the text and the JSON.

#include "coterie/report/methods_document.hpp"

#include "commands.hpp"
#include "common.hpp"
#include "fitting.hpp"

namespace coterie::cli {
namespace {

struct MethodsRequest {
    std::string method;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

int list_methods(const MethodsRequest& request) {
    MethodList list{{}, request.method.empty()};
    if (!list.all) refuse_method(request.method);
    for (const auto& method : methods())
        if (list.all || method.name == request.method) list.methods.push_back(&method);
    print_document(*request.running, {}, list);
    if (!list.all && !request.running->json) print("\ncoterie fit " + request.method + " --help explains them.\n");
    return Exit::done;
}

}  // namespace

Command methods_command() {
    const auto request = std::make_shared<MethodsRequest>();
    Command command;
    command.name = "methods";
    command.summary = "list the methods, or one method's options";
    command.operands = {{"METHOD", "a method; without it, all methods are listed", false, Completion::choices,
                         names_of(methods()), [request](const std::string& word) { request->method = word; }}};
    command.flags = run_flags(request->running, {"--json"});
    command.examples = {{"coterie methods", "all methods, one per line"},
                        {"coterie methods kmeans --json", "the options of k-means, with kinds, ranges and defaults"}};
    command.act = [request] { return list_methods(*request); };
    return command;
}

}  // namespace coterie::cli
