#pragma once
// Where the vectors of words come from.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

struct COTERIE_API VectorOptions {
    std::string layer = "auto";  // of an encoder: Encoder::layer_of

    static const OptionSet& described();
};

struct WordVectors {
    Points vectors;                  // one row per word of the corpus
    std::string layer;               // of an encoder: its number; else empty
    std::vector<std::string> notes;  // what the caller should know: words without a vector, say
};

/// By what `source` is:
/// a folder with config.json   an encoder (encoder.hpp), its layer as Encoder::layer_of says;
/// FILE.npy                    a row per word of the corpus, written beforehand;
/// another file, a folder      static vectors: lines WORD x_1 .. x_d (GloVe), or vocab.txt and vectors.npy; a word that
/// is
///                             not there is looked for in lower case, and else has the mean of all vectors.
/// BadData where it does not fit the corpus; BadArgument on a layer without an encoder.
COTERIE_API WordVectors word_vectors(const std::string& source, const Corpus& corpus, const VectorOptions& options,
                                     const Run& run);

}  // namespace coterie::ner
