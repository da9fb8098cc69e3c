#pragma once
// Internal: the tags of words in CoNLL files, and the mentions that they mean.

#include <string>
#include <string_view>
#include <vector>

#include "coterie/ner/corpus.hpp"

namespace coterie::ner::internal {

/// A tag taken apart. O: place 'O', no type.
struct TagParts {
    char place = 'O';  // B, I, E or S
    std::string_view type;
};
/// Also L and U, which are E and S by other names. False where it is no tag.
bool split_tag(std::string_view tag, TagParts& parts);

/// Whether a mention ends between two words with these tags, and whether one begins: the rules of the script conlleval,
/// with E and S.
bool mention_ends(const TagParts& before, const TagParts& tag);
bool mention_begins(const TagParts& before, const TagParts& tag);

/// A tag with the line it stands on.
struct ReadTag {
    TagParts parts;
    std::string_view text;
    Index line = 0;
};
/// Which scheme the tags are in, "BIO" and so on. With `reading` checked BadData, naming `source` and the line, where
/// they are not well-formed in it; else `broken` counts those that are not.
std::string scheme_of(const std::vector<std::vector<ReadTag>>& sentences, const std::string& source, TagReading reading,
                      Index& broken);

}  // namespace coterie::ner::internal
