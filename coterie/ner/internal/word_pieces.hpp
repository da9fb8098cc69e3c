#pragma once
// Internal: BERT's tokeniser. A word is cleaned, taken apart at CJK characters and punctuation, in lower case and
// without accents where the folder says so, and each part cut into the longest pieces of the vocabulary (Wu et al.
// 2016), a piece within a part with ## before it. As Hugging Face's program in Rust does it (crate tokenizers:
// BertNormalizer, BertPreTokenizer, WordPiece), which differs from theirs in Python on rare characters and is what
// people run; special tokens in the text are text.

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
    /// The text of a vocabulary: a piece per line, numbered from 0. BadData, naming `source`, where a piece is there
    /// twice or a special one is missing.
    WordPieces(std::string_view vocabulary, const std::string& source, const WordPieceRules& rules,
               const std::string& unknown, const std::string& begin, const std::string& end);

    std::int32_t size() const { return static_cast<std::int32_t>(numbers_.size()); }
    std::int32_t begin() const { return begin_; }  // [CLS]
    std::int32_t end() const { return end_; }      // [SEP]

    std::int32_t unknown() const { return unknown_; }
    /// Numbers of the pieces of a text in sound UTF-8; may be none.
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
