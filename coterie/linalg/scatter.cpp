// All sums over rows are in double. Means use the tree of blocks; products are rounded so that their sums are exact
// (outer_products.hpp). So the bits are the same for any number of threads and processes. Sums for means are of rows
// minus one row, and sums for scatter are of rows minus the mean, so an offset costs no digits.
//
// Principal axes come from a dense eigenproblem of the smaller of X'X and XX'. This is exact, and fast up to an
// order of a few thousand. If both are larger and few axes are wanted, uses block Lanczos.

#include "coterie/linalg/scatter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/kernels.hpp"
#include "coterie/linalg/outer_products.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

constexpr Index kRows = 256;          // rows projected at the same time
constexpr double kNoise = 1e-6;       // relative length of the orthogonal part below which a row counts as spanned
constexpr Index kDirectOrder = 4000;  // largest order of a covariance or Gram matrix that is built for only a few axes
constexpr Index kBlock = 8;           // rows per Lanczos block, and most axes that Lanczos computes
constexpr Index kBasis = 800;         // most rows of the Lanczos basis
constexpr double kResidual = 1e-11;   // largest Lanczos residual, relative to the largest variance

double weight_of(std::span<const double> weights, Index i) { return weights.empty() ? 1.0 : weights[at(i)]; }

// The first row with a weight above 0.
Index check(PointsView points, std::span<const double> weights) {
    if (points.rows() == 0) throw BadArgument(Code::empty, "there are no rows", "", {.option = "points"});
    if (weights.empty()) return 0;
    if (static_cast<Index>(weights.size()) != points.rows())
        throw BadArgument(
            Code::wrong_shape,
            counted(static_cast<Index>(weights.size()), "weight") + " for " + counted(points.rows(), "row"),
            "Give one weight per row", {.option = "weights"});
    Index first = -1;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] >= 0.0) || !std::isfinite(weights[i]))
            throw BadArgument(Code::not_accepted, to_text(OptionValue(weights[i])) + " is not accepted",
                              "Use finite numbers from 0 on",
                              {.option = "weights",
                               .value = to_text(OptionValue(weights[i])),
                               .accepted = "finite numbers from 0 on",
                               .row = static_cast<std::int64_t>(i) + 1});
        if (first < 0 && weights[i] > 0.0) first = static_cast<Index>(i);
    }
    if (first < 0)
        throw BadArgument(Code::not_accepted, "all weights are 0", "Give at least one row a weight above 0",
                          {.option = "weights"});
    return first;
}

double total_weight(Index rows, std::span<const double> weights) {
    if (weights.empty()) return static_cast<double>(rows);
    return std::accumulate(weights.begin(), weights.end(), 0.0);
}

void require_finite(const Vector<double>& mean) {
    for (Index j = 0; j < mean.size(); ++j)
        if (!std::isfinite(mean[j]))
            throw BadArgument(Code::not_finite, "not all numbers are finite", "",
                              {.option = "points", .column_number = j + 1});
}

Stage pass_over(PointsView points) {
    return {.name = "moments", .operations = 2.0 * static_cast<double>(points.rows() * points.columns())};
}

// Sums rows minus the first row. So an offset costs no digits, and a constant column has an exact mean and variance 0.
Vector<double> mean_about(PointsView points, const Run& run, std::span<const double> weights, Index first) {
    return points.with_scalar([&]<class Scalar>() {
        const Index d = points.columns();
        const Vector<double> origin =
            to_matrix<double>(internal::gather_rows(points, std::span(&first, 1), run)).row(0).transpose();
        const auto& kernels = internal::kernels<Scalar>();
        const std::vector<double> sum = internal::sum_blocks<Scalar>(
            points, d, run, pass_over(points), [&](const internal::RowBlock<Scalar>& block, int, double* to) {
                for (Index i = 0; i < block.rows.rows; ++i) {
                    const double weight = weight_of(weights, block.first + i);
                    if (weight > 0) kernels.add_deviation(to, block.rows.row(i), origin.data(), weight, d);
                }
            });
        Vector<double> mean = origin;
        const double total = total_weight(points.rows(), weights);
        for (Index p = 0; p < d; ++p) mean[p] += sum[at(p)] / total;
        require_finite(mean);
        return mean;
    });
}

// sum_i w_i (x_ip - m_p)^2 for each column p.
Vector<double> squares_about(PointsView points, const Vector<double>& mean, const Run& run,
                             std::span<const double> weights) {
    const Index d = points.columns();
    return points.with_scalar([&]<class Scalar>() -> Vector<double> {
        const std::vector<double> squares = internal::sum_blocks<Scalar>(
            points, d, run, pass_over(points), [&](const internal::RowBlock<Scalar>& block, int, double* to) {
                for (Index i = 0; i < block.rows.rows; ++i) {
                    const Scalar* const x = block.rows.row(i);
                    const double weight = weight_of(weights, block.first + i);
                    for (Index p = 0; p < d; ++p) {
                        const double deviation = static_cast<double>(x[p]) - mean[p];
                        to[p] += weight * deviation * deviation;
                    }
                }
            });
        return Eigen::Map<const eigen::Vector<double>>(squares.data(), d);
    });
}

// sum_i w_i (x_i - c_i)(x_i - c_i)'; center(i) is c_i for a row of this process. `squares`: for each column an upper
// bound of its diagonal entry.
template <class Center>
Matrix<double> scatter_about(PointsView points, std::span<const double> weights, const Vector<double>& squares,
                             const Run& run, Center center) {
    const Index d = points.columns();
    const internal::OuterProducts<double> products(squares);
    require_memory(
        sizeof(double) * (static_cast<double>(d) * static_cast<double>(d) + static_cast<double>(products.numbers())),
        filled("a scatter matrix of {} x {}", d, d));
    internal::CacheLineVector<double> sum(at(products.numbers()), 0.0);
    internal::BlockReader reader(points, run);
    const internal::Range own = internal::own_blocks(reader.grid(), run.communicator());
    points.with_scalar([&]<class Scalar>() {
        const Run here = run.alone();
        internal::together(run.communicator(), [&] {
            for (Index number = own.begin; number < own.end; ++number) {
                here.throw_if_stopped("scatter");
                const auto block = reader.block<Scalar>(number, 0);
                products.add<Scalar>(
                    block.rows.rows,
                    [&](Index i) {
                        return internal::OuterProduct<Scalar>{block.rows.row(i), center(block.first + i),
                                                              weight_of(weights, block.first + i), 0};
                    },
                    [&](Index) { return sum.data(); }, run.threads);
            }
        });
    });
    internal::add_up_exact(run.communicator(), sum);
    return products.matrix(sum.data());
}

// C r for every row r of the block, where C is the covariance. C is not built; each strip of centred rows is used
// twice.
Matrix<double> times_covariance(PointsView points, const Vector<double>& mean, const Matrix<double>& block,
                                const Run& run) {
    const Index d = points.columns();
    Matrix<double> result = Matrix<double>::Zero(block.rows(), d);
    const RowBlocks strips{points.rows(), kRows};
    Matrix<double> centered;
    for (Index strip = 0; strip < strips.count(); ++strip) {
        run.throw_if_stopped("principal axes");
        const Index begin = strips.begin(strip);
        centered.resize(strips.end(strip) - begin, d);
        points.visit([&](auto rows) {
            for_each_block(centered.rows(), run.threads, [&](Index i, int) {
                for (Index p = 0; p < d; ++p) centered(i, p) = static_cast<double>(rows.row(begin + i)[p]) - mean[p];
            });
        });
        internal::add_transposed_by(internal::rows_by_rows(centered, block, run.threads), centered, result,
                                    run.threads);
    }
    return result / static_cast<double>(points.rows());
}

PrincipalAxes axes_from_covariance(PointsView points, int count, Vector<double> mean, const Run& run) {
    const auto n = static_cast<double>(points.rows());
    Matrix<double> covariance =
        scatter_about(points, {}, squares_about(points, mean, run, {}), run, [&](Index) { return mean.data(); });
    covariance /= n;
    run.throw_if_stopped("principal axes");
    const EigenPairs pairs = symmetric_eigen(covariance);
    PrincipalAxes result{std::move(mean), Matrix<double>(count, points.columns()), Vector<double>(count)};
    for (int j = 0; j < count; ++j) {
        const Index from = points.columns() - 1 - j;
        result.axes.row(j) = pairs.vectors.col(from).transpose();
        result.variances[j] = std::max(0.0, pairs.values[from]);
    }
    return result;
}

// For fewer points than dimensions: X X' has the non-zero eigenvalues of X' X, and the axes are X' u / |X' u|.
PrincipalAxes axes_from_gram(PointsView points, int count, Vector<double> mean, const Run& run) {
    const Index n = points.rows();
    const Index d = points.columns();
    require_memory(sizeof(double) * (static_cast<double>(n) * static_cast<double>(d) +
                                     2.0 * static_cast<double>(n) * static_cast<double>(n)),
                   filled("the search for principal axes of {} rows", n));
    Matrix<double> centered(n, d);
    points.visit([&](auto rows) {
        for (Index i = 0; i < n; ++i)
            for (Index p = 0; p < d; ++p) centered(i, p) = static_cast<double>(rows.row(i)[p]) - mean[p];
    });
    const Matrix<double> gram = internal::rows_by_rows(centered, centered, run.threads, true);
    run.throw_if_stopped("principal axes");
    const EigenPairs pairs = symmetric_eigen(gram);
    const double smallest =
        std::max(0.0, pairs.values[n - 1]) * static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    PrincipalAxes result{std::move(mean), Matrix<double>::Zero(count, d), Vector<double>::Zero(count)};
    const Index wanted = std::min<Index>(count, n);
    const Matrix<double> leading = pairs.vectors.rightCols(wanted).rowwise().reverse();
    internal::add_transposed_by(leading, centered, result.axes, run.threads);
    Index unit = 0;
    for (Index j = 0; j < count; ++j) {
        const double value = j < n ? pairs.values[n - 1 - j] : 0.0;
        if (value > smallest && internal::orthonormalize(result.axes, j, kNoise)) {
            result.variances[j] = value / static_cast<double>(n);
            continue;
        }
        // Directions without variance: any orthonormal directions are valid, so tries the coordinate axes in order.
        do {
            result.axes.row(j).setZero();
            result.axes(j, unit++) = 1.0;
        } while (!internal::orthonormalize(result.axes, j, kNoise));
    }
    return result;
}

// A few axes of a covariance C that is too large to build, by block Lanczos. The next block of the basis is the part of
// C times the last block that the basis does not span yet. The largest eigenpairs of C within the basis converge to
// those of C. Every row is made orthogonal to all rows before it, and the basis is never restarted: so the passes over
// the points, which are the expensive part, are as few as possible. A block has at least as many rows as there are
// wanted axes, so that no copy of a repeated variance is missed. The start is random but the same for all points of d
// dimensions, so axes do not depend on a seed. Returns an empty result if kBasis rows are too few.
PrincipalAxes axes_by_lanczos(PointsView points, int count, const Vector<double>& mean, const Run& run) {
    const Index d = points.columns();
    require_memory(sizeof(double) * static_cast<double>(kBasis + kRows) * static_cast<double>(d),
                   filled("the search for principal axes of {} columns", d));
    RandomStream random(0, "principal axes");
    const auto draw = [&](auto row) {
        for (Index p = 0; p < d; ++p) row[p] = random.normal();
    };
    Matrix<double> basis(0, d);
    Matrix<double> projected(0, 0);  // B C B'
    Matrix<double> next(kBlock, d);
    for (Index j = 0; j < kBlock; ++j) draw(next.row(j));
    Index looked_at = 0;
    while (basis.rows() + kBlock <= kBasis) {
        const Index width = basis.rows() + kBlock;
        basis.conservativeResize(width, d);
        basis.bottomRows(kBlock) = next;
        for (Index j = width - kBlock; j < width; ++j)
            while (!internal::orthonormalize(basis, j, kNoise))
                draw(basis.row(j));  // already spanned: takes any direction
        next = times_covariance(points, mean, basis.bottomRows(kBlock), run);
        const Matrix<double> seen = internal::rows_by_rows(next, basis, run.threads);
        internal::add_transposed_by(-seen.transpose(), basis, next, run.threads);
        projected.conservativeResize(width, width);
        projected.bottomRows(kBlock) = seen;
        projected.rightCols(kBlock) = seen.transpose();
        if (width - looked_at < width / 8) continue;  // the check takes width^3 operations
        looked_at = width;
        const EigenPairs pairs = symmetric_eigen(projected);
        const Matrix<double> leading = pairs.vectors.rightCols(count).rowwise().reverse();
        // C v - lambda v consists only of the part of C times the last block that the basis does not span.
        const Matrix<double> residual = internal::transposed_by(leading.bottomRows(kBlock), next, run.threads);
        if (residual.rowwise().norm().maxCoeff() > kResidual * pairs.values[width - 1]) continue;
        PrincipalAxes result{mean, internal::transposed_by(leading, basis, run.threads),
                             pairs.values.tail(count).reverse().cwiseMax(0.0)};
        for (Index j = 0; j < count; ++j)
            if (!internal::orthonormalize(result.axes, j, kNoise)) return {};
        return result;
    }
    return {};
}
}  // namespace

Vector<double> mean(PointsView points, const Run& run, std::span<const double> weights) {
    return mean_about(points, run, weights, check(points, weights));
}

ColumnMoments column_moments(PointsView points, const Run& run, std::span<const double> weights) {
    if (const SparsePoints* sparse = as_sparse(points)) {
        check(points, weights);
        return internal::sparse_moments(*sparse, weights);
    }
    ColumnMoments moments;
    moments.mean = mean(points, run, weights);
    moments.variance = squares_about(points, moments.mean, run, weights);
    moments.variance /= total_weight(points.rows(), weights);
    return moments;
}

Matrix<double> total_scatter(PointsView points, const ColumnMoments& moments, const Run& run,
                             std::span<const double> weights) {
    return scatter_about(points, weights, moments.variance * total_weight(points.rows(), weights), run,
                         [&](Index) { return moments.mean.data(); });
}

Matrix<double> total_scatter(PointsView points, const Run& run, std::span<const double> weights) {
    return total_scatter(points, column_moments(points, run, weights), run, weights);
}

ScatterPair class_scatter(PointsView points, const Labels& labels, int clusters, const Run& run,
                          std::span<const double> weights) {
    const Index d = points.columns();
    if (clusters < 1)
        throw BadArgument(Code::not_accepted,
                          "class_scatter: " + counted(clusters, "cluster") + "; at least 1 is needed", "",
                          {.value = std::to_string(clusters), .accepted = "at least 1"});
    const internal::Range own = internal::own_rows(points, run);
    if (static_cast<Index>(labels.size()) != own.count())
        throw BadArgument(Code::wrong_shape,
                          "class_scatter: " + counted(static_cast<Index>(labels.size()), "label") + " for " +
                              counted(own.count(), "row"),
                          "Give one label per row");
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] < 0 || labels[i] >= clusters)
            throw BadArgument(Code::out_of_range,
                              filled("class_scatter: label {} is not from 0 to {}", labels[i], clusters - 1), "",
                              {.value = std::to_string(labels[i]),
                               .accepted = filled("from 0 to {}", clusters - 1),
                               .row = static_cast<std::int64_t>(i) + 1});
    const auto label = [&](Index row) { return labels[at(row - own.begin)]; };
    const Vector<double> center = mean(points, run, weights);
    require_memory(2.0 * sizeof(double) * clusters * static_cast<double>(d),
                   filled("the list of means of {} clusters", clusters));
    // Sums of rows minus the overall mean, because the deviations c_j - m must be accurate; then the clusters' weights.
    const std::vector<double> sums = points.with_scalar([&]<class Scalar>() {
        const auto& kernels = internal::kernels<Scalar>();
        return internal::sum_blocks<Scalar>(points, clusters * (d + 1), run, pass_over(points),
                                            [&](const internal::RowBlock<Scalar>& block, int, double* to) {
                                                for (Index i = 0; i < block.rows.rows; ++i) {
                                                    const Index j = label(block.first + i);
                                                    const double weight = weight_of(weights, block.first + i);
                                                    kernels.add_deviation(to + j * d, block.rows.row(i), center.data(),
                                                                          weight, d);
                                                    to[clusters * d + j] += weight;
                                                }
                                            });
    });
    const std::vector<double> cluster_weights(sums.end() - clusters, sums.end());
    Matrix<double> centroids(clusters, d);
    Matrix<double> deviations = Matrix<double>::Zero(clusters, d);
    for (Index j = 0; j < clusters; ++j) {
        const double weight = cluster_weights[at(j)];
        for (Index p = 0; p < d; ++p) {
            if (weight > 0.0) deviations(j, p) = sums[at(j * d + p)] / weight;
            centroids(j, p) = center[p] + deviations(j, p);
        }
    }
    const Vector<double> squares = squares_about(points, center, run, weights);
    ScatterPair scatter;
    scatter.within =
        scatter_about(points, weights, squares, run, [&](Index i) { return centroids.data() + label(i) * d; });
    const Vector<double> zero = Vector<double>::Zero(d);
    scatter.between = scatter_about(deviations, cluster_weights, squares, run.alone().unstopped(),
                                    [&](Index) { return zero.data(); });
    return scatter;
}

PrincipalAxes principal_axes(PointsView points, int count, const Run& run) {
    const Index n = points.rows();
    const Index d = points.columns();
    if (count < 1 || count > d)
        throw BadArgument(Code::not_accepted,
                          filled("principal_axes: count {} is not from 1 to {}, the number of columns", count, d), "",
                          {.value = std::to_string(count), .accepted = filled("from 1 to {}", d)});
    Vector<double> center = mean(points, run);
    PrincipalAxes axes;
    if (std::min(n, d) > kDirectOrder && count <= kBlock) axes = axes_by_lanczos(points, count, center, run);
    if (axes.axes.rows() == 0)
        axes = n < d ? axes_from_gram(points, count, std::move(center), run)
                     : axes_from_covariance(points, count, std::move(center), run);
    internal::make_largest_positive(axes.axes);
    return axes;
}

Matrix<double> project(PointsView points, const PrincipalAxes& axes, const Run& run) {
    const Index d = points.columns();
    if (d != axes.axes.cols() || d != axes.mean.size())
        throw BadArgument(Code::wrong_shape,
                          filled("project: the rows have {} columns, the axes {}", d, axes.axes.cols()));
    const Index count = axes.axes.rows();
    require_memory(sizeof(double) * static_cast<double>(points.rows()) * static_cast<double>(count),
                   "the projection of the rows");
    Matrix<double> result(points.rows(), count);
    const RowBlocks blocks{points.rows(), kRows};
    std::vector<Matrix<double>> scratch(at(std::max(run.threads, 1)));
    points.visit([&](auto rows) {
        for_each_block(blocks.count(), run.threads, [&](Index block, int worker) {
            Matrix<double>& centered = scratch[at(worker)];
            centered.resize(kRows, d);
            const Index begin = blocks.begin(block);
            const Index size = blocks.end(block) - begin;
            for (Index i = 0; i < size; ++i) {
                const auto* const x = rows.row(begin + i);
                double* const to = centered.data() + i * d;
                for (Index p = 0; p < d; ++p) to[p] = static_cast<double>(x[p]) - axes.mean[p];
            }
            internal::products().float64.rows_by_rows(centered.data(), size, d, axes.axes.data(), count, d, d,
                                                      result.data() + begin * count, count);
        });
    });
    return result;
}

}  // namespace coterie
