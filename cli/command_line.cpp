// --help anywhere before "--" prints the help, whatever else is wrong with the line, unless the command is unknown.
// Otherwise every word is parsed and checked once, from left to right. The command runs only if all words are accepted.
// For a misspelt word, the nearest known word is suggested.

#include "command_line.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "common.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

std::string help_hint(const std::string& path) { return "See " + path + " --help"; }

const Flag* find_flag(const Command& command, const std::string& name) {
    for (const auto& flag : command.flags)
        if (flag.name == name || (!flag.former.empty() && flag.former == name)) return &flag;
    return nullptr;
}

std::string flag_title(const Flag& flag) {
    return (flag.letter ? std::string("-") + flag.letter + ", " : "    ") + flag.name +
           (flag.value.empty() ? "" : " ") + flag.value;
}

std::string flag_description(const Flag& flag) {
    const std::string tail = accepted_text(flag);
    return tail.empty() ? meaning_text(flag) : meaning_text(flag) + " (" + tail + ")";
}

void append_entry(std::string& out, const std::string& title, const std::string& description, std::size_t indent) {
    constexpr std::size_t width = 96;
    out += "  " + title;
    out += title.size() + 4 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - title.size() - 2, ' ');
    out += join(wrap(description, width - indent), "\n" + std::string(indent, ' ')) + "\n";
}

// The words of one command, after its name and its parents' names.
class Words {
public:
    Words(const Command& command, std::string path, const std::vector<std::string>& words, std::size_t next)
        : command_(command), path_(std::move(path)), words_(words), next_(next) {}

    void take_all() {
        bool flags_end = false;
        while (next_ < words_.size()) {
            const std::string& word = words_[next_++];
            if (!flags_end && word == "--") {
                flags_end = true;
            } else if (!flags_end && word.starts_with("--")) {
                take_long(word);
            } else if (!flags_end && word.size() > 1 && word[0] == '-') {
                take_short(word);
            } else {
                take_operand(word);
            }
        }
        for (std::size_t i = operands_taken_; i < command_.operands.size(); ++i)
            if (command_.operands[i].required)
                refuse_operand(Code::missing_argument, command_.operands[i].name + " is missing");
    }

private:
    void take_long(const std::string& word) {
        const auto equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const Flag* flag = find_flag(command_, name);
        if (!flag)
            throw BadArgument(Code::unknown_name, "there is no option " + name + " in " + path_,
                              suggestion(name, names_of(command_.flags), help_hint(path_)), {.value = name});
        give(*flag, equals != std::string::npos ? word.substr(equals + 1)
                    : flag->value.empty()       ? "true"
                                                : next_value(*flag));
    }

    void take_short(const std::string& word) {
        const auto flag = std::ranges::find(command_.flags, word[1], &Flag::letter);
        if (flag == command_.flags.end())
            throw BadArgument(Code::unknown_name, "there is no option " + word + " in " + path_,
                              find_flag(command_, "-" + word) ? "Try -" + word : help_hint(path_), {.value = word});
        if (flag->value.empty()) {
            if (word.size() > 2)
                throw BadArgument(Code::not_accepted, "'" + word + "' has a value, but the option takes none",
                                  help_hint(path_), {.option = option_of_flag(flag->name), .value = word});
            give(*flag, "true");
        } else if (word.size() > 2) {
            give(*flag, word.substr(word[2] == '=' ? 3 : 2));
        } else {
            give(*flag, next_value(*flag));
        }
    }

    std::string next_value(const Flag& flag) {
        // A value may begin with one dash (a negative number, standard input). "--" means that the value is missing.
        if (next_ >= words_.size() || words_[next_].starts_with("--")) refuse_value(flag, "a value is missing");
        return words_[next_++];
    }

    void give(const Flag& flag, const std::string& value) {
        if (!given_.insert(flag.name).second && !flag.repeats)
            throw BadArgument(Code::duplicate, "the option is given twice", "Keep one of them",
                              {.option = option_of_flag(flag.name)});
        if (value.empty() && !flag.value.empty()) refuse_value(flag, "the value is empty");
        flag.take(value);
    }

    [[noreturn]] void refuse_value(const Flag& flag, const std::string& problem) const {
        const std::string accepted = flag.accepted.empty() ? "" : " (" + flag.accepted + ")";
        throw BadArgument(Code::missing_argument, problem, "Use " + flag.name + " " + flag.value + accepted,
                          {.option = option_of_flag(flag.name), .accepted = flag.accepted});
    }

    [[noreturn]] void refuse_operand(Code code, const std::string& problem, const std::string& word = {}) const {
        throw BadArgument(code, problem, "Usage: " + usage_line(command_, path_), {.value = word});
    }

    void take_operand(const std::string& word) {
        const auto& operands = command_.operands;
        if (operands_taken_ == operands.size() && !operands.empty() && operands.back().repeats) --operands_taken_;
        if (operands_taken_ == operands.size())
            refuse_operand(Code::not_accepted, "unexpected argument '" + word + "'", word);
        if (word.empty()) refuse_operand(Code::missing_argument, operands[operands_taken_].name + " is empty");
        operands[operands_taken_++].take(word);
    }

    const Command& command_;
    std::string path_;
    const std::vector<std::string>& words_;
    std::size_t next_;
    std::size_t operands_taken_ = 0;
    std::set<std::string> given_;
};

std::string placeholder(const Option& option) {
    switch (option.kind) {
        case OptionKind::flag: return "";
        case OptionKind::integer: return "N";
        case OptionKind::real: return "X";
        case OptionKind::choice: {
            std::string out;
            for (const auto& choice : option.choices) out += (out.empty() ? "" : "|") + choice;
            return out.size() <= 32 ? out : "WORD";
        }
        case OptionKind::text: return "TEXT";
        case OptionKind::integers: return "N,N,...";
        case OptionKind::reals: return "X,X,...";
    }
    return "VALUE";
}

// The flags of the program; empty: not registered yet.
std::set<std::string, std::less<>>& known_flags() {
    static std::set<std::string, std::less<>> flags;
    return flags;
}

Flag flag_of(const Option& option, const std::string& group) {
    const Spelling& spelled = Spelling::current();
    Flag flag;
    flag.name = option_flag(option.name);
    flag.letter = option.letter;
    flag.value = placeholder(option);
    flag.meaning = spelled(option.meaning);
    flag.automatic = spelled(option.automatic);
    const bool told = option.kind == OptionKind::flag || option.kind == OptionKind::text ||
                      (option.kind == OptionKind::choice && flag.value != "WORD");  // the placeholder shows it
    if (!told) flag.accepted = spelled(option.accepted());
    if (option.kind == OptionKind::flag) {
        if (std::get<bool>(option.default_value)) flag.standard = "true";
    } else {
        flag.standard = to_text(option.default_value);
    }
    flag.choices = option.choices;
    if (!flag.choices.empty()) flag.completion = Completion::choices;
    flag.group = group;
    return flag;
}

// Flags that call take(option, value).
template <class Take>
std::vector<Flag> flags_with(const OptionSet& set, const std::string& group, Take take) {
    std::vector<Flag> flags;
    for (const Option& option : set.options()) {
        flags.push_back(flag_of(option, group));
        flags.back().take = [&option, take](const std::string& text) { take(option, option.parse(text)); };
    }
    return flags;
}

// What to do if a command lacks its method, which `operand` would follow. For other subcommands returns `otherwise`.
std::string method_hint(const Command& command, const std::string& path, const std::string& operand,
                        const std::string& otherwise) {
    if (command.commands_are != "METHOD") return otherwise;
    return "Name one, for example " + path + " kmeans " + operand + "; coterie methods lists them";
}

// Whether a word in place of a command or method names a file or a data set. No command or method looks like that.
bool names_data(const std::string& word) {
    std::error_code error;
    return word.starts_with("data:") || word.find_first_of("./") != std::string::npos ||
           std::filesystem::is_regular_file(word, error);
}

}  // namespace

std::string option_flag(std::string_view name) {
    std::string out = "--";
    out += name;
    std::replace(out.begin(), out.end(), '_', '-');
    return out;
}

std::string option_of_flag(std::string_view flag) {
    std::string out(flag.substr(flag.find_first_not_of('-')));
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

void know_flags(const Command& root) {
    for (const auto& flag : root.flags) known_flags().insert(flag.name);
    for (const auto& command : root.commands) know_flags(command);
}

std::string CommandSpelling::option(std::string_view name) const {
    const std::string flag = option_flag(name);
    if (known_flags().empty() || known_flags().contains(flag)) return flag;
    if (name == "must_links" || name == "cannot_links") return "--pairs";
    std::string words(name);  // an input that no flag names: points, graph, auto
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

std::string CommandSpelling::setting(std::string_view name, std::string_view value) const {
    return option(name) + " " + std::string(value);
}

std::vector<Flag> flags_of(const OptionSet& set, const std::string& group, std::shared_ptr<void> target) {
    return flags_with(set, group,
                      [target](const Option& option, const OptionValue& value) { option.set(target.get(), value); });
}

std::vector<Flag> flags_of(const OptionSet& set, const std::string& group, std::shared_ptr<OptionValues> values) {
    return flags_with(set, group,
                      [values](const Option& option, const OptionValue& value) { (*values)[option.name] = value; });
}

Flag& flag_named(std::vector<Flag>& flags, std::string_view name) {
    const auto found = std::ranges::find(flags, name, &Flag::name);
    if (found == flags.end()) throw InternalError("there is no flag " + std::string(name));
    return *found;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates,
                       const std::string& otherwise, const std::string& before) {
    const std::string close = likely_word(word, candidates);
    return close.empty() ? otherwise : "Try " + before + close;
}

void append(std::vector<Flag>& flags, std::vector<Flag> more) {
    std::move(more.begin(), more.end(), std::back_inserter(flags));
}

std::string meaning_text(const Flag& flag) {
    return flag.automatic.empty() ? flag.meaning : flag.meaning + "; auto: " + flag.automatic;
}

std::string accepted_text(const Flag& flag) {
    std::string out = flag.accepted;
    if (!flag.standard.empty()) out += (out.empty() ? "" : "; ") + ("default " + flag.standard);
    if (flag.repeats) out += (out.empty() ? "" : "; ") + std::string("may be repeated");
    return out;
}

std::string usage_line(const Command& command, const std::string& path) {
    std::string out = path;
    if (!command.commands.empty()) out += " " + command.commands_are + " ...";
    for (const auto& operand : command.operands)
        out += (operand.required ? " " + operand.name : " [" + operand.name + "]") + (operand.repeats ? "..." : "");
    if (!command.flags.empty()) out += " [options]";
    return out;
}

std::string help_text(const Command& command, const std::string& path) {
    std::string out;
    for (const auto& line : wrap(path + ": " + command.summary, 96)) out += line + "\n";
    out += "\nUsage: " + usage_line(command, path) + "\n";
    if (!command.details.empty()) {
        out += "\n";
        for (const auto& line : wrap(command.details, 96)) out += line + "\n";
    }
    const auto append_entries = [&](const auto& list, auto meaning) {
        std::size_t indent = 0;
        for (const auto& each : list) indent = std::max(indent, each.name.size() + 5);
        for (const auto& each : list) append_entry(out, each.name, each.*meaning, indent);
    };
    if (!command.operands.empty()) out += "\n";
    append_entries(command.operands, &Operand::meaning);
    if (!command.commands.empty()) out += "\n" + command.commands_are + " is one of\n";
    append_entries(command.commands, &Command::summary);
    for (const auto& group : groups_of(command.flags)) {
        out += "\n" + group + ":\n";
        for (const auto& flag : command.flags)
            if (flag.group == group) append_entry(out, flag_title(flag), flag_description(flag), 30);
    }
    if (!command.examples.empty()) {
        out += "\nExamples:\n";
        for (const auto& example : command.examples) out += "  " + example.line + "\n      " + example.meaning + "\n";
    }
    return out;
}

std::vector<std::string> groups_of(const std::vector<Flag>& flags) {
    std::vector<std::string> out;
    for (const auto& flag : flags)
        if (std::find(out.begin(), out.end(), flag.group) == out.end()) out.push_back(flag.group);
    return out;
}

int run_command_line(const Command& root, const std::vector<std::string>& given) {
    std::vector<std::string> words = given;
    const auto flags_end = std::find(words.begin(), words.end(), "--");
    bool help =
        std::any_of(words.begin(), flags_end, [](const std::string& word) { return word == "--help" || word == "-h"; });
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        help = true;
    }

    const Command* command = &root;
    std::string path = root.name;
    std::size_t next = 0;
    while (!command->commands.empty() && next < words.size() && (words[next].empty() || words[next][0] != '-')) {
        const auto& word = words[next];
        const auto found = std::ranges::find(command->commands, word, &Command::name);
        if (found == command->commands.end()) {
            if (names_data(word))
                throw BadArgument(Code::missing_argument,
                                  path + " needs a " + command->commands_are + " before '" + word + "'",
                                  method_hint(*command, path, word, help_hint(path)), {.value = word});
            if (command->refuse_command) command->refuse_command(word);
            const auto names = names_of(command->commands);
            throw BadArgument(Code::unknown_name, path + " has no " + command->commands_are + " '" + word + "'",
                              suggestion(word, names, help_hint(path), path + " "),
                              {.value = word, .accepted = join(names)});
        }
        command = &*found;
        path += " " + command->name;
        ++next;
    }
    if (help) {
        print(help_text(*command, path));
        return 0;
    }
    if (!command->commands.empty() && (!command->act || (next < words.size() && words[next][0] != '-'))) {
        const auto names = names_of(command->commands);
        throw BadArgument(Code::missing_argument, path + " needs a " + command->commands_are,
                          method_hint(*command, path, "POINTS", "Use one of " + join(names)),
                          {.accepted = join(names)});
    }
    Words(*command, path, words, next).take_all();
    return command->act();
}

}  // namespace coterie::cli
