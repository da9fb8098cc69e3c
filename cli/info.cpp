// coterie info: prints what a model file contains. The file is read only once, because it may be standard input. It is
// loaded as a model before anything is printed, so a file that predict does not accept is an error here, too.

#include "commands.hpp"
#include "common.hpp"
#include "coterie/ner/result_document.hpp"
#include "coterie/report/model_document.hpp"

namespace coterie::cli {
namespace {

struct InfoRequest {
    std::string model;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

int show_model(const InfoRequest& request) {
    const std::string& source = request.model;
    Archive archive = Archive::load(source);
    if (archive.method() == "ner-tagger")
        print_document(*request.running, {},
                       ner::TaggerFile{source, ner::Tagger::from(archive, source), std::move(archive)});
    else
        print_document(*request.running, {}, ModelFile{source, Pipeline::from(archive, source), std::move(archive)});
    return Exit::done;
}

}  // namespace

Command info_command() {
    const auto request = std::make_shared<InfoRequest>();
    Command command;
    command.name = "info";
    command.summary = "show what a model file contains";
    command.operands = {text_operand("MODEL", "a file written by coterie fit --model-out, or - for standard input",
                                     request->model, request)};
    command.flags = run_flags(request->running, {"--json"});
    command.examples = {{"coterie info model.safetensors", "method, options, tensors"}};
    command.act = [request] { return show_model(*request); };
    return command;
}

}  // namespace coterie::cli
