// For all schemes, the rules of the script conlleval give the mentions (Tjong Kim Sang and De Meulder 2003; Ramshaw and
// Marcus 1995 for IOB1). Whether tags follow their scheme is checked separately, so tags of other programs can be
// scored, too.

#include "coterie/ner/internal/tags.hpp"

#include "coterie/base/error.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::ner::internal {

bool split_tag(std::string_view tag, TagParts& parts) {
    if (tag == "O") {
        parts = {};
        return true;
    }
    if (tag.size() < 3 || tag[1] != '-') return false;
    constexpr std::string_view places = "BIESLU";
    constexpr std::string_view meant = "BIESES";
    const std::size_t place = places.find(tag[0]);
    if (place == std::string_view::npos) return false;
    parts = {meant[place], tag.substr(2)};
    return true;
}

bool mention_begins(const TagParts& before, const TagParts& tag) {
    if (tag.place == 'O') return false;
    if (tag.place == 'B' || tag.place == 'S') return true;
    return before.place == 'O' || before.place == 'E' || before.place == 'S' || before.type != tag.type;
}

namespace {

constexpr std::string_view sentence_end = "end of sentence";  // instead of a tag

// Why one tag must not follow another, and what to do. Empty if it may follow.
struct Fault {
    std::string what, remedy;
};
Fault fault_of(const TagParts& before, const TagParts& tag, bool ends_marked, bool begins_marked) {
    const bool goes_on = (tag.place == 'I' || tag.place == 'E') && !mention_begins(before, tag);
    if (begins_marked && (tag.place == 'I' || tag.place == 'E') && !goes_on)
        return {"continues a mention, but no open mention of its type comes before it",
                ends_marked ? "Begin each mention with B- or S-" : "Begin each mention with B-"};
    if (ends_marked && (before.place == 'B' || before.place == 'I') && !goes_on)
        return {"follows a mention without a closing E-", "End each mention with E-"};
    return {};
}

}  // namespace

std::string scheme_of(const std::vector<std::vector<ReadTag>>& sentences, const std::string& source, TagReading reading,
                      Index& broken) {
    Index ends = 0;
    Index begins_b = 0;
    Index begins_i = 0;
    Index touching = 0;  // B- directly after a mention of the same type
    for (const auto& sentence : sentences) {
        TagParts before;
        for (const ReadTag& tag : sentence) {
            ends += tag.parts.place == 'E' || tag.parts.place == 'S';
            if (tag.parts.place == 'B')
                (before.place != 'O' && before.type == tag.parts.type ? touching : begins_b) += 1;
            begins_i += tag.parts.place == 'I' && mention_begins(before, tag.parts);
            before = tag.parts;
        }
    }
    const bool ends_marked = ends > 0;
    const bool begins_marked = ends_marked || begins_i <= begins_b;
    const std::string scheme = ends_marked ? "BIOES" : begins_marked ? "BIO" : begins_b + touching > 0 ? "IOB1" : "IO";
    broken = 0;
    for (const auto& sentence : sentences) {
        ReadTag before;
        const auto look = [&](const ReadTag& tag) {
            const Fault fault = fault_of(before.parts, tag.parts, ends_marked, begins_marked);
            if (!fault.what.empty()) {
                ++broken;
                const bool at_end = tag.text == sentence_end;
                if (reading == TagReading::checked)
                    throw BadData(Code::malformed,
                                  (at_end ? "the end of the sentence" : "tag '" + formats::shown(tag.text) + "'") +
                                      " " + fault.what + "; the scheme of this file is " + scheme,
                                  fault.remedy, {.value = std::string(tag.text), .file = source, .line = tag.line});
            }
            before = tag;
        };
        for (const ReadTag& tag : sentence) look(tag);
        if (!sentence.empty()) look({{}, sentence_end, sentence.back().line});
    }
    return scheme;
}

}  // namespace coterie::ner::internal
