// Mentions are compared as pieces of their documents' texts, so that corpora whose sentences or words were cut
// otherwise can be compared too. Two of conlleval's figures are left out, the share of right tags and of right words.

#include "coterie/ner/scoring.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "coterie/base/error.hpp"

namespace coterie::ner {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

using Place = std::tuple<std::size_t, std::size_t, std::size_t, std::string>;  // document, bytes, type

std::set<Place> places_of(const Corpus& corpus) {
    std::set<Place> out;
    for (const Sentence& sentence : corpus.sentences)
        for (const Mention& mention : sentence.mentions)
            out.emplace(sentence.document, sentence.words[mention.begin].begin, sentence.words[mention.end - 1].end,
                        corpus.types[static_cast<std::size_t>(mention.type)]);
    return out;
}

void require_same_texts(const Corpus& gold, const Corpus& found) {
    if (gold.documents.size() != found.documents.size())
        throw BadData(gold.source + " has " + std::to_string(gold.documents.size()) + " documents, " + found.source +
                      " has " + std::to_string(found.documents.size()));
    for (std::size_t d = 0; d < gold.documents.size(); ++d) {
        // Blanks and lines at the end are no part of a sentence.
        const auto text = [](const std::string& all) {
            return std::string_view(all).substr(0, all.find_last_not_of(" \t\r\n") + 1);
        };
        const std::string_view a = text(gold.documents[d].text), b = text(found.documents[d].text);
        if (a == b) continue;
        const auto differ =
            static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
        std::string place;
        for (std::size_t s = 0; s < gold.sentences.size() && place.empty(); ++s)
            if (gold.sentences[s].document == d && gold.sentences[s].words.back().end >= differ)
                place = " (in the sentence at line " + std::to_string(gold.sentences[s].line) + " of the former)";
        throw BadData(gold.source + " and " + found.source + " are not of the same text: document " +
                      std::to_string(d + 1) + " differs from byte " + std::to_string(differ + 1) + " on" + place);
    }
}

}  // namespace

double MentionCounts::precision() const { return ratio(static_cast<double>(right), static_cast<double>(found)); }
double MentionCounts::recall() const { return ratio(static_cast<double>(right), static_cast<double>(marked)); }
double MentionCounts::f1() const { return ratio(2 * static_cast<double>(right), static_cast<double>(marked + found)); }

MentionScores score_mentions(const Corpus& gold, const Corpus& found) {
    require_same_texts(gold, found);
    for (std::size_t s = 0; s < gold.sentences.size(); ++s)
        if (!gold.sentences[s].annotated)
            throw BadData(gold.place_of(s) + ": the sentence is not annotated: there is nothing to score against",
                          {.file = gold.source, .row = gold.sentences[s].line});
    const std::set<Place> marked = places_of(gold);
    const std::set<Place> there = places_of(found);
    std::map<std::string, MentionCounts> types;
    MentionScores out;
    for (const Place& place : marked) {
        ++types[std::get<3>(place)].marked;
        ++out.micro.marked;
    }
    for (const Place& place : there) {
        MentionCounts& counts = types[std::get<3>(place)];
        const bool right = marked.contains(place);
        ++counts.found;
        counts.right += right;
        ++out.micro.found;
        out.micro.right += right;
    }
    out.types.assign(types.begin(), types.end());
    return out;
}

}  // namespace coterie::ner
