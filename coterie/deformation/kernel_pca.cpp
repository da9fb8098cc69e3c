// Uses the whole centred kernel, or the rows of its factor by landmarks, whose principal axes are those of the kernel
// in the span of the landmarks. The grand mean is subtracted first: a wide kernel is nearly constant, and only the
// differences matter. New points are mapped in blocks of rows, so the kernel of all of them never exists at once.

#include "coterie/deformation/kernel_pca.hpp"

#include <cmath>
#include <limits>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/deformation/internal/kernel_factor.hpp"
#include "coterie/deformation/internal/row_space.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {
namespace {

using deformation::internal::less;

constexpr double least_eigenvalue = 1e-10;  // relative to the largest
constexpr double least_residual = 1e-15;    // relative to the kernel's diagonal, which is 1

Index count_kept(const Vector<double>& ascending, Index points, std::optional<int> components) {
    const Index n = ascending.size();
    // Kernel values are exact up to rounding. With a smaller limit, a constant kernel would get components that are
    // only rounding errors.
    if (ascending[n - 1] <= static_cast<double>(points) * std::numeric_limits<double>::epsilon()) return 0;
    const double least = least_eigenvalue * ascending[n - 1];
    Index kept = 0;
    while (kept < n && ascending[n - 1 - kept] > least && (!components || kept < *components)) ++kept;
    return kept;
}

}  // namespace

KernelPca::KernelPca(PointsView points, double width, std::optional<int> components, Index landmarks, const Run& run)
    : origin_(mean(points, run)), width_(width) {
    const Index n = points.rows();
    const Index columns = landmarks > 0 ? std::min(n, landmarks) : n;
    require_memory(4.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(columns),
                   "kernel PCA of " + std::to_string(n) + " rows" +
                       (landmarks > 0 ? " with " + std::to_string(columns) + " landmarks" : ""));
    points_ = less(points, origin_);
    if (landmarks > 0)
        from_landmarks(components, landmarks, run);
    else
        from_kernel(components, run);
}

void KernelPca::from_kernel(std::optional<int> components, const Run& run) {
    const Index n = points_.rows();
    Matrix<double> kernel = gaussian_kernel(points_, points_, width_, run.threads);
    const Vector<double> means = kernel.rowwise().mean();
    const double grand = means.mean();
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) kernel(i, j) = (kernel(i, j) - grand) - ((means[i] - grand) + (means[j] - grand));
    run.throw_if_stopped("kernel PCA");
    const EigenPairs pairs = symmetric_eigen(std::move(kernel), run, "kernel PCA");
    const Index kept = count_kept(pairs.values, n, components);
    coefficients_.resize(n, kept);
    scores_.resize(n, kept);
    for (Index c = 0; c < kept; ++c) {
        const double root = std::sqrt(pairs.values[n - 1 - c]);
        scores_.col(c) = root * pairs.vectors.col(n - 1 - c);
        coefficients_.col(c) = pairs.vectors.col(n - 1 - c) / root;
    }
    // A new row k(x, .) is centred by its own mean, the columns' means and the grand mean. The coefficients of every
    // component sum to 0, exactly after the next line. The row's own mean and the grand mean therefore cancel.
    coefficients_.rowwise() -= coefficients_.colwise().mean().eval();
    offset_ = coefficients_.transpose() * means;
}

void KernelPca::from_landmarks(std::optional<int> components, Index landmarks, const Run& run) {
    deformation::internal::KernelFactor factor =
        deformation::internal::kernel_factor(points_, width_, landmarks, least_residual, run);
    const Vector<double> means = factor.rows.colwise().mean();
    factor.rows.rowwise() -= means.transpose();
    const EigenPairs pairs =
        symmetric_eigen(internal::transposed_by(factor.rows, factor.rows, run.threads), run, "kernel PCA");
    const Index kept = count_kept(pairs.values, factor.rows.rows(), components);
    coefficients_ = pairs.vectors.rightCols(kept).rowwise().reverse();
    const Matrix<double> axes = coefficients_.transpose();
    scores_ = internal::rows_by_rows(factor.rows, axes, run.threads);
    offset_ = axes * means;
    landmarks_ = std::make_shared<const deformation::internal::Landmarks>(std::move(factor.landmarks));
    points_.resize(0, 0);
}

Matrix<double> KernelPca::transform(PointsView points, const Run& run) const {
    Matrix<double> out = Matrix<double>::Zero(points.rows(), components());
    const Matrix<double> by_component = coefficients_.transpose();
    const RowBlocks blocks{points.rows(), 1024};
    for (Index block = 0; block < blocks.count(); ++block) {
        const Index begin = blocks.begin(block), count = blocks.end(block) - begin;
        const PointsView part = points.visit(
            [&](const auto& rows) { return PointsView(rows.row(begin), count, rows.columns, rows.stride); });
        const Matrix<double> x = less(part, origin_);
        const Matrix<double> rows =
            landmarks_ ? landmarks_->rows(x, run.threads) : gaussian_kernel(x, points_, width_, run.threads);
        out.middleRows(begin, count) = internal::rows_by_rows(rows, by_component, run.threads);
    }
    out.rowwise() -= offset_.transpose();
    return out;
}

void KernelPca::parts(Parts& parts) {
    const bool by_landmarks = parts.present("kernel_pca.landmarks.points", landmarks_ != nullptr);
    if (by_landmarks) {
        auto landmarks = landmarks_ ? std::const_pointer_cast<deformation::internal::Landmarks>(landmarks_)
                                    : std::make_shared<deformation::internal::Landmarks>();
        landmarks->parts(parts, "kernel_pca.landmarks", 'm', 'd');
        landmarks_ = std::move(landmarks);
    } else {
        parts.add("kernel_pca.points", points_, "n x d", "the rows of the training data, minus the origin");
    }
    parts.add("kernel_pca.coefficients", coefficients_, by_landmarks ? "m x p" : "n x p",
              "the weight of each stored row in each component");
    parts.add("kernel_pca.origin", origin_, "d", "the values subtracted from every row");
    parts.add("kernel_pca.offset", offset_, "p", "the values subtracted from every component");
    parts.add("kernel_pca.width", width_, "the width of the kernel", above(0));
}

}  // namespace coterie
