#pragma once
// The frame of a program: see program.cpp.

#include "command_line.hpp"
#include "coterie/base/parallel/processes.hpp"

namespace coterie::cli {

/// Runs the command and returns the exit code for main. An error is printed on standard error, and its kind gives the
/// code.
int run_program(Command (*root)(), int count, char** words);

/// The command line that started the program, quoted for a shell, and the current time as 2026-11-23T10:00:00Z.
const std::string& command_text();
std::string date_text();

/// The processes that mpirun started. The first call joins them; they are left when the program ends. If one process
/// fails, all end.
std::shared_ptr<Processes> join_started_processes();

}  // namespace coterie::cli
