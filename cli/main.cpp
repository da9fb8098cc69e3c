// coterie, the command: `coterie --help` says what it does.

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/error.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

// A message is one line, whatever file names it quotes.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text;
}

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::bad_argument: return Exit::usage;
        case ErrorKind::bad_data: return Exit::bad_data;
        case ErrorKind::resource: return Exit::failure;
        case ErrorKind::cancelled: return Exit::interrupted;
        case ErrorKind::internal: return Exit::failure;
    }
    return Exit::failure;
}

int run(const std::vector<std::string>& words) {
    try {
        return run_command_line(root_command(), words);
    } catch (const UsageError& error) {
        print_error(one_line(error.message()));
        print_hint(one_line(error.hint));
        return Exit::usage;
    } catch (const Error& error) {
        print_error(one_line(error.message()));
        if (error.kind() == ErrorKind::internal) print_hint("this is a fault of coterie itself; please report it");
        return exit_code(error.kind());
    } catch (const std::bad_alloc&) {
        print_error("there is not enough memory");
        return Exit::failure;
    } catch (const std::exception& error) {
        print_error(one_line(error.what()));
        print_hint("this is a fault of coterie itself; please report it");
        return Exit::failure;
    }
}

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
    root.commands = {fit_command(),      tune_command(),      predict_command(),    transform_command(),
                     evaluate_command(), methods_command(),   info_command(),       data_command(),
                     geometry_command(), reproduce_command(), completion_command(), man_command()};
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

// Threads that spin while they wait for work slow everything down when the processors are shared with other programs.
// libgomp reads how long to spin when it is loaded, so it must be said before: the program starts itself once more.
// Without /proc it goes on as it is.
static void wait_asleep(char** words) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
    ::setenv("GOMP_SPINCOUNT", "20000", 0);
    ::execv("/proc/self/exe", words);
}

int main(int count, char** words) {
    // Only what computes needs it; --help, --version and the like stay instant.
    if (count > 1 && words[1][0] != '-') wait_asleep(words);
    coterie::cli::prepare_signals();
    return coterie::cli::run(std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
}
