#include "coterie/deformation/kernel_pca.hpp"

#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {
namespace {

constexpr double least_eigenvalue = 1e-10;  // of the largest

Matrix<double> less(PointsView points, const Vector<double>& origin) {
    Matrix<double> out = to_matrix<double>(points);
    out.rowwise() -= origin.transpose();
    return out;
}

}  // namespace

KernelPca::KernelPca(PointsView points, double width, int components, const Run& run) : width_(width) {
    const Index n = points.rows();
    require_memory(4.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n),
                   "kernel PCA of " + std::to_string(n) + " points");
    origin_ = mean(points, run);
    points_ = less(points, origin_);
    Matrix<double> kernel = gaussian_kernel(points_, points_, width, run.threads);
    const Vector<double> means = kernel.rowwise().mean();
    const double grand = means.mean();
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) kernel(i, j) = (kernel(i, j) - grand) - ((means[i] - grand) + (means[j] - grand));
    run.throw_if_stopped("kernel PCA");
    const EigenPairs pairs = symmetric_eigen(kernel);
    const double least = least_eigenvalue * std::max(0.0, pairs.values[n - 1]);
    Index kept = 0;
    while (kept < n && pairs.values[n - 1 - kept] > least && (components == 0 || kept < components)) ++kept;
    coefficients_.resize(n, kept);
    scores_.resize(n, kept);
    for (Index c = 0; c < kept; ++c) {
        const double root = std::sqrt(pairs.values[n - 1 - c]);
        scores_.col(c) = root * pairs.vectors.col(n - 1 - c);
        coefficients_.col(c) = pairs.vectors.col(n - 1 - c) / root;
    }
    // A new row k(x, .) is centred by its own mean, the columns' means and the grand mean; as the coefficients of every
    // component sum to 0 but for rounding, made exact here, the row's own mean and the grand mean drop out.
    coefficients_.rowwise() -= coefficients_.colwise().mean().eval();
    offset_ = coefficients_.transpose() * means;
}

Matrix<double> KernelPca::transform(PointsView points, const Run& run) const {
    Matrix<double> out = Matrix<double>::Zero(points.rows(), components());
    const RowBlocks blocks{points.rows(), 1024};
    for (Index block = 0; block < blocks.count(); ++block) {
        const Index begin = blocks.begin(block);
        const Index count = blocks.end(block) - begin;
        const PointsView part = points.visit(
            [&](const auto& rows) { return PointsView(rows.row(begin), count, rows.columns, rows.stride); });
        const Matrix<double> kernel = gaussian_kernel(less(part, origin_), points_, width_, run.threads);
        const Matrix<double> coefficients_by_component = coefficients_.transpose();
        out.middleRows(begin, count) = internal::rows_by_rows(kernel, coefficients_by_component, run.threads);
    }
    out.rowwise() -= offset_.transpose();
    return out;
}

void KernelPca::store(Archive& archive) const {
    archive.set_points("kernel_pca.points", points_);
    archive.set_points("kernel_pca.coefficients", coefficients_);
    archive.set_vector("kernel_pca.origin", {origin_.data(), static_cast<std::size_t>(origin_.size())});
    archive.set_vector("kernel_pca.offset", {offset_.data(), static_cast<std::size_t>(offset_.size())});
    archive.set_vector("kernel_pca.width", std::vector<double>{width_});
}

KernelPca KernelPca::from(const Archive& archive) {
    KernelPca out;
    out.points_ = to_matrix<double>(archive.points("kernel_pca.points"));
    out.coefficients_ = to_matrix<double>(archive.points("kernel_pca.coefficients", out.points_.rows()));
    const auto origin = archive.vector("kernel_pca.origin", out.points_.cols());
    const auto offset = archive.vector("kernel_pca.offset", out.coefficients_.cols());
    out.origin_ = Eigen::Map<const Vector<double>>(origin.data(), static_cast<Index>(origin.size()));
    out.offset_ = Eigen::Map<const Vector<double>>(offset.data(), static_cast<Index>(offset.size()));
    out.width_ = archive.vector("kernel_pca.width", 1).front();
    if (!(out.width_ > 0)) throw BadData("model: kernel_pca.width must be above 0");
    return out;
}

}  // namespace coterie
