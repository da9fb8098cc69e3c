#pragma once
// What a shell offers for the word at the cursor, and the scripts by which bash, zsh and fish ask for it.

#include <string>
#include <vector>

#include "command_line.hpp"

namespace coterie::cli {

struct Offer {
    std::string word;
    std::string meaning;
};

struct Offers {
    std::vector<Offer> words;  // every one that may stand there, whatever the current word begins with
    bool files = false;        // and names of files
};

/// `words` are those behind the program's name, the last one that at the cursor (empty: nothing of it is written yet).
Offers offers_for(const Command& root, const std::vector<std::string>& words);
/// A line per offer: the word, a tab, its meaning. Last ":files", where files may stand.
std::string offers_text(const Offers& offers);

/// Scripts that bash, zsh and fish source; they ask `coterie completion words`.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace coterie::cli
