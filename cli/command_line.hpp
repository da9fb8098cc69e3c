#pragma once
// What the command accepts is described once, as data. Parsing, --help, the man page and shell completion all read that
// description, so that none of them can say something the others do not. A method's options come in the same way, from
// its OptionSet.
//
// CLI11 is not used: of what stands here it could take over the words of a line (110 lines of command_line.cpp), while
// its help, its suggestions and its messages would be replaced by these again, and a description in its terms could not
// feed the manual page, the completion and the reference. Fits that are run again have a script, or tune's grid.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/options.hpp"

namespace coterie::cli {

/// What a shell offers for a word.
enum class Completion { nothing, choices, file, points, data_name };

struct Flag {
    std::string name;      // "--labels-out"
    std::string former;    // a name that it had before: accepted, not shown
    char letter = 0;       // 'k': -k is the same
    std::string value;     // placeholder, "FILE"; empty: a switch, which also takes =true and =false
    std::string meaning;   // one sentence
    std::string accepted;  // "a whole number, at least 1"; empty where the meaning says it
    std::string standard;  // what holds when it is not given; empty: nothing
    std::vector<std::string> choices;
    Completion completion = Completion::nothing;
    std::string group;                             // heading it stands under
    bool repeats = false;                          // may be given more than once; every value is taken
    std::function<void(const std::string&)> take;  // a switch is given "true"
};

struct Operand {
    std::string name;  // "POINTS"
    std::string meaning;
    bool required = true;
    Completion completion = Completion::nothing;
    std::vector<std::string> choices;
    std::function<void(const std::string&)> take;
    bool repeats = false;  // the last one may: every word is taken
};

struct Example {
    std::string line;
    std::string meaning;
};

struct Command {
    std::string name;
    std::string summary;  // one line
    std::string details;  // a paragraph or more, for --help and the man page
    std::vector<Operand> operands;
    std::vector<Flag> flags;
    std::vector<Example> examples;
    std::string commands_are;  // what its subcommands are called: "METHOD"
    std::vector<Command> commands;
    /// An unknown subcommand's message, where there is a better one than a list.
    std::function<void(const std::string&)> refuse_command;
    /// Does the work once every word was taken; returns the exit code.
    std::function<int()> act;
};

/// A mistake in the words of the command line, with a second line that helps.
struct UsageError : BadArgument {
    UsageError(const std::string& text, std::string hint_) : BadArgument(text), hint(std::move(hint_)) {}
    std::string hint;
};

/// Reads the words after the program's name, and acts. --help anywhere prints help of the command it stands in.
int run_command_line(const Command& root, const std::vector<std::string>& words);

std::string help_text(const Command& command, const std::string& path);
/// What --help and the man page say in brackets behind a flag's meaning; may be empty.
std::string accepted_text(const Flag& flag);
std::string usage_line(const Command& command, const std::string& path);

/// Flags for every option of a described struct; what is given is parsed, checked and set in `target`, which the flags
/// keep alive.
std::vector<Flag> flags_of(const OptionSet& set, const std::string& group, std::shared_ptr<void> target);
/// Flags for every option; what is given lands in `values`.
std::vector<Flag> flags_of(const OptionSet& set, const std::string& group, std::shared_ptr<OptionValues> values);
/// "--max-iterations", of the name "max_iterations".
std::string option_flag(std::string_view name);
/// Before this, with_flags takes every word between backquotes for an option; after it, those that `root` or a command
/// below it has a flag for. So a file's name with backquotes in it stays what it is.
void know_flags(const Command& root);
/// A text of the library, where names of options stand between backquotes (base/error.hpp), in the command's words:
/// `max_iterations` is --max-iterations, `loss=renyi` is --loss renyi.
std::string with_flags(std::string_view text);
std::vector<std::string> with_flags(std::vector<std::string> texts);

/// The flag called `name` among `flags`, to say more about it.
Flag& flag_named(std::vector<Flag>& flags, std::string_view name);

void append(std::vector<Flag>& flags, std::vector<Flag> more);

/// A hint: "did you mean X?", X being `before` and the candidate that `word` is most likely a slip of; else
/// `otherwise`.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& otherwise, const std::string& before = {});

}  // namespace coterie::cli
