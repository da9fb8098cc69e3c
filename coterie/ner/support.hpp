#pragma once
// Which sentences to annotate: a support drawn from an annotated corpus, a support's sentences found again in a corpus,
// and what to annotate next.

#include <string>
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

/// A support with at least `shots` mentions of every type, by the greedy rule of the field (Yang and Katiyar 2020):
/// types in ascending frequency; while a type has fewer mentions in the support, a sentence that has it is drawn, each
/// of those left equally likely, and all of its mentions count. Numbers of sentences, ascending. BadData where a type
/// has fewer than `shots` mentions, BadArgument on options.
COTERIE_API std::vector<std::size_t> sample_support(const Corpus& corpus, const SampleOptions& options, const Run& run);

/// For every sentence of `some` the first sentence of `all` with the same words that was not taken yet. BadData, naming
/// file and line, where there is none.
COTERIE_API std::vector<std::size_t> find_sentences(const Corpus& some, const Corpus& all);

struct COTERIE_API SuggestOptions {
    int count = 5;  // sentences

    static const OptionSet& described();
};

struct Suggestion {
    std::size_t sentence = 0;
    std::int32_t type = 0;  // what it would teach most about
    double value = 0;       // 0 to 1
};

/// Sentences worth annotating: those with a word near the border of a type. Let g be a word's score of type t less its
/// largest other score, and h the median of |g| over all words and types; the word's value is
/// exp(-|g| / h) / (1 + exp(-g / h)). Of each type in turn, in the tagger's order, the sentence of largest value that
/// was not taken is taken. Sentences that are annotated are left out. BadData as Tagger::tag, BadArgument on options.
COTERIE_API std::vector<Suggestion> suggest_sentences(const Tagger& tagger, const Corpus& corpus, PointsView vectors,
                                                      const SuggestOptions& options, const Run& run);

}  // namespace coterie::ner
