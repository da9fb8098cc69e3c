#pragma once
// The frame of a program: see program.cpp.

#include "command_line.hpp"

namespace coterie::cli {

/// What main returns: the commands' exit code, or that of the error that ended them, which is told on standard error.
int run_program(Command (*root)(), int count, char** words);

}  // namespace coterie::cli
