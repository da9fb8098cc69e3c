#pragma once
// Internal: the tags of words in CoNLL files, and the mentions that they stand for.

#include "coterie/ner/corpus.hpp"

namespace coterie::ner::internal {

/// A tag split into its parts. For O: place 'O' and no type.
struct TagParts {
    char place = 'O';  // B, I, E or S
    std::string_view type;
};
/// Also accepts L and U, which are other names of E and S. Returns false if the text is not a tag.
bool split_tag(std::string_view tag, TagParts& parts);

/// Whether a mention begins between two words with these tags, by the rules of conlleval, extended by E and S.
bool mention_begins(const TagParts& before, const TagParts& tag);

/// A tag and its line in the file.
struct ReadTag {
    TagParts parts;
    std::string_view text;
    Index line = 0;
};
/// Returns the scheme of the tags, for example "BIO".
/// If a tag does not follow the scheme: throws BadData with `source` and the line if `reading` is checked, else counts
/// the tag in `broken`.
std::string scheme_of(const std::vector<std::vector<ReadTag>>& sentences, const std::string& source, TagReading reading,
                      Index& broken);

}  // namespace coterie::ner::internal
