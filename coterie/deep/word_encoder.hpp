#pragma once
// Internal: a trainable word encoder, which encoder_abi.h implements.

#include <memory>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/deep/encoder_abi.h"

namespace coterie::internal {

/// Sentences one after another, and the first and last piece of each word.
struct WordBatch {
    std::vector<std::int32_t> pieces;
    std::vector<std::int64_t> starts = {0};  // of each sentence, and the end of the last
    std::vector<std::int64_t> words;         // first and last piece of each word

    Index count() const { return static_cast<Index>(words.size() / 2); }
};

class WordEncoder {
public:
    /// Each pair gives the rows and columns of an additional trained parameter.
    /// Throws ResourceError if LibTorch is not available.
    WordEncoder(const coterie_encoder_plan& plan, const std::vector<std::pair<Index, Index>>& beside, int threads);
    ~WordEncoder();
    WordEncoder(const WordEncoder&) = delete;
    WordEncoder& operator=(const WordEncoder&) = delete;

    /// Number of parameters of the encoder and of additional ones. Their order is that of encoder_abi.h.
    int parameters() const;
    std::vector<float> parameter(int number) const;
    void set_parameter(int number, const float* values, std::size_t size);
    std::vector<float> gradient(int number) const;

    /// Vectors of the words, count x hidden. The pass is not kept if `drop` is 0.
    Matrix<float> forward(const WordBatch& batch, std::uint64_t drop);
    void backward(const Matrix<float>& gradient);
    void add_gradient(int number, const Matrix<float>& gradient);
    void step(const coterie_encoder_step& how);

    /// The optimizer's state, bit for bit.
    std::vector<std::int32_t> memory() const;
    void set_memory(const std::vector<std::int32_t>& bits);

private:
    struct Handle;
    std::unique_ptr<Handle> handle_;
    Index hidden_;
};

}  // namespace coterie::internal
