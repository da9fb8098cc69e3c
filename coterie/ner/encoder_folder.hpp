#pragma once
// Internal: an encoder in a folder: the values of config.json, the pieces of vocab.txt and the tensors of
// model.safetensors. The tensors have a fixed order, independent of their names. Also splits a corpus into chunks for
// the encoder.

#include <map>

#include "coterie/base/points.hpp"
#include "coterie/deep/encoder_abi.h"
#include "coterie/io/formats.hpp"
#include "coterie/ner/contrast.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/internal/word_pieces.hpp"

namespace coterie::ner::internal {

enum Activation : std::int32_t { gelu, gelu_tanh, relu };  // as in encoder_abi.h

/// The values of config.json. first_position: the row of a sentence's first piece in the table of positions.
struct EncoderShape : coterie_encoder_plan {
    std::string kind;       // bert, distilbert, mpnet
    Index token_types = 0;  // for BERT; else 0
    bool trained_on_tags = false;
};

class EncoderFolder {
public:
    /// Throws BadData as Encoder's constructor does, with the file and the key or tensor.
    explicit EncoderFolder(const std::string& folder);

    EncoderShape shape;
    WordPieces vocabulary;

    /// The order of the parameters: pieces; positions, with the row of the token type added; weight and bias of their
    /// normalisation; relative positions, if any. Then, per layer, weight and bias of query, key, value, output,
    /// normalisation, inner, outer, normalisation. Biases and the parameters of normalisations are one row each.
    struct Parameter {
        std::string key;  // without the prefix that some programs write
        Index rows = 0, columns = 0;
        bool vector = false;
    };
    const std::vector<Parameter>& parameters() const { return parameters_; }
    Matrix<float> matrix(std::size_t parameter) const;

    /// Writes a copy of the folder with new values for parameters() to the folder `to`, which must not exist or be
    /// empty. config.json gets the key that says that the encoder was trained on tags. Writes the projection if there
    /// is one. Throws ResourceError if the folder cannot be written.
    void write_trained(const std::string& to, const std::vector<std::vector<float>>& values,
                       const std::optional<Projection>& projection = {}) const;

private:
    Matrix<float> read(const std::string& key, Index rows, Index columns, bool vector) const;
    /// The row that is added to every position.
    Vector<float> token_type() const;
    const formats::SafetensorsFile::Entry* find(const std::string& key) const;

    std::string folder_, tensors_path_;
    formats::Bytes bytes_;
    formats::SafetensorsFile file_;
    std::map<std::string, std::size_t> entries_;  // index of the tensor in the file, by key
    std::vector<Parameter> parameters_;
};

/// Pieces of consecutive words of a sentence, between [CLS] and [SEP].
struct Chunk {
    Index first_word = 0;  // its number in the corpus
    std::vector<std::int32_t> pieces;
    std::vector<std::pair<Index, Index>> words;  // first and last piece of each word
};
/// Splits the corpus into chunks of at most `positions` pieces each. For long sentences and words see encoder.hpp.
std::vector<Chunk> chunks_of(const Corpus& corpus, const WordPieces& vocabulary, Index positions);

}  // namespace coterie::ner::internal
