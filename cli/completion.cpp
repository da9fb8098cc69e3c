// The script of each shell passes the words up to the cursor, and gets one word and its meaning per line. So the
// scripts contain no commands or options, and always agree with the installed program. ":files" stands for file names.

#include "completion.hpp"

#include <algorithm>

#include "coterie/data/catalogue.hpp"

namespace coterie::cli {
namespace {

bool is_long(const std::string& word) { return word.starts_with("--"); }

const Flag* flag_written(const Command& command, const std::string& word) {
    for (const auto& flag : command.flags)
        if (word == flag.name || (flag.letter && word == std::string("-") + flag.letter)) return &flag;
    return nullptr;
}

// Adds what may stand for a value or an operand. Each word begins with `before`.
void offer(Offers& offers, Completion completion, const std::vector<std::string>& choices, const std::string& meaning,
           const std::string& before = "") {
    offers.files = completion == Completion::file || completion == Completion::points;
    if (completion == Completion::choices)
        for (const auto& choice : choices) offers.words.push_back({before + choice, meaning});
    if (completion == Completion::points || completion == Completion::data_name)
        for (const auto& entry : catalogue())
            offers.words.push_back(
                {before + (completion == Completion::points ? "data:" : "") + entry.name, entry.title});
}

void offer_flags(Offers& offers, const Command& command, const std::vector<const Flag*>& given) {
    for (const auto& flag : command.flags) {
        if (!flag.repeats && std::find(given.begin(), given.end(), &flag) != given.end()) continue;
        offers.words.push_back({flag.name, meaning_text(flag)});
        if (flag.letter) offers.words.push_back({std::string("-") + flag.letter, meaning_text(flag)});
    }
    offers.words.push_back({"--help", "show the help of this command"});
}

}  // namespace

Offers offers_for(const Command& root, const std::vector<std::string>& words) {
    Offers offers;
    if (words.empty()) return offers;
    const std::string& current = words.back();
    const std::size_t before = words.size() - 1;

    const Command* command = &root;
    std::size_t next = before > 0 && words.front() == "help" ? 1 : 0;
    while (!command->commands.empty() && next < before && !words[next].starts_with('-')) {
        const auto found = std::ranges::find(command->commands, words[next], &Command::name);
        if (found == command->commands.end()) return offers;
        command = &*found;
        ++next;
    }

    std::vector<const Flag*> given;
    const Flag* waiting = nullptr;  // the flag whose value comes next
    std::size_t operands = 0;
    bool flags_end = false;
    for (; next < before; ++next) {
        const std::string& word = words[next];
        if (waiting) {
            waiting = nullptr;
        } else if (flags_end || word.size() < 2 || word[0] != '-') {
            ++operands;
        } else if (word == "--") {
            flags_end = true;
        } else if (const Flag* flag =
                       flag_written(*command, is_long(word) ? word.substr(0, word.find('=')) : word.substr(0, 2))) {
            given.push_back(flag);
            const bool has_value = is_long(word) ? word.find('=') != std::string::npos : word.size() > 2;
            if (!flag->value.empty() && !has_value) waiting = flag;
        }
    }

    const auto equals = current.find('=');
    if (waiting) {
        offer(offers, waiting->completion, waiting->choices, meaning_text(*waiting));
    } else if (!flags_end && is_long(current) && equals != std::string::npos) {
        if (const Flag* flag = flag_written(*command, current.substr(0, equals)))
            offer(offers, flag->completion, flag->choices, meaning_text(*flag), current.substr(0, equals + 1));
    } else if (!flags_end && current.starts_with('-')) {
        offer_flags(offers, *command, given);
    } else if (!command->commands.empty()) {
        for (const auto& each : command->commands) offers.words.push_back({each.name, each.summary});
    } else if (!command->operands.empty() &&
               (operands < command->operands.size() || command->operands.back().repeats)) {
        const Operand& operand = command->operands[std::min(operands, command->operands.size() - 1)];
        offer(offers, operand.completion, operand.choices, operand.meaning);
    }
    return offers;
}

std::string offers_text(const Offers& offers) {
    std::string out;
    for (const auto& [word, meaning] : offers.words) out += word + "\t" + meaning + "\n";
    if (offers.files) out += ":files\n";
    return out;
}

std::string bash_completion() {
    return R"bash(# bash completion for coterie, made by: coterie completion bash
# Use it now:    source <(coterie completion bash)
# Keep it:       coterie completion bash > ~/.local/share/bash-completion/completions/coterie

_coterie() {
    COMPREPLY=()
    # The words as the command sees them, without readline's breaks at ':' and '='.
    local line=${COMP_LINE:0:COMP_POINT} words word meaning mark
    read -r -a words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    local current=${words[${#words[@]}-1]} before='' head='' upto
    [[ $current == --*=* ]] && before=${current%%=*}=
    # If readline ends a word at ':' or '=', offer only the part after it.
    for mark in : =; do
        [[ $COMP_WORDBREAKS == *"$mark"* && $current == *"$mark"* ]] || continue
        upto=${current%"${current##*"$mark"}"}
        ((${#upto} > ${#head})) && head=$upto
    done
    while IFS=$'\t' read -r word meaning; do
        if [[ $word == :files ]]; then
            compopt -o filenames 2> /dev/null
            while IFS= read -r word; do
                word=$before$word
                COMPREPLY+=("${word#"$head"}")
            done < <(compgen -f -- "${current#"$before"}")
        elif [[ $word == "$current"* ]]; then
            COMPREPLY+=("${word#"$head"}")
        fi
    done < <(printf '%s\n' "${words[@]:1}" | "${1/#\~\//$HOME/}" completion words 2> /dev/null)
}

complete -F _coterie coterie
)bash";
}

std::string zsh_completion() {
    return R"zsh(#compdef coterie
# zsh completion for coterie, made by: coterie completion zsh
# Use it now:    source <(coterie completion zsh)
# Keep it:       coterie completion zsh > DIR/_coterie, where DIR is a folder of $fpath

_coterie() {
    local program=${(Q)words[1]} line
    local -a before offers
    local files=0
    (( CURRENT > 2 )) && before=("${(@Q)words[2,CURRENT-1]}")
    for line in "${(@f)$(print -rl -- "${before[@]}" "${(Q)PREFIX}" | ${~program} completion words 2> /dev/null)}"; do
        if [[ $line == :files ]]; then
            files=1
        elif [[ -n $line ]]; then
            offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        fi
    done
    local found=1
    (( ${#offers} )) && _describe -t words coterie offers && found=0
    if (( files )); then
        compset -P '--*='
        _files && found=0
    fi
    return found
}

if [[ ${funcstack[1]} == _coterie ]]; then _coterie "$@"; else compdef _coterie coterie; fi
)zsh";
}

std::string fish_completion() {
    return R"fish(# fish completion for coterie, made by: coterie completion fish
# Use it now:    coterie completion fish | source
# Keep it:       coterie completion fish > ~/.config/fish/completions/coterie.fish

function __coterie_offers
    set -l before (commandline -opc)
    set -l program $before[1]
    set -e before[1]
    set -l current (commandline -ct)
    for line in (printf '%s\n' $before "$current" | $program completion words 2>/dev/null)
        if test "$line" = :files
            set -l flag (string match -r '^--[^=]*=' -- $current)
            for file in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current"))
                echo -- "$flag$file"
            end
        else
            echo -- $line
        end
    end
end

complete -c coterie -f -a '(__coterie_offers)'
)fish";
}

}  // namespace coterie::cli
