// Uses Eigen's blocked Householder QR of X'. Its Q is orthonormal for any rank of X; a factor of the Gram matrix X X'
// would not be.

#include "coterie/deformation/internal/row_space.hpp"

#include <Eigen/QR>

namespace coterie::deformation::internal {

RowSpace row_space(const Matrix<double>& points) {
    const Index n = points.rows(), q = points.cols();
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr{Eigen::MatrixXd(points.transpose())};
    RowSpace out;
    out.axes = qr.householderQ() * Eigen::MatrixXd::Identity(q, n);
    out.coordinates = Eigen::MatrixXd(qr.matrixQR().topRows(n).triangularView<Eigen::Upper>()).transpose();
    return out;
}

}  // namespace coterie::deformation::internal
