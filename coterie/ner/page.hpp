#pragma once
// Shows what a tagger found as one HTML page: the text with its mentions. The reader can correct the mentions, and
// download the checked sentences as a support for the next adapt(). The page loads no other files and works without
// scripts.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/tagger.hpp"

namespace coterie::ner {

/// The origin of the page. Each text may be empty.
struct PageOrigin {
    std::string model;    // file of the tagger
    std::string command;  // the command that made the page
    std::string date;
};

/// `found` is a corpus after Tagger::tag with these vectors, one row per word. Sentences in `suggested` come first,
/// then the others in order, up to 1,000 sentences and 100,000 words; sentences of more than 2,000 words are left out.
/// The page says which and how many are shown.
/// Each mention has the colour and the name of its type. The colour is stronger if the probability of the mention is
/// larger. A mention also shows the second best tag of its word with the smallest margin.
/// Sentences that the reader has checked are downloaded in the format of the corpus: CoNLL columns, else JSON lines of
/// {"text", "spans"} with offsets in code points.
/// Throws BadData as Tagger::scores does, and if there is not one row per word.
COTERIE_API std::string mentions_page(const Tagger& tagger, const Corpus& found, PointsView vectors,
                                      const std::vector<Suggestion>& suggested, const PageOrigin& origin,
                                      const Run& run);

}  // namespace coterie::ner
