// By the eigenvectors of X'X rather than a Cholesky factor of X'X + lambda I: they tell the rank, and serve any points,
// singular ones too. An eigenvalue up to max(n, q) epsilons of the largest counts as rounding. Columns begin with the
// largest eigenvalue.

#include "coterie/deformation/internal/ridge_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie::internal {

RidgeBasis::RidgeBasis(const Matrix<double>& points, std::optional<double> lambda, double lambda_rel, const Run& run) {
    const Index q = points.cols();
    const Matrix<double> scatter = transposed_by(points, points, run.threads);
    mean_eigenvalue_ = scatter.trace() / static_cast<double>(q);
    lambda_ = lambda.value_or(lambda_rel * mean_eigenvalue_);
    const EigenPairs pairs = symmetric_eigen(scatter, run, "eigenvectors");
    run.throw_if_stopped("eigenvectors");
    const double least =
        static_cast<double>(std::max(points.rows(), q)) * std::numeric_limits<double>::epsilon() * pairs.values[q - 1];
    Index rank = 0;
    while (rank < q && pairs.values[q - 1 - rank] > least) ++rank;
    map_.resize(q, rank);
    for (Index c = 0; c < rank; ++c)
        map_.col(c) = pairs.vectors.col(q - 1 - c) / std::sqrt(pairs.values[q - 1 - c] + lambda_);
    const Matrix<double> columns = map_.transpose();
    whitened_ = rows_by_rows(points, columns, run.threads);
}

}  // namespace coterie::internal
