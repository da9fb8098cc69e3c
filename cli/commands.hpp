#pragma once
// The subcommands, each described in its own file, and what is generated from their descriptions.

#include "command_line.hpp"

namespace coterie::cli {

/// The whole tree: coterie and all its subcommands.
Command root_command();

Command fit_command();
Command tune_command();
Command compare_command();
Command consensus_command();
Command predict_command();
Command describe_command();
Command transform_command();
Command evaluate_command();
Command geometry_command();
Command methods_command();
Command info_command();
Command data_command();
Command ner_command();

/// coterie(1) as troff with the man macros.
std::string man_page(const Command& root);

}  // namespace coterie::cli
