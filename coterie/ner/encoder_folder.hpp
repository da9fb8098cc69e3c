#pragma once
// Internal: an encoder as it lies in a folder: what config.json says, the pieces of vocab.txt, and the tensors of
// model.safetensors in an order of ours, whatever their names; and how a corpus is cut for it.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/ner/contrast.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/internal/word_pieces.hpp"

namespace coterie::ner::internal {

enum class Activation { gelu, gelu_tanh, relu };

struct EncoderShape {
    std::string kind;  // bert, distilbert, mpnet
    Index hidden = 0, heads = 0, inner = 0, layers = 0;
    Index words = 0;           // pieces of the vocabulary
    Index positions = 0;       // rows of the table of positions
    Index first_position = 0;  // the row of a sentence's first piece
    Index token_types = 0;     // BERT's; else 0
    Index buckets = 0;         // of relative positions; 0: none
    double epsilon = 0;        // of normalisations
    Activation activation = Activation::gelu;
    bool trained_on_tags = false;
    // Shares of numbers that training drops: of the embeddings and what the layers' second half gives; of attention; of
    // what the layers' first half gives.
    double dropout = 0, dropout_of_attention = 0, dropout_of_mixed = 0;
};

class EncoderFolder {
public:
    /// As Encoder's constructor: BadData naming file and key or tensor.
    explicit EncoderFolder(const std::string& folder);

    EncoderShape shape;
    WordPieces vocabulary;

    /// In this order: pieces; positions, the token type's row added; weight and bias of the normalisation after them;
    /// relative positions where there are; then per layer weight and bias of query, key, value, output, normalisation,
    /// inner, outer, normalisation. A bias, and what normalises, is a row.
    struct Parameter {
        std::string key;  // without the prefix that some programs write
        Index rows = 0, columns = 0;
        bool vector = false;
    };
    const std::vector<Parameter>& parameters() const { return parameters_; }
    Matrix<float> matrix(std::size_t parameter) const;

    /// The folder with other numbers, those of parameters(), as a folder `to`, which must not be there: config.json
    /// with the mark that it was trained on tags, what else it holds as it was, and the projection where there is one.
    /// ResourceError where it cannot be written.
    void write_trained(const std::string& to, const std::vector<std::vector<float>>& values,
                       const Projection* projection = nullptr) const;

private:
    Matrix<float> read(const std::string& key, Index rows, Index columns, bool vector) const;
    /// What every position has added to it.
    Vector<float> token_type() const;
    const formats::SafetensorsFile::Entry* find(const std::string& key) const;

    std::string folder_, tensors_path_;
    formats::Bytes bytes_;
    formats::SafetensorsFile file_;
    std::map<std::string, std::size_t> entries_;  // of the file, by key
    std::vector<Parameter> parameters_;
};

/// Pieces of consecutive words of a sentence, between [CLS] and [SEP].
struct Chunk {
    Index first_word = 0;  // in the corpus
    std::vector<std::int32_t> pieces;
    std::vector<std::pair<Index, Index>> words;  // first and last piece of each
};
/// Of at most `positions` pieces each: Encoder says how longer sentences and words are cut.
std::vector<Chunk> chunks_of(const Corpus& corpus, const WordPieces& vocabulary, Index positions);

}  // namespace coterie::ner::internal
