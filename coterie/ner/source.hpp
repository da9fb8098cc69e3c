#pragma once
// Training an encoder on annotated corpora of other domains, the source, so that words of one type come to lie together
// before a tagger is adapted to a domain with few annotations (adapt.hpp).
//
//     x       d        vector of a word: Encoder's, of the last layer
//     c_t     d        prototype of tag t, trained along; each corpus has its own for O and for each of its types
//     p_t              exp(-1/2 || x - c_t ||^2) / sum_u exp(-1/2 || x - c_u ||^2), over the tags of the word's corpus
//     loss             the mean of -ln p of the words' tags (Hammal, Uthayasooriyar and Corro 2025, equation 2)
//
// Prototypes start as the means of their words. A batch is sentences, drawn from all corpora together, of 512 words;
// steps are AdamW's (Loshchilov and Hutter 2019; beta 0.9 and 0.999, epsilon 1e-6, decay 0.01 of matrices), the
// gradient is of norm 1 at most, the rate rises through the first tenth of the words and falls to 0 by the last, and
// what config.json says is dropped. The same bits for the same seed and number of threads.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

struct COTERIE_API SourceOptions {
    int epochs = 1;               // passes over the corpora
    double learning_rate = 5e-5;  // the largest

    static const OptionSet& described();
};

struct SourceReport {
    std::vector<double> loss_per_epoch;  // mean over its words
    Index words = 0;                     // of all corpora
    Index words_trained = 0;             // by this call; epochs x words where it was not cut off
    double seconds = 0;                  // of those
    bool interrupted = false;            // the folder holds what was trained so far
    std::vector<std::string> warnings;
};

/// Trains the encoder in the folder `encoder` (Encoder's constructor says what it holds) on corpora whose sentences are
/// all annotated, and writes it as a folder `out` of the same kind, which must not be there yet, with the key
/// coterie_trained_on_tags in config.json: Encoder::layer_of("auto") is its last layer. Prototypes are not kept.
///
/// Goes on from run.checkpoint, to the same bits. Where the run is stopped, the folder holds what was trained so far;
/// where there is a checkpoint, no folder is written and Cancelled is thrown, and the same call goes on from it.
/// BadData: a folder that is not sound, a corpus without a mention or with sentences that are not annotated, a
/// checkpoint of another training. BadArgument: options, `out`, training that diverges. ResourceError: no LibTorch.
COTERIE_API SourceReport train_source(const std::string& encoder, const std::vector<Corpus>& corpora,
                                      const std::string& out, const SourceOptions& options, const Run& run);

}  // namespace coterie::ner
