// Some rows at a time go through all panels of centroids, so the rows stay in the second-level cache. Returned
// distances are computed from differences, because products lose digits if a row is near its centroid.

#include "coterie/linalg/distances.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {
namespace {

using internal::at;

template <class T>
Nearest nearest(PointsView points, const Rows<T>& centroids, const Run& run, NearestWants wants,
                std::span<const double> weights) {
    const Index d = points.columns();
    const RowBlocks grid = internal::grid_of(points);
    const internal::Range own = internal::own_rows(grid, run.communicator());
    internal::CentroidPanels<T> panels;
    panels.pack(centroids, internal::CentroidPanels<T>::amid(centroids));
    Nearest out;
    out.labels.resize(at(own.count()));
    if (wants == NearestWants::distances) out.squared.resize(out.labels.size());
    const Index step = internal::rows_in_cache(d, sizeof(T));
    std::vector<internal::BestScore<T>> scratch(at(std::max(run.threads, 1)),
                                                internal::BestScore<T>(std::min(step, grid.size)));
    const auto find = [&](const internal::RowBlock<T>& block, int worker, double* sum) {
        auto& best = scratch[at(worker)];
        for (Index begin = 0; begin < block.rows.rows; begin += step) {
            const Index end = std::min(block.rows.rows, begin + step);
            best(panels, block.rows, begin, end);
            for (Index r = begin; r < end; ++r) {
                const std::int32_t label = best.centroid[at(r - begin)];
                const auto i = at(block.first + r);
                const std::size_t mine = i - at(own.begin);
                out.labels[mine] = label;
                if (wants == NearestWants::labels) continue;
                const double squared =
                    static_cast<double>(panels.kernels().squared_distance(block.rows.row(r), centroids.row(label), d));
                if (wants == NearestWants::distances) out.squared[mine] = squared;
                *sum += weights.empty() ? squared : weights[i] * squared;
            }
        }
    };
    const Stage stage{.name = "distances",
                      .operations = 2.0 * static_cast<double>(points.rows()) * static_cast<double>(d * centroids.rows)};
    if (wants == NearestWants::labels)
        internal::for_each_row_block<T>(
            points, run, stage, [&](const internal::RowBlock<T>& block, int worker) { find(block, worker, nullptr); });
    else
        out.inertia = internal::sum_blocks<T>(points, 1, run, stage, find).front();
    return out;
}

// The same for sparse rows: some rows at a time go through one panel of centroids after another. The panel's numbers
// for frequent columns stay in the cache.
template <class T>
Nearest nearest(const SparsePoints& points, const Rows<T>& centroids, const Run& run, NearestWants wants,
                std::span<const double> weights) {
    const RowBlocks grid{points.rows(), 512};
    internal::CentroidPanels<T> panels;
    panels.pack(centroids, internal::CentroidPanels<T>::amid(centroids));
    std::vector<double> norms;
    if (wants != NearestWants::labels)
        for (Index j = 0; j < centroids.rows; ++j)
            norms.push_back(internal::squared_norm(centroids.row(j), centroids.columns));
    Nearest out;
    out.labels.resize(at(points.rows()));
    if (wants == NearestWants::distances) out.squared.resize(out.labels.size());
    std::vector<internal::BestScore<T>> scratch(at(std::max(run.threads, 1)), internal::BestScore<T>(grid.size));
    const auto find = [&](Index block, int worker, double* sum) {
        auto& best = scratch[at(worker)];
        best(panels, points, grid.begin(block), grid.end(block));
        for (Index row = grid.begin(block); row < grid.end(block); ++row) {
            const auto i = at(row);
            const std::int32_t label = best.centroid[at(row - grid.begin(block))];
            out.labels[i] = label;
            if (wants == NearestWants::labels) continue;
            const double squared =
                internal::squared_distance(points.row<T>(row), centroids.row(label), norms[at(label)]);
            if (wants == NearestWants::distances) out.squared[i] = squared;
            *sum += weights.empty() ? squared : weights[i] * squared;
        }
    };
    const Stage stage{.name = "distances",
                      .operations = 2.0 * static_cast<double>(points.entries()) * static_cast<double>(centroids.rows)};
    if (wants == NearestWants::labels)
        for_each_block(grid.count(), run, stage, [&](Index block, int worker) { find(block, worker, nullptr); });
    else
        out.inertia = internal::BlockSums(1)(grid, run.alone(), stage, find).front();
    return out;
}

}  // namespace

Nearest nearest_centroids(PointsView points, PointsView centroids, int threads, NearestWants wants,
                          std::span<const double> weights) {
    return nearest_centroids(points, centroids, Run(0, threads), wants, weights);
}

Nearest nearest_centroids(PointsView points, PointsView centroids, const Run& run, NearestWants wants,
                          std::span<const double> weights) {
    if (points.scalar() != centroids.scalar() || points.columns() != centroids.columns() || centroids.rows() < 1)
        throw BadArgument(Code::wrong_shape,
                          internal::filled("nearest_centroids: {} x {} centroids of {} for rows of {} columns of {}",
                                           centroids.rows(), centroids.columns(), name(centroids.scalar()),
                                           points.columns(), name(points.scalar())),
                          "Give at least one centroid with the columns and the scalar type of the rows");
    if (points.empty()) return {};
    if (const SparsePoints* sparse = as_sparse(points))
        return points.with_scalar([&]<class T>() { return nearest(*sparse, centroids.as<T>(), run, wants, weights); });
    return points.with_scalar([&]<class T>() { return nearest(points, centroids.as<T>(), run, wants, weights); });
}

Matrix<double> euclidean_distances(PointsView points, PointsView centroids, int threads) {
    if (points.columns() != centroids.columns())
        throw BadArgument(Code::wrong_shape,
                          internal::filled("euclidean_distances: the rows have {} columns, the centroids {}",
                                           points.columns(), centroids.columns()));
    const Matrix<double> fixed = to_matrix<double>(centroids);
    Matrix<double> out(points.rows(), fixed.rows());
    const RowBlocks blocks{points.rows(), 256};
    if (const SparsePoints* sparse = as_sparse(points)) {
        std::vector<double> norms;
        for (Index j = 0; j < fixed.rows(); ++j)
            norms.push_back(internal::squared_norm(fixed.data() + j * fixed.cols(), fixed.cols()));
        const Matrix<double> by_column = fixed.transpose();  // each column contiguous
        const Index k = fixed.rows();
        points.with_scalar([&]<class T>() {
            for_each_block(blocks.count(), threads, [&](Index block, int) {
                Vector<double> covered(k);  // part of || c_j ||^2 in the columns of the row
                for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                    const SparseRow<T> row = sparse->row<T>(i);
                    double* const there = out.data() + i * k;
                    std::fill_n(there, k, 0.0);
                    covered.setZero();
                    for (Index e = 0; e < row.count; ++e) {
                        const double* const c = by_column.data() + row.column(e) * k;
                        const auto value = static_cast<double>(row.values[e]);
                        for (Index j = 0; j < k; ++j) {
                            there[j] += (value - c[j]) * (value - c[j]);
                            covered[j] += c[j] * c[j];
                        }
                    }
                    for (Index j = 0; j < k; ++j)
                        there[j] = std::sqrt(there[j] + std::max(0.0, norms[at(j)] - covered[j]));
                }
            });
        });
        return out;
    }
    points.visit([&](const auto& rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                for (Index j = 0; j < fixed.rows(); ++j) {
                    double squared = 0;
                    for (Index p = 0; p < fixed.cols(); ++p) {
                        const double difference = static_cast<double>(rows.row(i)[p]) - fixed(j, p);
                        squared += difference * difference;
                    }
                    out(i, j) = std::sqrt(squared);
                }
        });
    });
    return out;
}

}  // namespace coterie
