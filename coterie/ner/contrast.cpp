// Distances and gradients of all pairs are computed as products of matrices, because the terms of the divergence
// separate. With P = 1 / S element by element, 4 D_pq = sum_i S_pi P_qi + P_pi S_qi - 2 + (m_pi - m_qi)^2 (P_pi +
// P_qi). All is in double precision, because terms of size m^2 / s cancel. The matrices are n x n for a batch of n
// words: 32 MB each for 2,048 words.

#include "coterie/ner/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/error.hpp"
#include "coterie/model/archive.hpp"

namespace coterie::ner::internal {
namespace {

constexpr Index projected_dimensions = 128;
constexpr double first_weights = 0.02;  // standard deviation of the weights at the start
constexpr double least_norm = 1e-12;
const double least_variance = std::exp(-14.0);
constexpr const char* kind = "ner-projection";
constexpr std::array<const char*, 4> names = {"mean", "mean_bias", "variance", "variance_bias"};

// NaN stays NaN, so that training that diverges is noticed.
double at_least_zero(double value) { return value < 0 ? 0 : value; }

// The loss as a function of the distances D. Returns the gradient of the sum with respect to D; for each pair, the
// terms of D_pq and D_qp are added.
Matrix<double> pair_loss(const Matrix<double>& distances, const std::vector<std::int32_t>& tags, ContrastLoss& out) {
    const Index n = distances.rows();
    Matrix<double> gradient = Matrix<double>::Zero(n, n);
    for (Index p = 0; p < n; ++p) {
        const auto tag = tags[static_cast<std::size_t>(p)];
        const auto same = [&](Index q) { return tags[static_cast<std::size_t>(q)] == tag; };
        Index others = 0;
        double nearest = std::numeric_limits<double>::infinity();
        double nearest_same = nearest;
        for (Index q = 0; q < n; ++q) {
            if (q == p) continue;
            nearest = std::min(nearest, distances(p, q));
            if (!same(q)) continue;
            ++others;
            nearest_same = std::min(nearest_same, distances(p, q));
        }
        if (others == 0) continue;
        double all = 0;
        double own = 0;
        for (Index q = 0; q < n; ++q) {
            if (q == p) continue;
            all += std::exp(nearest - distances(p, q));
            if (same(q)) own += std::exp(nearest_same - distances(p, q));
        }
        out.sum += std::log(all) - nearest - std::log(own) + nearest_same + std::log(static_cast<double>(others));
        ++out.words;
        for (Index q = 0; q < n; ++q) {
            if (q == p) continue;
            double by = -std::exp(nearest - distances(p, q)) / all;
            if (same(q)) by += std::exp(nearest_same - distances(p, q)) / own;
            gradient(p, q) += by;
            gradient(q, p) += by;
        }
    }
    return gradient;
}

Vector<double> norms_of(const Matrix<double>& means) { return means.rowwise().norm().cwiseMax(least_norm); }

Matrix<double> directions_of(const Matrix<double>& means) {
    return norms_of(means).cwiseInverse().asDiagonal() * means;
}

}  // namespace

Matrix<double> contrast_distances(const Matrix<double>& means, const Matrix<double>& variances,
                                  ContrastDistance distance) {
    Matrix<double> out;
    if (distance == ContrastDistance::directions) {
        const Matrix<double> u = directions_of(means);
        out = -2 * u * u.transpose();
        const Vector<double> squares = u.rowwise().squaredNorm();
        out.colwise() += squares;
        out.rowwise() += squares.transpose();
    } else {
        const Matrix<double> inverse = variances.cwiseInverse();
        const Matrix<double> scaled = means.cwiseProduct(inverse);
        const Vector<double> own = scaled.cwiseProduct(means).rowwise().sum();
        const Matrix<double> half =
            (variances + means.cwiseAbs2()) * inverse.transpose() - 2 * scaled * means.transpose();
        out = half + half.transpose();
        out.colwise() += own;
        out.rowwise() += own.transpose();
        out.array() -= 2 * static_cast<double>(means.cols());
        out *= 0.25;
    }
    return out.unaryExpr(&at_least_zero);  // rounding makes some of them negative
}

ContrastLoss contrast_loss(const Matrix<double>& means, const Matrix<double>& variances,
                           const std::vector<std::int32_t>& tags, ContrastDistance distance) {
    ContrastLoss out;
    const Matrix<double> by = pair_loss(contrast_distances(means, variances, distance), tags, out);
    const Vector<double> sums = by.rowwise().sum();
    if (distance == ContrastDistance::directions) {
        // The gradient with respect to u is 2 sum_q by_pq (u_p - u_q). The gradient with respect to m is the part of it
        // that is orthogonal to u, divided by |m|.
        const Matrix<double> u = directions_of(means);
        out.by_means = 2 * (sums.asDiagonal() * u - by * u);
        const Vector<double> along = out.by_means.cwiseProduct(u).rowwise().sum();
        out.by_means -= along.asDiagonal() * u;
        out.by_means = Matrix<double>(norms_of(means).cwiseInverse().asDiagonal() * out.by_means);
        out.by_variances = Matrix<double>::Zero(means.rows(), means.cols());
        return out;
    }
    const Matrix<double> inverse = variances.cwiseInverse();
    const Matrix<double> of_inverse = by * inverse;
    const Matrix<double> of_means = by * means;
    // 1/2 sum_q by_pq (m_p - m_q) (P_p + P_q)
    out.by_means = 0.5 * (means.cwiseProduct(sums.asDiagonal() * inverse + of_inverse) -
                          inverse.cwiseProduct(of_means) - by * means.cwiseProduct(inverse));
    // 1/4 sum_q by_pq (P_q - P_p^2 (S_q + (m_p - m_q)^2))
    const Matrix<double> squares = by * Matrix<double>(variances + means.cwiseAbs2()) +
                                   sums.asDiagonal() * means.cwiseAbs2() - 2 * means.cwiseProduct(of_means);
    out.by_variances = 0.25 * (of_inverse - inverse.cwiseAbs2().cwiseProduct(squares));
    return out;
}

Projection Projection::drawn(Index dimensions, RandomStream random) {
    Projection out;
    for (const std::size_t p : {std::size_t{0}, std::size_t{2}}) {
        out.parameters[p].resize(projected_dimensions, dimensions);
        for (Index i = 0; i < projected_dimensions; ++i)
            for (Index j = 0; j < dimensions; ++j)
                out.parameters[p](i, j) = static_cast<float>(first_weights * random.normal());
        out.parameters[p + 1] = Matrix<float>::Zero(1, projected_dimensions);
    }
    return out;
}

Projection Projection::load(const std::string& path, Index dimensions) {
    const Archive archive = Archive::load(path);
    if (archive.method() != kind)
        throw BadData(Code::model_mismatch,
                      "the file is a model of " + archive.method() + ", not a projection of words", "", {.file = path});
    Projection out;
    try {
        const Index rows = archive.points(names[0], -1, dimensions).rows();
        for (std::size_t p = 0; p < names.size(); ++p)
            out.parameters[p] = to_matrix<float>(p % 2 == 0 ? archive.points(names[p], rows, dimensions)
                                                            : archive.points(names[p], 1, rows));
    } catch (BadData& error) {
        error.amend([&](Message& message) { message.file = path; });
        throw;
    }
    return out;
}

void Projection::save(const std::string& path) const {
    Archive archive(kind);
    for (std::size_t p = 0; p < names.size(); ++p) archive.set_points(names[p], PointsView(parameters[p]));
    archive.save(path);
}

ProjectedLoss projected_loss(const Matrix<float>& vectors, const std::vector<std::int32_t>& tags,
                             const Projection& projection, ContrastDistance distance) {
    const Matrix<double> seen = vectors.cast<double>().unaryExpr(&at_least_zero);
    const auto projected = [&](std::size_t p) {
        Matrix<double> out = seen * projection.parameters[p].cast<double>().transpose();
        out.rowwise() += projection.parameters[p + 1].row(0).cast<double>();
        return out;
    };
    const Matrix<double> means = projected(0);
    const Matrix<double> before = projected(2);
    // elu(v) + 1 is v + 1 above 0 and e^v below. Its slope is the smaller of 1 and e^v.
    const auto variance = [](double v) { return (v > 0 ? v + 1 : std::exp(v)) + least_variance; };
    const auto slope = [](double v) { return v > 0 ? 1.0 : std::exp(v); };
    const ContrastLoss loss = contrast_loss(means, before.unaryExpr(variance), tags, distance);
    ProjectedLoss out{loss.sum, loss.words, {}, {}};
    Matrix<double> by_vectors = Matrix<double>::Zero(vectors.rows(), vectors.cols());
    const auto back = [&](std::size_t p, const Matrix<double>& by) {
        out.by_parameters[p] = (by.transpose() * seen).cast<float>();
        out.by_parameters[p + 1] = by.colwise().sum().cast<float>();
        by_vectors += by * projection.parameters[p].cast<double>();
    };
    back(0, loss.by_means);
    back(2, loss.by_variances.cwiseProduct(before.unaryExpr(slope)));
    out.by_vectors = (vectors.array() > 0).select(by_vectors.cast<float>(), 0.0F);
    return out;
}

}  // namespace coterie::ner::internal
