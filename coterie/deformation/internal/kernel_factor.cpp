// Each pivot (landmark) is the point that the previous pivots approximate worst. This needs no random numbers, and the
// error is known at the end. Column j costs n (j + d), and a wide kernel needs few columns. The factor's rows do not
// depend on each other, so the bits are the same for any number of threads. The remaining diagonal never falls below 0.

#include "coterie/deformation/internal/kernel_factor.hpp"

#include <cmath>
#include <vector>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"

namespace coterie::deformation::internal {

Landmarks::Landmarks(Matrix<double> points, Matrix<double> triangle, double width)
    : points_(std::move(points)), triangle_(std::move(triangle)), width_(width) {}

Matrix<double> Landmarks::rows(const Matrix<double>& points, int threads) const {
    Matrix<double> out = gaussian_kernel(points, points_, width_, threads);
    const Index m = count();
    const RowBlocks blocks{out.rows(), 256};
    for_each_block(blocks.count(), threads_for(0.5 * static_cast<double>(out.rows() * m * m), threads),
                   [&](Index block, int) {
                       auto part = out.middleRows(blocks.begin(block), blocks.end(block) - blocks.begin(block));
                       triangle_.transpose().triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(part);
                   });
    return out;
}

void Landmarks::parts(Parts& parts, const std::string& prefix, char count, char columns) {
    const std::string by = " x ";
    parts.add(prefix + ".points", points_, count + by + columns,
              "the rows that approximate the kernel matrix (landmarks)");
    parts.add(prefix + ".triangle", triangle_, count + by + count, "the triangular factor of their kernel matrix");
    parts.add(prefix + ".width", width_, "the width of the kernel", above(0));
    if (parts.reading() && !(triangle_.diagonal().minCoeff() > 0))
        throw BadData(Code::malformed, "'" + prefix + "' in the model does not hold landmarks of a kernel");
}

KernelFactor kernel_factor(const Matrix<double>& points, double width, Index most, double tolerance, const Run& run) {
    const Index n = points.rows();
    const Index columns = std::min(n, most);
    require_memory(sizeof(double) * static_cast<double>(columns) * static_cast<double>(n + columns),
                   filled("{} columns of a kernel matrix of {} rows", columns, n));
    const Vector<double> norms = points.rowwise().squaredNorm();
    Matrix<double> rows = Matrix<double>::Zero(n, columns);
    Vector<double> left = Vector<double>::Ones(n);  // diagonal of E
    std::vector<Index> pivots;
    KernelFactor out;
    const RowBlocks blocks{n, 512};
    for (Index j = 0; j <= columns; ++j) {
        Index pivot = 0;
        out.residual = left.maxCoeff(&pivot);
        if (j == columns || out.residual <= tolerance) break;
        if (j % 64 == 0) run.throw_if_stopped("kernel factor");
        const double root = std::sqrt(out.residual);
        const Vector<double> at_pivot = rows.row(pivot).head(j);
        const Vector<double> point = points.row(pivot);
        for_each_block(blocks.count(), threads_for(static_cast<double>(n * (j + points.cols())), run.threads),
                       [&](Index block, int) {
                           for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                               const double squared =
                                   std::max(0.0, norms[i] + norms[pivot] - 2 * points.row(i).dot(point));
                               const double kernel = std::exp(-0.5 * squared / width / width);
                               const double entry = (kernel - rows.row(i).head(j).dot(at_pivot)) / root;
                               rows(i, j) = entry;
                               left[i] = std::max(0.0, left[i] - entry * entry);
                           }
                       });
        // The pivots' own rows form an exact triangle, without rounding errors.
        rows(pivot, j) = root;
        left[pivot] = 0;
        for (const Index earlier : pivots) rows(earlier, j) = 0;
        pivots.push_back(pivot);
    }
    const auto m = static_cast<Index>(pivots.size());
    rows.conservativeResize(n, m);
    Matrix<double> landmarks(m, points.cols());
    Matrix<double> triangle(m, m);
    for (Index j = 0; j < m; ++j) {
        landmarks.row(j) = points.row(pivots[static_cast<std::size_t>(j)]);
        triangle.row(j) = rows.row(pivots[static_cast<std::size_t>(j)]);
    }
    out.rows = std::move(rows);
    out.landmarks = Landmarks(std::move(landmarks), std::move(triangle), width);
    return out;
}

}  // namespace coterie::deformation::internal
