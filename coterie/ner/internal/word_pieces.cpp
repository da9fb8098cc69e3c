// Follows the crate tokenizers in its order: clean, CJK, accents, lower case; blanks, punctuation; pieces. Known
// differences, with ICU 72 and tokenizers 0.23.3:
// - The crate does not decompose U+11938.
// - For the 55 capital letters that Unicode 16 and 17 added, the lower case depends on the version of ICU.

#include "coterie/ner/internal/word_pieces.hpp"

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"

namespace coterie::ner::internal {
namespace {

constexpr std::size_t longest_part = 100;  // code points

bool is_cjk(std::uint32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) ||
           (c >= 0x2B920 && c <= 0x2CEAF) ||  // as in the crate; the original has 0x2B820
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_dropped(std::uint32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return false;
    return c == 0 || c == 0xFFFD || character_class(c) == CharacterClass::control;
}

bool is_split_off(std::uint32_t c) {
    const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    return ascii || character_class(c) == CharacterClass::punctuation;
}

}  // namespace

WordPieces::WordPieces(std::string_view vocabulary, const std::string& source, const WordPieceRules& rules,
                       const std::string& unknown, const std::string& begin, const std::string& end)
    : rules_(rules) {
    for_each_line(vocabulary, [&](std::string_view line, Index number) {
        if (!numbers_.emplace(line, static_cast<std::int32_t>(number - 1)).second)
            refuse_line(source, number, Code::duplicate,
                        coterie::internal::filled("piece '{}' occurs twice", formats::shown(line)), "",
                        {.value = formats::shown(line)});
    });
    const auto number_of = [&](const std::string& piece) {
        const auto found = numbers_.find(piece);
        if (found == numbers_.end()) throw BadData(Code::malformed, "there is no piece " + piece, "", {.file = source});
        return found->second;
    };
    unknown_ = number_of(unknown);
    begin_ = number_of(begin);
    end_ = number_of(end);
}

std::vector<std::int32_t> WordPieces::pieces_of(std::string_view text) const {
    std::string clean;
    for_each_code_point(text, [&](std::uint32_t c, std::string_view bytes) {
        if (is_dropped(c)) return;
        if (is_space(c)) {
            clean += ' ';
        } else if (rules_.split_cjk && is_cjk(c)) {
            clean += ' ';
            clean += bytes;
            clean += ' ';
        } else {
            clean += bytes;
        }
    });
    if (rules_.strip_accents) {
        std::string bare;
        for_each_code_point(decomposed(clean), [&](std::uint32_t c, std::string_view bytes) {
            if (character_class(c) != CharacterClass::mark) bare += bytes;
        });
        clean = std::move(bare);
    }
    if (rules_.lower_case) clean = lower_case(clean);
    std::vector<std::int32_t> out;
    std::string part;
    const auto close = [&] {
        if (!part.empty()) cut(part, out);
        part.clear();
    };
    for_each_code_point(clean, [&](std::uint32_t c, std::string_view bytes) {
        if (is_space(c)) {
            close();
        } else if (is_split_off(c)) {
            close();
            cut(bytes, out);
        } else {
            part += bytes;
        }
    });
    close();
    return out;
}

void WordPieces::cut(std::string_view part, std::vector<std::int32_t>& out) const {
    if (count_code_points(part) > longest_part) {
        out.push_back(unknown_);
        return;
    }
    const std::size_t first = out.size();
    for (std::size_t at = 0; at < part.size();) {
        std::size_t end = part.size();
        for (;; --end) {
            while (end > at && end < part.size() && (static_cast<unsigned char>(part[end]) & 0xC0) == 0x80) --end;
            if (end == at) break;
            const auto found = numbers_.find((at > 0 ? "##" : "") + std::string(part.substr(at, end - at)));
            if (found == numbers_.end()) continue;
            out.push_back(found->second);
            break;
        }
        if (end == at) {  // no piece fits: the whole part is unknown
            out.resize(first);
            out.push_back(unknown_);
            return;
        }
        at = end;
    }
}

}  // namespace coterie::ner::internal
