#pragma once
// The papers' tables, each described in a file of its own.

#include "command_line.hpp"

namespace coterie::cli {

Command reproduce_cpd_uml_command();
Command reproduce_max_margin_command();
Command reproduce_trefoil_lambda_command();
Command reproduce_trefoil_n_command();
Command reproduce_two_moons_command();

}  // namespace coterie::cli
