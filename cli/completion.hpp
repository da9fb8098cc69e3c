#pragma once
// What a shell offers for the word at the cursor, and the scripts with which bash, zsh and fish ask for it.

#include "command_line.hpp"

namespace coterie::cli {

struct Offer {
    std::string word;
    std::string meaning;
};

struct Offers {
    std::vector<Offer> words;  // all words that may stand there, whatever the current word begins with
    bool files = false;        // whether file names may stand there, too
};

/// `words`: the words after the program's name. The last is the word at the cursor (empty: nothing typed yet).
Offers offers_for(const Command& root, const std::vector<std::string>& words);
/// One line per offer: the word, a tab, its meaning. If file names may stand there, the last line is ":files".
std::string offers_text(const Offers& offers);

/// Scripts for bash, zsh and fish to source. They call `coterie completion words`.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace coterie::cli
