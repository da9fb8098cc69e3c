#pragma once
// A word's vector from its sentence: the forward pass of a pre-trained encoder of the BERT kind, without any library of
// networks.
//
//     pieces   of the words of a sentence (WordPiece), between [CLS] and [SEP]
//     h^0      embeddings of piece, position and (BERT) token type, normalised
//     h^l      layer l = 1..L: multi-head attention, then two dense layers with an activation between, each with its
//              residual and normalisation after it (Vaswani et al. 2017; Devlin et al. 2019); MPNet adds a learnt
//              number per head and relative position to the attention scores (Song et al. 2020)
//     x        of a word: the mean of h^l of its first and its last piece
//
// A sentence of more pieces than the encoder has positions is cut at borders of words; of a word that has more by
// itself, all pieces but the first ones and the last are left out. Sentences are not padded, and which of them are
// computed together depends on the corpus alone: the same bits at any number of threads.

#include <memory>
#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

class COTERIE_API Encoder {
public:
    /// A folder as Hugging Face's programs write it: config.json (model_type bert, distilbert or mpnet; activation
    /// gelu, gelu_new or relu), vocab.txt, tokenizer_config.json and model.safetensors (F32). BadData, naming the file
    /// and the key or tensor, where one is missing, of another shape than config.json says, or not finite.
    explicit Encoder(const std::string& folder);
    Encoder(Encoder&&) noexcept;
    Encoder& operator=(Encoder&&) noexcept;
    ~Encoder();

    Index dimensions() const;
    /// L.
    int layers() const;
    /// "last" is L, "middle" L / 2, a number from 0 to L itself. "auto" is L where the encoder was trained on tags
    /// (source.hpp), else L / 2, which serves better then. BadArgument names them.
    int layer_of(const std::string& text) const;

    /// One row per word of the corpus, layer l. Throws as the run's stop says.
    Matrix<float> encode(const Corpus& corpus, int layer, const Run& run) const;

private:
    struct Network;
    std::unique_ptr<const Network> network_;
};

}  // namespace coterie::ner
