#pragma once
// Internal: the soft assignments of DEC and their loss, without the network.

#include "coterie/deep/internal/alternation.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// q, n x k.
Matrix<double> soft_assignments(const Matrix<double>& embedding, const Matrix<double>& centroids, int threads);
/// p, n x k.
Matrix<double> sharpened(const Matrix<double>& q);
/// mean_i KL(p_i || q_i).
double mean_divergence(const Matrix<double>& p, const Matrix<double>& q);

struct SoftLoss {
    double value = 0;             // mean over the rows
    Matrix<double> by_embedding;  // rows x p
    Matrix<double> by_centroids;  // k x p
};
/// p: the target for each row of z.
SoftLoss soft_loss(const Matrix<double>& z, const Matrix<double>& centroids, const Matrix<double>& p);

}  // namespace coterie::deep::internal
