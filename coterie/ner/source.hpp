#pragma once
// Training an encoder on annotated corpora of other domains, the source, so that words of one type come to lie together
// before a tagger is adapted to a domain with few annotations (adapt.hpp).
//
//     x       d        vector of a word: Encoder's, of the last layer
//     c_t     d        prototype of tag t, trained along; each corpus has its own for O and for each of its types
//     p_t              exp(-1/2 || x - c_t ||^2) / sum_u exp(-1/2 || x - c_u ||^2), over the tags of the word's corpus
//     m, s    128      mean and variance of a word's Gaussian: A r + a and elu(B r + b) + 1 + e^-14, r = max(x, 0)
//     D_ij             1/2 (KL(i || j) + KL(j || i)), the divergence of two words' Gaussians
//
//     prototypes   the mean of -ln p of the words' tags (Hammal, Uthayasooriyar and Corro 2025, equation 2)
//     contrastive  the mean of -ln( mean over j in Q_i of exp(-D_ij) / sum_{j != i} exp(-D_ij) ) over the words i of a
//                  batch, j others of the same corpus in it, Q_i those of i's tag (CONTaiNER: Das et al. 2022). A, a,
//                  B, b, the projection, start at random and are kept beside the encoder as projection.coterie
//     support      the same on the few sentences that a tagger is to be adapted from, of an encoder that has one. Where
//                  a type has one mention, D_ij is || m_i / |m_i| - m_j / |m_j| ||^2, as nothing tells its variance.
//                  Passes go on until the loss is above that of the one before, 100 at most
//
// Prototypes start as the means of their words. A batch is sentences, drawn from all corpora together, of 512 words, of
// a support 2,048; steps are AdamW's (Loshchilov and Hutter 2019; beta 0.9 and 0.999, epsilon 1e-6, decay 0.01 of
// matrices), the gradient is of norm 1 at most, and what config.json says is dropped. The rate rises through the first
// tenth of the words and falls to 0 by the last; on a support it stays. The same bits for the same seed and number of
// threads.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

enum class SourceObjective { prototypes, contrastive, support };

struct COTERIE_API SourceOptions {
    SourceObjective objective = SourceObjective::prototypes;
    int epochs = 1;               // passes over the corpora; of a support 1, as it ends by itself
    double learning_rate = 5e-5;  // the largest

    static const OptionSet& described();
};

struct SourceReport {
    std::vector<double> loss_per_epoch;  // mean over its words; contrastive: over those with another of their tag
    std::string distance;                // between words, and why, in words; of prototypes none
    Index words = 0;                     // of all corpora
    Index words_trained = 0;             // by this call; epochs x words where it was not cut off
    double seconds = 0;                  // of those
    bool interrupted = false;            // the folder holds what was trained so far
    std::vector<std::string> warnings;
};

/// Trains the encoder in the folder `encoder` (Encoder's constructor says what it holds) on corpora whose sentences are
/// all annotated, and writes it as a folder `out` of the same kind, which must not be there yet, with the key
/// coterie_trained_on_tags in config.json: Encoder::layer_of("auto") is its last layer. Prototypes are not kept. A
/// support is one corpus.
///
/// Goes on from run.checkpoint, to the same bits. Where the run is stopped, the folder holds what was trained so far;
/// where there is a checkpoint, no folder is written and Cancelled is thrown, and the same call goes on from it.
/// BadData: a folder that is not sound or has no projection for a support, a corpus without a mention or with sentences
/// that are not annotated, a checkpoint of another training. BadArgument: options, `out`, training that diverges.
/// ResourceError: no LibTorch.
COTERIE_API SourceReport train_source(const std::string& encoder, const std::vector<Corpus>& corpora,
                                      const std::string& out, const SourceOptions& options, const Run& run);

}  // namespace coterie::ner
