// coterie info. The file is read only once, because it may be standard input. It is loaded as a model before anything
// is printed, so a file that predict does not accept is an error here, too.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/ner/result_document.hpp"
#include "coterie/report/model_document.hpp"

namespace coterie::cli {
namespace {

struct InfoRequest {
    std::string model;
    RunRequest running;
};

int show_model(const InfoRequest& request) {
    const std::string& source = request.model;
    const Archive archive = Archive::load(source);
    if (archive.method() == "ner-tagger")
        return print_document(request.running, {}, source, ner::Tagger::from(archive, source), archive);
    return print_document(request.running, {}, source, Pipeline::from(archive, source), archive);
}

}  // namespace

Command info_command() {
    const auto request = std::make_shared<InfoRequest>();
    Command command = command_of(request, "info", "show what a model file contains", "", show_model);
    command.operands = {text_operand("MODEL", "a file written by coterie fit --model-out, or - for standard input",
                                     request->model, request)};
    command.flags = FlagList(request).running(request->running, {"--json"});
    command.examples = {{"coterie info model.safetensors", "method, options, tensors"}};
    return command;
}

}  // namespace coterie::cli
