// The root of the command, and the commands that print its description for shells and the manual.

#include <iostream>

#include "commands.hpp"
#include "completion.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

Command shell_command(const char* shell, std::string (*script)(), const std::string& use, const std::string& keep) {
    return {.name = shell,
            .summary = std::string("print a completion script for ") + shell,
            .examples = {{use, "complete commands, methods, options and data sets in this shell"},
                         {keep, "the same in every later shell"}},
            .act = [script] {
                print(script());
                return Exit::done;
            }};
}

Command words_command() {
    return {.name = "words",
            .summary = "print the words that can come next, for the completion scripts",
            .details =
                "Reads the words of a command line from standard input, one per line, without the program's name. The "
                "last word is the one at the cursor and may be empty. Prints one line per suggestion: the word, a tab, "
                "its meaning. The line :files means that file names are possible.",
            .examples = {{"printf '%s\\n' fit km | coterie completion words", "all methods, each with what it does"}},
            .act = [] {
                std::vector<std::string> words;
                for (std::string word; std::getline(std::cin, word);) words.push_back(word);
                print(offers_text(offers_for(root_command(), words)));
                return Exit::done;
            }};
}

Command completion_command() {
    return {.name = "completion",
            .summary = "print a completion script for a shell",
            .commands_are = "SHELL",
            .commands = {shell_command("bash", bash_completion, "source <(coterie completion bash)",
                                       "coterie completion bash > ~/.local/share/bash-completion/completions/coterie"),
                         shell_command("zsh", zsh_completion, "source <(coterie completion zsh)",
                                       "coterie completion zsh > \"${fpath[1]}/_coterie\""),
                         shell_command("fish", fish_completion, "coterie completion fish | source",
                                       "coterie completion fish > ~/.config/fish/completions/coterie.fish"),
                         words_command()}};
}

Command man_command() {
    return {.name = "man",
            .summary = "print the manual page as troff",
            .examples = {{"coterie man | man -l -", "show the manual page"}},
            .act = [] {
                print(man_page(root_command()));
                return Exit::done;
            }};
}

}  // namespace

Command root_command() {
    const auto version = std::make_shared<bool>(false);
    Command root;
    root.name = "coterie";
    root.summary = "find clusters that ordinary distances miss";
    root.details =
        "fit finds clusters in a table, tune chooses a method's options, predict labels new rows with a saved model, "
        "describe shows what sets clusters apart, and evaluate scores labels against a truth. Results go to standard "
        "output: a short table, or one JSON document with --json. Everything else goes to standard error. The same "
        "seed gives the same labels, whatever the number of threads.";
    root.commands_are = "COMMAND";
    root.commands = {fit_command(),     tune_command(),       compare_command(),   consensus_command(),
                     predict_command(), describe_command(),   transform_command(), evaluate_command(),
                     methods_command(), info_command(),       data_command(),      geometry_command(),
                     ner_command(),     completion_command(), man_command()};
    root.flags = {{.name = "--version",
                   .meaning = "print the version",
                   .group = "Options",
                   .take = [version](const std::string&) { *version = true; }}};
    root.examples = {
        {"coterie fit kmeans data:digits -k 10 --model-out model.safetensors",
         "find 10 clusters, score them, save the model"},
        {"coterie predict model.safetensors data:digits --labels-out labels.csv", "label rows with the saved model"},
        {"coterie evaluate labels.csv data:digits", "score labels against the truth"}};
    root.act = [version] {
        if (!*version)
            throw BadArgument(Code::missing_argument, "coterie needs a COMMAND, such as fit, predict or methods",
                              "See coterie --help");
        print("coterie " COTERIE_VERSION "\n");
        return Exit::done;
    };
    return root;
}

}  // namespace coterie::cli

int main(int count, char** words) { return coterie::cli::run_program(coterie::cli::root_command, count, words); }
