// W is built row by row with ascending columns. One pass over W and its transpose combines them. It needs no search for
// pairs, and the order of the entries is always the same.

#include "coterie/spectral/graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/gaussian_kernel.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {
namespace {

constexpr Index kScaleNeighbor = 7;

using internal::at;

std::vector<double> scales_of(const Neighbors& neighbors, Index n) {
    const Index which = std::min(kScaleNeighbor, neighbors.count) - 1;
    std::vector<double> out(at(n));
    double least = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < n; ++i) {
        out[at(i)] = std::sqrt(neighbors.squared[at(i * neighbors.count + which)]);
        if (out[at(i)] > 0) least = std::min(least, out[at(i)]);
    }
    for (double& scale : out)
        if (!(scale > 0)) scale = std::isinf(least) ? 1 : least;
    return out;
}

// Combines W and W', row by row.
SparseMatrix joined(const SparseMatrix& directed, Symmetry symmetry) {
    const SparseMatrix reversed = directed.transpose();
    const Index n = directed.rows();
    eigen::SparseMatrix out(n, n);
    out.reserve(2 * directed.nonZeros());
    for (Index i = 0; i < n; ++i) {
        out.startVec(i);
        SparseMatrix::InnerIterator own(directed, i);
        SparseMatrix::InnerIterator other(reversed, i);
        while (own || other) {
            const Index column = std::min(own ? own.col() : n, other ? other.col() : n);
            const auto take = [&](SparseMatrix::InnerIterator& from) {
                if (!from || from.col() != column) return 0.0;
                const double value = from.value();
                ++from;
                return value;
            };
            const double a = take(own), b = take(other);
            const double weight = symmetry == Symmetry::mean      ? 0.5 * (a + b)
                                  : symmetry == Symmetry::maximum ? std::max(a, b)
                                                                  : std::min(a, b);
            if (weight > 0) out.insertBack(i, column) = weight;
        }
    }
    out.finalize();
    return out;
}

BadArgument bad_width(double width) { return refused_option("width", width, "a finite number above 0"); }

}  // namespace

double width_of(const Neighbors& neighbors) {
    std::vector<double> last;
    for (std::size_t i = at(neighbors.count) - 1; i < neighbors.squared.size(); i += at(neighbors.count))
        last.push_back(neighbors.squared[i]);
    const auto middle = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2);
    std::nth_element(last.begin(), middle, last.end());
    if (*middle > 0) return std::sqrt(*middle);
    double least = std::numeric_limits<double>::infinity();
    for (const double squared : neighbors.squared)
        if (squared > 0) least = std::min(least, squared);
    return std::isinf(least) ? 1 : std::sqrt(least);
}

NeighborGraph neighbor_graph(PointsView points, const NeighborGraphOptions& options, const Run& run) {
    if (options.width && !(*options.width > 0 && std::isfinite(*options.width))) throw bad_width(*options.width);
    const Index n = points.rows();
    if (options.neighbors < 1 || options.neighbors > n - 1)
        throw BadArgument(Code::not_accepted,
                          counted(options.neighbors, "neighbour") + " requested, but there " +
                              (n == 1 ? "is " : "are ") + counted(n, "row"),
                          "Use 1 to " + std::to_string(n - 1),
                          {.option = "neighbors",
                           .value = std::to_string(options.neighbors),
                           .accepted = "from 1 to " + std::to_string(n - 1)});
    const Neighbors found = nearest_neighbors(points, options.neighbors, run);
    NeighborGraph out;
    if (options.edge_weights == EdgeWeights::gaussian) out.width = options.width ? *options.width : width_of(found);
    if (options.edge_weights == EdgeWeights::self_tuning) out.scales = scales_of(found, n);

    // Builds W, each row sorted by column. The memory is that of W and W'.
    const Index k = options.neighbors;
    require_memory(static_cast<double>(n) * static_cast<double>(k) * 4 * (sizeof(double) + sizeof(Index)),
                   internal::filled("the neighbour graph of {} rows", n));
    eigen::SparseMatrix directed(n, n);
    directed.reserve(Eigen::Matrix<Index, Eigen::Dynamic, 1>::Constant(n, k));
    std::vector<std::pair<Index, double>> row(at(k));
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < k; ++j) {
            const Index other = found.indices[at(i * k + j)];
            const double squared = found.squared[at(i * k + j)];
            double weight = 1;
            if (options.edge_weights == EdgeWeights::gaussian) {
                const double distance = std::sqrt(squared) / out.width;
                weight = std::exp(-0.5 * distance * distance);
            } else if (options.edge_weights == EdgeWeights::self_tuning) {
                const double distance = std::sqrt(squared);
                weight = std::exp(-(distance / out.scales[at(i)]) * (distance / out.scales[at(other)]));
            }
            row[at(j)] = {other, weight};
        }
        std::sort(row.begin(), row.end());
        for (const auto& [column, weight] : row) directed.insert(i, column) = weight;
    }
    directed.makeCompressed();
    out.affinity = joined(directed, options.symmetry);
    return out;
}

SparseMatrix internal::nonzeros_of(PointsView matrix) {
    eigen::SparseMatrix out(matrix.rows(), matrix.columns());
    matrix.visit([&](const auto& rows) {
        for (Index i = 0; i < rows.rows; ++i) {
            out.startVec(i);
            for (Index j = 0; j < rows.columns; ++j)
                if (rows.row(i)[j] != 0) out.insertBack(i, j) = static_cast<double>(rows.row(i)[j]);
        }
    });
    out.finalize();
    return out;
}

void internal::require_pairs_memory(Index n) {
    require_memory(24 * static_cast<double>(n) * static_cast<double>(n),
                   filled("the affinity matrix of {} rows (`affinity=neighbors` needs less)", n));
}

SparseMatrix rbf_affinity(PointsView points, double width, const Run& run) {
    if (!(width > 0) || std::isinf(width)) throw bad_width(width);
    internal::require_pairs_memory(points.rows());
    Matrix<double> centred = to_matrix<double>(points);
    centred.rowwise() -= mean(points, run).transpose();
    run.throw_if_stopped("affinity");
    Matrix<double> kernel = gaussian_kernel(centred, centred, width, run.threads);
    kernel.diagonal().setZero();
    return internal::nonzeros_of(kernel);
}

}  // namespace coterie
