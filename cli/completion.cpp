#include <algorithm>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/pipeline/internal/text.hpp"

namespace coterie::cli {
namespace {

std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

std::string offer(Completion completion, const std::vector<std::string>& choices) {
    switch (completion) {
        case Completion::nothing: return ":";
        case Completion::choices: return "_coterie_words " + quoted(join(choices, " "));
        case Completion::file: return "_coterie_files";
        case Completion::points: return "_coterie_points";
        case Completion::data_name: return "_coterie_words \"$_coterie_data\"";
    }
    return ":";
}

// One branch a command: how many operands it has, which flags take a value, what is offered after each flag and for
// each operand.
void append_command(std::string& out, const Command& command, const std::string& path) {
    std::vector<std::string> flags;
    std::vector<std::string> with_value;
    std::string values;
    for (const auto& flag : command.flags) {
        flags.push_back(flag.name);
        const std::string letter = flag.letter ? std::string("-") + flag.letter : "";
        if (!letter.empty()) flags.push_back(letter);
        if (flag.value.empty()) continue;
        with_value.push_back(flag.name);
        if (!letter.empty()) with_value.push_back(letter);
        values += "                " + flag.name + (letter.empty() ? "" : "|" + letter) + ") " +
                  offer(flag.completion, flag.choices) + " ;;\n";
    }
    flags.push_back("--help");
    std::vector<std::string> commands;
    for (const auto& each : command.commands) commands.push_back(each.name);

    out += "        " + quoted(path) + ")\n            case \"$1\" in\n";
    out += "                commands) printf '%s' " + quoted(join(commands, " ")) + " ;;\n";
    out += "                flags) printf '%s' " + quoted(join(flags, " ")) + " ;;\n";
    out += "                with_value) printf '%s' " + quoted(join(with_value, " ")) + " ;;\n";
    out += "                value) case \"$2\" in\n" + values + "                *) : ;;\n                esac ;;\n";
    out += "                operand) case \"$2\" in\n";
    for (std::size_t i = 0; i < command.operands.size(); ++i)
        out += "                " + std::to_string(i) + ") " +
               offer(command.operands[i].completion, command.operands[i].choices) + " ;;\n";
    out += "                *) : ;;\n                esac ;;\n            esac ;;\n";
    for (const auto& each : command.commands) append_command(out, each, path + " " + each.name);
}

}  // namespace

std::string bash_completion(const Command& root) {
    std::vector<std::string> names;
    for (const auto& entry : catalogue()) names.push_back(entry.name);
    std::string out =
        "# bash completion for coterie " COTERIE_VERSION
        ", made by: coterie completion bash\n"
        "# Use it now:    source <(coterie completion bash)\n"
        "# Keep it:       coterie completion bash > ~/.local/share/bash-completion/completions/coterie\n\n";
    out += "_coterie_data=" + quoted(join(names, " ")) + "\n";
    out += R"bash(
_coterie_words() {
    local word
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$_coterie_current")
}

_coterie_files() {
    local word
    compopt -o filenames 2> /dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$_coterie_current")
}

_coterie_points() {
    local name words=''
    for name in $_coterie_data; do words+=" data:$name"; done
    case "$_coterie_current" in
        data:*) ;;
        *) _coterie_files ;;
    esac
    local before=${#COMPREPLY[@]}
    _coterie_words "$words"
    # Where a colon ends a word for readline, only what stands behind it may be offered.
    if [[ $COMP_WORDBREAKS == *:* && $_coterie_current == *:* ]]; then
        local head=${_coterie_current%"${_coterie_current##*:}"}
        local i
        for ((i = before; i < ${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=${COMPREPLY[i]#"$head"}; done
    fi
}

_coterie_ask() {
    local path=$1
    shift
    case "$path" in
)bash";
    append_command(out, root, root.name);
    out += R"bash(    esac
}

_coterie() {
    COMPREPLY=()
    # The words as the command will see them: readline's breaks at ':' and '=' undone.
    local line=${COMP_LINE:0:COMP_POINT} words _coterie_current=''
    read -r -a words <<< "$line"
    if [[ $line != *[[:space:]] && ${#words[@]} -gt 0 ]]; then
        _coterie_current=${words[${#words[@]}-1]}
        unset "words[${#words[@]}-1]"
    fi
    local path=coterie operands=0 pending='' word
    for word in "${words[@]:1}"; do
        if [[ -n $pending ]]; then
            pending=''
        elif [[ $word == -?* ]]; then
            [[ " $(_coterie_ask "$path" with_value) " == *" $word "* ]] && pending=$word
        elif [[ " $(_coterie_ask "$path" commands) " == *" $word "* ]]; then
            path+=" $word"
        else
            operands=$((operands + 1))
        fi
    done
    if [[ -n $pending ]]; then
        _coterie_ask "$path" value "$pending"
    elif [[ $_coterie_current == --*=* ]]; then
        local flag=${_coterie_current%%=*}
        _coterie_current=${_coterie_current#*=}
        _coterie_ask "$path" value "$flag"
    elif [[ $_coterie_current == -?* ]]; then
        _coterie_words "$(_coterie_ask "$path" flags)"
    else
        local commands
        commands=$(_coterie_ask "$path" commands)
        if [[ -n $commands ]]; then _coterie_words "$commands"; else _coterie_ask "$path" operand "$operands"; fi
    fi
}

complete -F _coterie coterie
)bash";
    return out;
}

}  // namespace coterie::cli
