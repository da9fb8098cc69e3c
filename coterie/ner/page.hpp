#pragma once
// What a tagger found, as a page of HTML that stands alone: the text with its mentions, to look at, to correct, and to
// take away as a support for the next adapt(). Nothing is fetched; without scripts it can be read.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/tagger.hpp"

namespace coterie::ner {

inline constexpr Index most_sentences_of_page = 1000;
inline constexpr Index most_words_of_page = 100000;
inline constexpr Index most_words_of_page_sentence = 2000;

/// Who made the page and of what; each may be empty.
struct PageOrigin {
    std::string model;    // file of the tagger
    std::string command;  // how it was asked for
    std::string date;
};

/// `found`: a corpus after Tagger::tag with these vectors, a row per word. Sentences in `suggested` stand first, the
/// others in their order, up to the bounds above; the page says how many are shown and which. A mention has its type's
/// colour and name, the stronger the surer it is (its probability), and tells its runner-up: the tag of the next larger
/// score of its word of least margin. Sentences that the reader has looked over are downloaded in the form in which the
/// corpus was read: CoNLL columns, else JSON lines of {"text", "spans"}, offsets in code points. BadData as
/// Tagger::scores, and where there is not one row per word.
COTERIE_API std::string mentions_page(const Tagger& tagger, const Corpus& found, PointsView vectors,
                                      const std::vector<Suggestion>& suggested, const PageOrigin& origin,
                                      const Run& run);

}  // namespace coterie::ner
