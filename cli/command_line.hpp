#pragma once
// Describes once, as data, what the command accepts. Parsing, --help, the man page and shell completion all read this
// description, so they always agree. A method's options come from its OptionSet.
//
// CLI11 is not used: it could replace only the parsing of a line, not the help, suggestions and messages. A description
// in its terms could not generate the man page, the completion and the reference.

#include "coterie/base/error.hpp"
#include "coterie/base/options.hpp"

namespace coterie::cli {

/// What a shell offers for a word.
enum class Completion { nothing, choices, file, points, data_name };

struct Flag {
    std::string name;            // "--labels-out"
    std::string former = {};     // an earlier name: accepted, but not shown
    char letter = 0;             // 'k': -k is the same flag
    std::string value = {};      // placeholder, "FILE"; empty: a switch, which also accepts =true and =false
    std::string meaning = {};    // one sentence
    std::string automatic = {};  // what the value auto means; empty: not accepted, or `meaning` says it
    std::string accepted = {};   // "a whole number, at least 1"; empty: `meaning` says it
    std::string standard = {};   // the default; empty: none
    std::vector<std::string> choices = {};
    Completion completion = Completion::nothing;
    std::string group = {};                             // heading in the help
    bool repeats = false;                               // may be given more than once; every value is used
    std::function<void(const std::string&)> take = {};  // a switch gets "true"
};

struct Operand {
    std::string name;  // "POINTS"
    std::string meaning;
    bool required = true;
    Completion completion = Completion::nothing;
    std::vector<std::string> choices = {};
    std::function<void(const std::string&)> take = {};
    bool repeats = false;  // only for the last operand: takes all remaining words
};

struct Example {
    std::string line;
    std::string meaning;
};

struct Command {
    std::string name = {};
    std::string summary = {};  // one line
    std::string details = {};  // one or more paragraphs, for --help and the man page
    std::vector<Operand> operands = {};
    std::vector<Flag> flags = {};
    std::vector<Example> examples = {};
    std::string commands_are = {};  // the placeholder for its subcommands: "METHOD"
    std::vector<Command> commands = {};
    /// Throws the error for an unknown subcommand; unset: the error lists all subcommands.
    std::function<void(const std::string&)> refuse_command = {};
    /// Runs the command after all words are parsed. Returns the exit code.
    std::function<int()> act = {};
};

/// Parses the words after the program's name and runs the command. --help prints the help of the command it belongs to.
int run_command_line(const Command& root, const std::vector<std::string>& words);

std::string help_text(const Command& command, const std::string& path);
/// The meaning of a flag in help, manual page and completion, including the meaning of auto.
std::string meaning_text(const Flag& flag);
/// The text in brackets after a flag's meaning in --help and the man page. May be empty.
std::string accepted_text(const Flag& flag);
std::string usage_line(const Command& command, const std::string& path);

/// The headings of the flags, in the order in which they first occur.
std::vector<std::string> groups_of(const std::vector<Flag>& flags);
/// Flags for every option of a described struct. Given values are parsed, checked and set in `target`. The flags keep
/// `target` alive.
std::vector<Flag> flags_of(const OptionSet& set, const std::string& group, std::shared_ptr<void> target);
/// Flags for every option. Given values are stored in `values`.
std::vector<Flag> flags_of(const OptionSet& set, const std::string& group, std::shared_ptr<OptionValues> values);
/// "--max-iterations" for "max_iterations".
std::string option_flag(std::string_view name);
/// "labels_out" for "--labels-out": the `option` of messages.
std::string option_of_flag(std::string_view flag);
/// Registers the flags of `root` and its subcommands, for CommandSpelling.
void know_flags(const Command& root);
/// Spells `max_iterations` as --max-iterations, and `loss=renyi` as --loss renyi. A name without a flag becomes words:
/// "initial points".
class CommandSpelling : public Spelling {
public:
    std::string option(std::string_view name) const override;
    std::string setting(std::string_view name, std::string_view value) const override;
};

/// The flag called `name` among `flags`, so that the caller can extend it.
Flag& flag_named(std::vector<Flag>& flags, std::string_view name);

void append(std::vector<Flag>& flags, std::vector<Flag> more);

/// The names of methods, data sets, commands or flags.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
    std::vector<std::string> out;
    for (const Named& each : list) out.push_back(each.name);
    return out;
}

/// Returns the remedy "Try X": X is `before` and the candidate that `word` most likely misspells. If there is no such
/// candidate, returns `otherwise`.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates,
                       const std::string& otherwise, const std::string& before = {});
/// Returns find(word). If it throws BadArgument, replaces the remedy of the error by the suggestion.
template <class Find>
decltype(auto) find_or_suggest(const std::string& word, const std::vector<std::string>& candidates,
                               const std::string& otherwise, const std::string& before, Find&& find) {
    try {
        return find(word);
    } catch (BadArgument& error) {
        error.amend([&](Message& message) { message.remedy = suggestion(word, candidates, otherwise, before); });
        throw;
    }
}

}  // namespace coterie::cli
