#pragma once
// Trains an encoder on annotated corpora of other domains, the source. So words of one type are already close together
// when a tagger is adapted to a domain with few annotations (adapt.hpp).
//
//     x       d        vector of a word, from the last layer of the encoder
//     c_t     d        prototype of tag t, also trained; each corpus has its own for O and for each of its types
//     p_t              exp(-1/2 || x - c_t ||^2) / sum_u exp(-1/2 || x - c_u ||^2), over the tags of the word's corpus
//     m, s    128      mean and variance of a word's Gaussian: A r + a and elu(B r + b) + 1 + e^-14, r = max(x, 0)
//     D_ij             1/2 (KL(i || j) + KL(j || i)), the divergence of two words' Gaussians
//
// Objectives:
// - prototypes: the mean of -ln p of the words' tags (Hammal, Uthayasooriyar and Corro 2025, equation 2).
// - contrastive: the mean of -ln( mean over j in Q_i of exp(-D_ij) / sum_{j != i} exp(-D_ij) ) over the words i of a
//   batch (CONTaiNER: Das et al. 2022). The words j are those of the same corpus in the batch, and Q_i those with the
//   tag of i. The projection A, a, B, b starts at random, and is saved in the encoder's folder as projection.coterie.
// - support: the contrastive loss on the support, the few sentences to which a tagger will be adapted. The encoder must
//   have a projection. If a type has only one mention, D_ij is || m_i / |m_i| - m_j / |m_j| ||^2, because one mention
//   does not determine a variance. Training ends when the loss exceeds that of the previous pass, or after 100 passes.
//
// Prototypes start as the means of their words. A batch takes sentences from all corpora until they have 512 words, or
// 2,048 for a support. Steps are those of AdamW (Loshchilov and Hutter 2019) with beta 0.9 and 0.999, epsilon 1e-6, and
// decay 0.01 for matrices. The norm of the gradient is at most 1. Dropout is as in config.json. The learning rate rises
// over the first tenth of the words and then falls to 0 at the last word. On a support, it is constant. The same seed
// and number of threads give the same bits.

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
    int epochs = 1;  // passes over the corpora; must be 1 for a support, where the loss decides when training ends
    double learning_rate = 5e-5;  // its maximum

    static const OptionSet& described();
};

struct SourceReport {
    std::vector<double> loss_per_epoch;  // mean over its words; contrastive: over the words that share their tag with
                                         // another word of the batch
    std::string distance;                // the distance between words and the reason, in words; empty for prototypes
    Index words = 0;                     // number of words of all corpora
    Index words_trained = 0;             // in this call; epochs x words if it was not interrupted
    double seconds = 0;                  // time for words_trained
    bool interrupted = false;            // the folder holds a partly trained encoder
    std::vector<Message> warnings;
};

/// Trains the encoder in the folder `encoder` on annotated corpora. Encoder's constructor says what the folder holds.
/// Writes the result as the same kind of folder to `out`, which must not exist or be empty. The new config.json has the
/// key coterie_trained_on_tags, so Encoder::layer_of("auto") is the last layer. Prototypes are not saved. For a
/// support, there must be exactly one corpus.
///
/// Continues from run.checkpoint, and ends with the same bits as an uninterrupted call. If the run is stopped and has
/// no checkpoint, the folder holds the partly trained encoder. If it has a checkpoint, no folder is written and
/// Cancelled is thrown. The same call then continues from the checkpoint.
///
/// Throws BadData if a folder is not valid, or has no projection for a support. Also if a corpus has no mention or has
/// sentences that are not annotated, or if a checkpoint is of another training. Throws BadArgument if an option, `out`
/// or run.device is not accepted, or if training diverges. Throws ResourceError if LibTorch is not available or if
/// there is not enough memory.
COTERIE_API SourceReport train_source(const std::string& encoder, const std::vector<Corpus>& corpora,
                                      const std::string& out, const SourceOptions& options, const Run& run);

}  // namespace coterie::ner
