#pragma once
// Internal: one update of DEKM, without the network.

#include "coterie/deep/dekm.hpp"
#include "coterie/deep/internal/alternation.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

struct GreedyTargets {
    Matrix<double> rotation;  // V
    Vector<double> spreads;   // eigenvalues of S_w, ascending
    Matrix<double> means;     // k x p: mu
    Matrix<double> targets;   // n x p: y'
};
GreedyTargets greedy_targets(const Matrix<double>& embedding, const Labels& labels, int clusters, DekmMove move,
                             const Run& run);

BatchLoss greedy_loss(const Matrix<float>& encoded, const GreedyTargets& targets,
                      const std::vector<std::int64_t>& rows);

}  // namespace coterie::deep::internal
