#pragma once
// Scores of mentions as the script conlleval computes them. A mention that was found is right if the same span of the
// text has the same type in the gold corpus.
//
//     precision  right / found        recall  right / marked        F1  2 precision recall / (precision + recall)
//
// Each is 0 if it would be 0 / 0. Micro: from the sums of the counts over all types.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

struct COTERIE_API MentionCounts {
    Index marked = 0;  // number of mentions in the gold corpus
    Index found = 0;
    Index right = 0;

    double precision() const;
    double recall() const;
    double f1() const;
};

struct MentionScores {
    MentionCounts micro;
    /// The types of both corpora, sorted by name.
    std::vector<std::pair<std::string, MentionCounts>> types;
};

/// Both corpora must hold the same text, except for blanks. Their formats, and how they split the text into documents,
/// sentences and words, may differ.
/// Throws BadData, with the line of `gold`, if the texts differ or if a sentence of `gold` is not annotated.
COTERIE_API MentionScores score_mentions(const Corpus& gold, const Corpus& found);

}  // namespace coterie::ner
