#pragma once
// Internal: BERT's tokeniser. It cleans a word and splits it at CJK characters and punctuation. If the folder says so,
// it changes the word to lower case and removes accents. Each part is split into the longest pieces of the vocabulary
// (Wu et al. 2016). Pieces inside a part have the prefix ##.
// Follows Hugging Face's tokeniser in Rust (crate tokenizers: BertNormalizer, BertPreTokenizer, WordPiece), which is in
// common use. Their tokeniser in Python differs for rare characters. Special tokens in the text are treated as text.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coterie::ner::internal {

struct WordPieceRules {
    bool lower_case = true;
    bool strip_accents = true;
    bool split_cjk = true;
};

class WordPieces {
public:
    WordPieces() = default;
    /// The vocabulary has one piece per line, numbered from 0. Throws BadData, with `source`, if a piece occurs twice
    /// or a special piece is missing.
    WordPieces(std::string_view vocabulary, const std::string& source, const WordPieceRules& rules,
               const std::string& unknown, const std::string& begin, const std::string& end);

    std::int32_t size() const { return static_cast<std::int32_t>(numbers_.size()); }
    std::int32_t begin() const { return begin_; }  // [CLS]
    std::int32_t end() const { return end_; }      // [SEP]

    std::int32_t unknown() const { return unknown_; }
    /// Numbers of the pieces of a text in valid UTF-8. There may be none.
    std::vector<std::int32_t> pieces_of(std::string_view text) const;

private:
    void cut(std::string_view part, std::vector<std::int32_t>& out) const;

    std::unordered_map<std::string, std::int32_t> numbers_;
    WordPieceRules rules_;
    std::int32_t unknown_ = 0;
    std::int32_t begin_ = 0;
    std::int32_t end_ = 0;
};

}  // namespace coterie::ner::internal
