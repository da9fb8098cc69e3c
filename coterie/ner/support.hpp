#pragma once
// Chooses sentences: draws a support from an annotated corpus, finds the sentences of a support in a corpus, and
// suggests sentences to annotate next.

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/tagger.hpp"

namespace coterie::ner {

struct COTERIE_API SampleOptions {
    int shots = 5;

    static const OptionSet& described();
};

/// Draws a support with at least `shots` mentions of every type, by the usual greedy rule (Yang and Katiyar 2020).
/// Types are taken in ascending order of frequency. While a type has too few mentions, a sentence that has it is drawn
/// at random, and all mentions of the sentence count. Returns the numbers of the sentences, ascending.
/// Throws BadData if the corpus has no mentions, or a type has fewer than `shots`. Throws BadArgument if an option is
/// not valid.
COTERIE_API std::vector<std::size_t> sample_support(const Corpus& corpus, const SampleOptions& options, const Run& run);

/// For each sentence of `some`, the first sentence of `all` that has the same words and was not found before. Throws
/// BadData, with file and line, if there is no such sentence.
COTERIE_API std::vector<std::size_t> find_sentences(const Corpus& some, const Corpus& all);

struct COTERIE_API SuggestOptions {
    int count = 5;  // number of sentences

    static const OptionSet& described();
};

struct Suggestion {
    std::size_t sentence = 0;
    std::int32_t type = 0;  // the type that the sentence would teach most about
    double value = 0;       // from 0 to 1
};

/// Suggests sentences to annotate: those with a word near the border of a type. Let g be the score of type t for a
/// word, minus the word's largest other score. Let h be the median of |g| over all words and types. The value of the
/// word is exp(-|g| / h) / (1 + exp(-g / h)).
/// The types take turns in the order of the tagger. Each takes the sentence with the largest value that is not yet
/// taken. Annotated sentences are left out. Throws BadData as Tagger::tag does, and BadArgument for bad options.
COTERIE_API std::vector<Suggestion> suggest_sentences(const Tagger& tagger, const Corpus& corpus, PointsView vectors,
                                                      const SuggestOptions& options, const Run& run);

}  // namespace coterie::ner
