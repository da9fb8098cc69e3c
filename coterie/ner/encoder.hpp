#pragma once
// Computes the vector of a word from its sentence: the forward pass of a pre-trained encoder such as BERT, without a
// neural network library.
//
//     pieces   of the words of a sentence (WordPiece), between [CLS] and [SEP]
//     h^0      embeddings of piece, position and (BERT) token type, normalised
//     h^l      layer l = 1..L: multi-head attention, then two dense layers with an activation between. Each is followed
//              by its residual and a normalisation (Vaswani et al. 2017; Devlin et al. 2019). MPNet adds a learned
//              number per head and relative position to the attention scores (Song et al. 2020)
//     x        of a word: the mean of h^l of its first and its last piece
//
// A sentence with more pieces than the encoder has positions is split between words. If one word has more pieces than
// that, only its first pieces and its last piece are kept. Sentences are not padded, and only the corpus determines how
// they are grouped. So the result has the same bits for any number of threads.

#include <memory>
#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

class COTERIE_API Encoder {
public:
    /// Reads a folder as Hugging Face's programs write it:
    /// - config.json (model_type bert, distilbert or mpnet; activation gelu, gelu_new or relu)
    /// - vocab.txt and tokenizer_config.json
    /// - model.safetensors (F32)
    ///
    /// Throws BadData, with the file and the key or tensor, if one is missing, is not finite, or has another shape than
    /// config.json says.
    explicit Encoder(const std::string& folder);
    Encoder(Encoder&&) noexcept;
    Encoder& operator=(Encoder&&) noexcept;
    ~Encoder();

    Index dimensions() const;
    /// The number of layers L.
    int layers() const;
    /// The number of a layer: "last" is L, "middle" is L / 2, and a number from 0 to L is itself. "auto" is L if the
    /// encoder was trained on tags (source.hpp). For other encoders it is L / 2, which is better for them. Throws
    /// BadArgument for any other text.
    int layer_of(const std::string& text) const;

    /// The vectors after layer l, one row per word of the corpus. Throws Cancelled if the run is stopped, and BadData
    /// if vectors are not finite.
    Matrix<float> encode(const Corpus& corpus, int layer, const Run& run) const;

private:
    struct Network;
    std::unique_ptr<const Network> network_;
};

}  // namespace coterie::ner
