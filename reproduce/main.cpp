// coterie-reproduce, the papers' tables and figures measured here: `coterie-reproduce --help` says which. Its frame is
// that of the command (cli/program.hpp), its commands are in reproduce.cpp.

#include "program.hpp"
#include "reproduce.hpp"

int main(int count, char** words) { return coterie::cli::run_program(coterie::cli::reproduce_command, count, words); }
