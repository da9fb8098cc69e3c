// Only this source uses ICU. Without ICU, its functions throw.

#include "coterie/ner/unicode.hpp"

#include "coterie/base/error.hpp"

#ifdef COTERIE_HAVE_ICU

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utext.h>

namespace coterie::ner::internal {
namespace {

void require(UErrorCode code, const char* doing) {
    if (U_FAILURE(code))
        throw ResourceError(Code::library_failed, std::string("ICU failed (") + doing + "): " + u_errorName(code));
}

std::vector<std::size_t> borders(icu::BreakIterator* (*rules)(const icu::Locale&, UErrorCode&), const char* named,
                                 std::string_view text) {
    UErrorCode code = U_ZERO_ERROR;
    const std::unique_ptr<icu::BreakIterator> iterator(rules(icu::Locale::getRoot(), code));
    require(code, named);
    UText opened = UTEXT_INITIALIZER;
    utext_openUTF8(&opened, text.data(), static_cast<std::int64_t>(text.size()), &code);
    require(code, "opening a text");
    const std::unique_ptr<UText, UText* (*)(UText*)> closes(&opened, utext_close);
    iterator->setText(&opened, code);
    require(code, "taking a text");
    std::vector<std::size_t> out;
    for (std::int32_t at = iterator->first(); at != icu::BreakIterator::DONE; at = iterator->next())
        out.push_back(static_cast<std::size_t>(at));
    return out;
}

}  // namespace

std::vector<std::size_t> sentence_borders(std::string_view text) {
    return borders(icu::BreakIterator::createSentenceInstance, "the rules for sentences", text);
}

std::vector<std::size_t> word_borders(std::string_view text) {
    return borders(icu::BreakIterator::createWordInstance, "the rules for words", text);
}

CharacterClass character_class(std::uint32_t value) {
    const auto point = static_cast<UChar32>(value);
    UVersionInfo age;
    u_charAge(point, age);
    if (age[0] > 8) return CharacterClass::other;
    // The class of these characters changed after Unicode 8.
    if (value == 0x166D || value == 0x111C9) return CharacterClass::punctuation;
    if (value == 0x1734) return CharacterClass::mark;
    if (value == 0x1885 || value == 0x1886 || value == 0xA9BD) return CharacterClass::other;
    const auto mask = U_MASK(u_charType(point));
    if ((mask & U_GC_P_MASK) != 0) return CharacterClass::punctuation;
    if ((mask & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0) return CharacterClass::control;
    if ((mask & U_GC_MN_MASK) != 0) return CharacterClass::mark;
    return CharacterClass::other;
}

std::string lower_case(std::string_view text) {
    std::string out;
    for_each_code_point(text, [&](std::uint32_t value, std::string_view) {
        icu::UnicodeString(static_cast<UChar32>(value)).toLower(icu::Locale::getRoot()).toUTF8String(out);
    });
    return out;
}

std::string decomposed(std::string_view text) {
    UErrorCode code = U_ZERO_ERROR;
    const icu::Normalizer2* const rules = icu::Normalizer2::getNFDInstance(code);
    require(code, "the canonical decomposition");
    std::string out;
    rules
        ->normalize(icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size()))),
                    code)
        .toUTF8String(out);
    require(code, "decomposing a text");
    return out;
}

}  // namespace coterie::ner::internal

#else

namespace coterie::ner::internal {
namespace {

[[noreturn]] void refuse() {
    throw BadArgument(Code::missing_library,
                      "coterie was built without ICU, which splits text into sentences and words",
                      "Build it with ICU (Debian: libicu-dev), or use CoNLL columns with word vectors");
}

}  // namespace

std::vector<std::size_t> sentence_borders(std::string_view) { refuse(); }
std::vector<std::size_t> word_borders(std::string_view) { refuse(); }
CharacterClass character_class(std::uint32_t) { refuse(); }
std::string lower_case(std::string_view) { refuse(); }
std::string decomposed(std::string_view) { refuse(); }

}  // namespace coterie::ner::internal

#endif
