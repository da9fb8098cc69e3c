#include "reproduce.hpp"

#include "commands.hpp"

namespace coterie::cli {

Command reproduce_command() {
    Command command;
    command.name = "reproduce";
    command.summary = "measure a paper's tables and figures here, beside what was published";
    command.details =
        "Runs the protocol of a paper on the data that it used, where these are at hand (COTERIE_DATA), and prints "
        "what "
        "was measured in the paper's form, with the published figures beside it.";
    command.commands_are = "NAME";
    command.commands = {reproduce_cpd_uml_command(), reproduce_max_margin_command(), reproduce_trefoil_lambda_command(),
                        reproduce_trefoil_n_command(), reproduce_two_moons_command()};
    command.examples = {{"coterie reproduce cpd-uml --runs 3 --sets ecoli", "a quick look at one data set"}};
    return command;
}

}  // namespace coterie::cli
