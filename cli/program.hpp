#pragma once
// The frame of a program: see program.cpp.

#include <memory>
#include <string>

#include "command_line.hpp"
#include "coterie/base/parallel/processes.hpp"

namespace coterie::cli {

/// The return value of main: the command's exit code, or that of the error that ended it, which is printed on standard
/// error.
int run_program(Command (*root)(), int count, char** words);

/// The command line that started the program, quoted for a shell. And the time, as 2026-11-23T10:00:00Z.
const std::string& command_text();
std::string date_text();

/// The processes that mpirun started. They are joined at the first call and left when the program ends. When one of
/// them fails, all end.
std::shared_ptr<Processes> join_started_processes();

}  // namespace coterie::cli
