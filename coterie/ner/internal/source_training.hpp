#pragma once
// Internal: the part of source training that can be tested alone.

#include "coterie/base/points.hpp"
#include "coterie/ner/encoder_folder.hpp"

namespace coterie::ner::internal {

struct PrototypeLoss {
    double sum = 0;               // of -ln p over the words
    Matrix<float> by_vectors;     // gradient of the sum, n x d
    Matrix<float> by_prototypes;  // L x d
};
/// The loss of words with tags in 0..L-1. ln p_t is s_t - ln(sum_u exp(s_u)) with s_t = -1/2 || x - c_t ||^2.
PrototypeLoss prototype_loss(const Matrix<float>& vectors, const std::vector<std::int32_t>& tags,
                             const Matrix<float>& prototypes);

}  // namespace coterie::ner::internal
