// Uses the eigenvectors of X'X, not a Cholesky factor of X'X + lambda I, because they give the rank and also work if
// X'X is singular. An eigenvalue of at most max(n, q) epsilon times the largest counts as rounding. Columns are in
// descending order of their eigenvalues. With more columns than rows, X is replaced by its n x n coordinates in the
// space of its rows.

#include "coterie/deformation/internal/ridge_basis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie::deformation::internal {

RidgeBasis::RidgeBasis(const Matrix<double>& points, std::optional<double> lambda, double lambda_rel, const Run& run) {
    const Index n = points.rows(), q = points.cols();
    std::optional<RowSpace> space;
    if (n < q) space = row_space(points);
    const Matrix<double>& x = space ? space->coordinates : points;
    const Index columns = x.cols();
    const Matrix<double> scatter = transposed_by(x, x, run.threads);
    mean_eigenvalue_ = scatter.trace() / static_cast<double>(q);
    lambda_ = lambda.value_or(lambda_rel * mean_eigenvalue_);
    const EigenPairs pairs = symmetric_eigen(scatter, run, "eigenvectors");
    run.throw_if_stopped("eigenvectors");
    const double least =
        static_cast<double>(std::max(n, q)) * std::numeric_limits<double>::epsilon() * pairs.values[columns - 1];
    Index rank = 0;
    while (rank < columns && pairs.values[columns - 1 - rank] > least) ++rank;
    map_.resize(columns, rank);
    for (Index c = 0; c < rank; ++c)
        map_.col(c) = pairs.vectors.col(columns - 1 - c) / std::sqrt(pairs.values[columns - 1 - c] + lambda_);
    whitened_ = product(x, map_, run.threads);
    if (space) map_ = product(space->axes, map_, run.threads);
}

}  // namespace coterie::deformation::internal
