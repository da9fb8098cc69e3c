#pragma once
// Gets the vectors of words from an encoder or a file.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

struct COTERIE_API VectorOptions {
    std::string layer = "auto";  // for an encoder, see Encoder::layer_of

    static const OptionSet& described();
};

struct WordVectors {
    Points vectors;              // one row per word of the corpus
    std::string layer;           // the number of the encoder's layer; else empty
    std::vector<Message> notes;  // information for the caller, for example about words without a vector
};

/// Gets the vectors from `source`:
///
///     a folder with config.json   an encoder (encoder.hpp) with the layer of Encoder::layer_of
///     FILE.npy                    one row per word of the corpus, computed in advance
///     other files and folders     static vectors: lines WORD x_1 .. x_d (GloVe), or a folder with vocab.txt and
///                                 vectors.npy. A missing word is looked up in lower case. If this is also missing,
///                                 the word gets the mean of all vectors.
///
/// Throws BadData if the source is not valid or does not fit the corpus. Throws BadArgument for a layer without an
/// encoder.
COTERIE_API WordVectors word_vectors(const std::string& source, const Corpus& corpus, const VectorOptions& options,
                                     const Run& run);

}  // namespace coterie::ner
