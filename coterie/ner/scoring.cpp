// Mentions are compared as spans of the text without its blanks, so the corpora may split the text differently.
// Two scores of conlleval are left out: the share of correct tags and that of correct words.

#include "coterie/ner/scoring.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "coterie/base/text.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::filled;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// The text of all documents without blanks. Its offsets do not depend on how the text is split into documents, lines
// and words.
class BareText {
public:
    explicit BareText(const Corpus& corpus) : corpus_(corpus) {
        for (const Document& document : corpus.documents) {
            begins_.push_back(text_.size());
            add(document.text, text_);
        }
    }
    const std::string& text() const { return text_; }
    /// The offset of a byte of a document. Fast if the calls are in order.
    std::size_t offset(std::size_t document, std::size_t byte) {
        if (document != document_ || byte < byte_) document_ = document, byte_ = 0, offset_ = begins_[document];
        passed_.clear();
        add(std::string_view(corpus_.documents[document].text).substr(byte_, byte - byte_), passed_);
        byte_ = byte;
        return offset_ += passed_.size();
    }

private:
    static void add(std::string_view text, std::string& to) {
        internal::for_each_code_point(text, [&](std::uint32_t value, std::string_view bytes) {
            if (!internal::is_space(value)) to += bytes;
        });
    }

    const Corpus& corpus_;
    std::string text_, passed_;
    std::vector<std::size_t> begins_;
    std::size_t document_ = 0, byte_ = 0, offset_ = 0;
};

using Place = std::tuple<std::size_t, std::size_t, std::string>;  // offsets in the text without blanks, type

std::set<Place> places_of(const Corpus& corpus, BareText& bare) {
    std::set<Place> out;
    for (const Sentence& sentence : corpus.sentences)
        for (const Mention& mention : sentence.mentions) {
            const std::size_t begin = bare.offset(sentence.document, sentence.words[mention.begin].begin);
            out.emplace(begin, bare.offset(sentence.document, sentence.words[mention.end - 1].end),
                        corpus.types[static_cast<std::size_t>(mention.type)]);
        }
    return out;
}

void require_same_texts(const Corpus& gold, BareText& of_gold, const Corpus& found, const BareText& of_found) {
    const std::string &a = of_gold.text(), &b = of_found.text();
    if (a == b) return;
    const auto differ =
        static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    std::size_t place = 0;
    while (place < gold.sentences.size() &&
           of_gold.offset(gold.sentences[place].document, gold.sentences[place].words.back().end) <= differ)
        ++place;
    const bool at_end = place == gold.sentences.size();
    internal::refuse_sentence(gold, at_end ? place - 1 : place, Code::conflict,
                              at_end ? filled("the text ends here, but {} continues", found.source)
                                     : filled("the text differs from {} in this sentence", found.source),
                              "Give both corpora the same sentences in the same order");
}

}  // namespace

double MentionCounts::precision() const { return ratio(static_cast<double>(right), static_cast<double>(found)); }
double MentionCounts::recall() const { return ratio(static_cast<double>(right), static_cast<double>(marked)); }
double MentionCounts::f1() const { return ratio(2 * static_cast<double>(right), static_cast<double>(marked + found)); }

MentionScores score_mentions(const Corpus& gold, const Corpus& found) {
    BareText of_gold(gold), of_found(found);
    require_same_texts(gold, of_gold, found, of_found);
    internal::require_annotated(gold, "the sentence is not annotated, so there is nothing to compare with",
                                "Annotate every sentence of the gold corpus");
    const std::set<Place> marked = places_of(gold, of_gold);
    const std::set<Place> there = places_of(found, of_found);
    std::map<std::string, MentionCounts> types;
    MentionScores out;
    for (const Place& place : marked)
        for (MentionCounts* const counts : {&types[std::get<2>(place)], &out.micro}) ++counts->marked;
    for (const Place& place : there)
        for (MentionCounts* const counts : {&types[std::get<2>(place)], &out.micro}) {
            ++counts->found;
            counts->right += marked.contains(place);
        }
    out.types.assign(types.begin(), types.end());
    return out;
}

}  // namespace coterie::ner
