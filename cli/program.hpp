#pragma once
// The frame of a program: see program.cpp.

#include <memory>
#include <string>

#include "command_line.hpp"
#include "coterie/base/parallel/processes.hpp"

namespace coterie::cli {

/// What main returns: the commands' exit code, or that of the error that ended them, which is told on standard error.
int run_program(Command (*root)(), int count, char** words);

/// The words that started the program, as a shell reads them; and the time, as 2026-11-23T10:00:00Z.
const std::string& command_text();
std::string date_text();

/// Of the processes that mpirun has started: joined at the first call, left when the program ends; where one of them
/// fails, all end.
std::shared_ptr<Processes> join_started_processes();

}  // namespace coterie::cli
