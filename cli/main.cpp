// coterie, the command: `coterie --help` says what it does.

#include <memory>
#include <string>

#include "commands.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

Command completion_command() {
    Command bash;
    bash.name = "bash";
    bash.summary = "print a completion script for bash";
    bash.act = [] {
        print(bash_completion(root_command()));
        return static_cast<int>(Exit::done);
    };
    bash.examples = {
        {"source <(coterie completion bash)", "complete commands, methods, options and data sets in this shell"}};
    Command command;
    command.name = "completion";
    command.summary = "print a completion script for a shell";
    command.commands_are = "SHELL";
    command.commands = {std::move(bash)};
    return command;
}

Command man_command() {
    Command command;
    command.name = "man";
    command.summary = "print the manual page as troff";
    command.act = [] {
        print(man_page(root_command()));
        return static_cast<int>(Exit::done);
    };
    command.examples = {{"coterie man | man -l -", "read it"}};
    return command;
}

}  // namespace

Command root_command() {
    const auto version = std::make_shared<bool>(false);
    Command root;
    root.name = "coterie";
    root.summary = "find groups in data whose plain distances hide them";
    root.details =
        "Points go in, clusters come out: fit finds them, tune chooses a method's options, predict labels new points "
        "with a saved model, evaluate "
        "scores labels against a "
        "truth. Results go to standard output, as a short table or, with --json, as one JSON document; everything else "
        "goes to "
        "standard error. The same seed gives the same labels, whatever the number of threads.";
    root.commands_are = "COMMAND";
    root.commands = {fit_command(),      tune_command(),       predict_command(), transform_command(),
                     evaluate_command(), methods_command(),    info_command(),    data_command(),
                     geometry_command(), completion_command(), man_command()};
    Flag flag;
    flag.name = "--version";
    flag.meaning = "print the version";
    flag.group = "Options";
    flag.take = [version](const std::string&) { *version = true; };
    root.flags = {std::move(flag)};
    root.examples = {
        {"coterie fit kmeans data:digits -k 10 --model-out model.safetensors", "fit, score, save"},
        {"coterie predict model.safetensors data:digits --labels-out labels.csv", "label points with the saved model"},
        {"coterie evaluate labels.csv data:digits", "score labels against the truth"}};
    root.act = [version] {
        if (!*version)
            throw UsageError("coterie needs a COMMAND, such as fit, predict or methods", "see coterie --help");
        print("coterie " COTERIE_VERSION "\n");
        return static_cast<int>(Exit::done);
    };
    return root;
}

}  // namespace coterie::cli

int main(int count, char** words) { return coterie::cli::run_program(coterie::cli::root_command, count, words); }
