#pragma once
// Internal: the loss of CONTaiNER (Das, Katiyar, Passonneau and Zhang 2022). Each word is a Gaussian with diagonal
// variance. The loss pulls words of one tag together and pushes other words apart.
//
//     h       d     vector of a word; r = max(h, 0)
//     m, s    l     mean A r + a, variance elu(B r + b) + 1 + e^-14; l = 128
//     D_pq          1/2 (KL(p || q) + KL(q || p)), or || m_p / |m_p| - m_q / |m_q| ||^2, which does not use the
//                   variances
//     loss          of a word p, with Q the other words of its tag:
//                   -ln( mean over Q of exp(-D_pq) / sum_{q != p} exp(-D_pq) )
//
// A word has no loss if no other word has its tag.

#include <array>

#include "coterie/base/points.hpp"
#include "coterie/base/random.hpp"

namespace coterie::ner::internal {

enum class ContrastDistance { divergence, directions };

/// Means and variances are n x l each. Returns D, n x n.
Matrix<double> contrast_distances(const Matrix<double>& means, const Matrix<double>& variances,
                                  ContrastDistance distance);

struct ContrastLoss {
    double sum = 0;               // over the words that have a loss
    Index words = 0;              // their number
    Matrix<double> by_means;      // gradient of the sum, n x l
    Matrix<double> by_variances;  // n x l
};
ContrastLoss contrast_loss(const Matrix<double>& means, const Matrix<double>& variances,
                           const std::vector<std::int32_t>& tags, ContrastDistance distance);

/// The parameters A, a, B, b.
struct Projection {
    static constexpr const char* file = "projection.coterie";  // in the folder of an encoder

    std::array<Matrix<float>, 4> parameters;  // l x d, 1 x l, l x d, 1 x l

    static Projection drawn(Index dimensions, RandomStream random);
    /// Throws BadData, with the name of the file, if the file is not a projection for d dimensions.
    static Projection load(const std::string& path, Index dimensions);
    void save(const std::string& path) const;
};

struct ProjectedLoss {
    double sum = 0;
    Index words = 0;
    Matrix<float> by_vectors;                    // gradient of the sum, n x d
    std::array<Matrix<float>, 4> by_parameters;  // by the parameters of the projection
};
ProjectedLoss projected_loss(const Matrix<float>& vectors, const std::vector<std::int32_t>& tags,
                             const Projection& projection, ContrastDistance distance);

}  // namespace coterie::ner::internal
