// Passes over the entries of sparse rows. Variances are sums of squared deviations from the means. In each column, the
// zeros that are not stored add mean^2 times their weight.

#include "coterie/linalg/sparse_rows.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/linalg/dense.hpp"

namespace coterie::internal {

ColumnMoments sparse_moments(const SparsePoints& points, std::span<const double> weights) {
    const Index d = points.columns();
    const double total =
        weights.empty() ? static_cast<double>(points.rows()) : std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[at(i)]; };
    ColumnMoments out{Vector<double>::Zero(d), Vector<double>::Zero(d)};
    Vector<double> stored = Vector<double>::Zero(d);  // weight of the rows that store the column
    const auto add = [&]<class T>(T) {
        for (Index i = 0; i < points.rows(); ++i) {
            const SparseRow<T> row = points.row<T>(i);
            for (Index e = 0; e < row.count; ++e) {
                out.mean[row.column(e)] += weight(i) * static_cast<double>(row.values[e]);
                stored[row.column(e)] += weight(i);
            }
        }
        out.mean /= total;
        for (Index i = 0; i < points.rows(); ++i) {
            const SparseRow<T> row = points.row<T>(i);
            for (Index e = 0; e < row.count; ++e) {
                const double deviation = static_cast<double>(row.values[e]) - out.mean[row.column(e)];
                out.variance[row.column(e)] += weight(i) * deviation * deviation;
            }
        }
    };
    if (points.scalar() == ScalarType::float32)
        add(float());
    else
        add(double());
    for (Index p = 0; p < d; ++p)
        out.variance[p] = (out.variance[p] + std::max(0.0, total - stored[p]) * out.mean[p] * out.mean[p]) / total;
    return out;
}

SparsePoints unit_rows(const SparsePoints& points, int threads, std::vector<Index>& zero_rows) {
    const auto scale = [&]<class T>(T) {
        const auto values = points.values<T>();
        std::vector<T> scaled(values.begin(), values.end());
        const RowBlocks blocks{points.rows(), 4096};
        std::vector<std::vector<Index>> zero(at(blocks.count()));
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const SparseRow<T> row = points.row<T>(i);
                if (!scale_to_unit(row.values, row.count, scaled.data() + (row.values - values.data())))
                    zero[at(block)].push_back(i);
            }
        });
        zero_rows.clear();
        for (const auto& some : zero) zero_rows.insert(zero_rows.end(), some.begin(), some.end());
        return points.with_values(std::move(scaled));
    };
    return points.scalar() == ScalarType::float32 ? scale(float()) : scale(double());
}

}  // namespace coterie::internal
