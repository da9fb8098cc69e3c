#pragma once
// The word vectors from which a tagger is adapted: those of a support and of other sentences.

#include "coterie/ner/vectors.hpp"

namespace coterie::ner {

struct SupportVectors {
    Points support;     // one row per word of the support
    Points other;       // one row per other word; empty without another corpus
    std::string layer;  // the number of the encoder's layer; else empty
};

/// `other` may be nullptr. If the source is an encoder or a table, each corpus gets its own vectors. If it is a .npy
/// file, the file has one row per word of `other`. The sentences of the support are looked up in `other`; the remaining
/// sentences give the rows of SupportVectors::other. Calls take_notes with notes on the vectors as soon as possible.
SupportVectors support_vectors(const std::string& source, const Corpus& support, const Corpus* other,
                               const VectorOptions& options, const Run& run,
                               const std::function<void(const std::vector<Message>&)>& take_notes);

}  // namespace coterie::ner
