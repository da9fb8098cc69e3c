#pragma once
// Scores of mentions as the script conlleval counts them: a mention that was found is right where the same piece of the
// text is marked with the same type.
//
//     precision  right / found        recall  right / marked        F1  2 precision recall / (precision + recall)
//
// each 0 where it would be 0 / 0. Micro: the counts of all types added up.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

struct COTERIE_API MentionCounts {
    Index marked = 0;  // in the gold corpus
    Index found = 0;
    Index right = 0;

    double precision() const;
    double recall() const;
    double f1() const;
};

struct MentionScores {
    MentionCounts micro;
    /// Types of either corpus, by name.
    std::vector<std::pair<std::string, MentionCounts>> types;
};

/// Both hold the same text, blanks apart; formats, and cuts into documents, sentences and words, may differ. BadData
/// names the line of `gold` where the texts differ. Sentences of `gold` that are not annotated are refused.
COTERIE_API MentionScores score_mentions(const Corpus& gold, const Corpus& found);

}  // namespace coterie::ner
