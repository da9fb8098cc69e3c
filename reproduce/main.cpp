// coterie-reproduce repeats the tables and figures of papers; `coterie-reproduce --help` lists them. It runs like the
// command (cli/program.hpp). Its subcommands are in reproduce.cpp.

#include "program.hpp"
#include "reproduce.hpp"

int main(int count, char** words) { return coterie::cli::run_program(coterie::cli::reproduce_command, count, words); }
